// Decides whether a logo needs a ground of its own: a white one on white paper, or one in the banner's colour, is not seen.
import { contrast, parseColour } from '../document/colour.ts';
import type { InlineImage } from './fetch-image.ts';

/** Shapes are told from their ground at this contrast of WCAG 2; text in them would need more. */
const SEEN = 1.8;
/** Of what is painted; white letters inside a dark sign may be missing from it. */
const SEEN_SHARE = 0.75;

/**
 * @param ground what the logo stands on. @param others in the order in which they are tried, `#rrggbb` all of them.
 * @returns a colour to put behind it, undefined when it is seen without.
 */
export function logoGround(
  logo: InlineImage | undefined,
  ground: string,
  others: readonly string[],
): string | undefined {
  const paint = logo?.paint;
  if (!paint) return undefined;
  const seenOn = (colour: string) => {
    const behind = parseColour(colour);
    return paint.reduce((sum, { colour, share }) => sum + (contrast(colour, behind) >= SEEN ? share : 0), 0);
  };
  if (seenOn(ground) >= SEEN_SHARE) return undefined;
  const [best] = others.toSorted((one, other) => seenOn(other) - seenOn(one));
  return best !== undefined && seenOn(best) > seenOn(ground) ? best : undefined;
}

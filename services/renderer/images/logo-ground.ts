// Chooses a background for logos that would be invisible, such as a white one on paper or one in the banner's colour.
import { contrast, parseColour } from '#libs/documents/colour.ts';
import type { InlineImage } from './fetch-image.ts';

/** The contrast of WCAG 2 at which shapes are visible. Text needs more. */
const SEEN = 1.8;
/** The share of the painted pixels that must be visible. The rest may be white letters inside a dark sign. */
const SEEN_SHARE = 0.75;

/**
 * Returns a background for the logo, or undefined when it is visible without one.
 * @param ground the colour below the logo.
 * @param others backgrounds in order of preference, all `#rrggbb`.
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

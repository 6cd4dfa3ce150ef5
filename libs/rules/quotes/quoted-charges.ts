// The discount and the shipping of a quote as lines of its final invoice. Earlier parts had their share of both and are
// taken off there.

import { type DocumentCharges, discountLines, discountShares, shippingLine } from '../documents/document-charges.ts';
import type { LineItem, TextLine } from '../documents/line-item.ts';
import { lineTexts } from '../documents/line-texts.ts';
import { type QuoteTexts, writtenPercent } from './quote-parts.ts';

/** Returns a negative line for each tax rate with a discount, and one line for the shipping. */
export function quotedCharges(
  { line_items, ...charges }: DocumentCharges & { line_items: LineItem[] | null },
  { locale, ...terms }: QuoteTexts,
): TextLine[] {
  const texts = lineTexts(locale);
  const shares = discountShares(line_items ?? [], charges, terms).filter(({ amount }) => amount !== 0);
  const discounts = discountLines(shares, terms).map((line, index) => {
    const rate = writtenPercent(shares[index]?.rate ?? 0, locale);
    return { ...line, description: shares.length > 1 ? `${texts.discount} (${rate})` : texts.discount };
  });
  return [...discounts, ...shippingLine(charges, terms).map((line) => ({ ...line, description: texts.shipping }))];
}

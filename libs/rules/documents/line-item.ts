// A line of a quote or an invoice as it is stored and returned: numbers are plain decimal strings.
import { type Line, plainDecimal } from '../money/money.ts';
import type { TaxCategory } from '../taxes/tax-groups.ts';

export interface LineItem {
  description: string;
  qty: string;
  rate: string;
  /** A percentage, 0 to 100. */
  discount: string;
  /**
   * A percentage. Absent unless the caller sent it, and then the document's applies. The same holds for the next two
   * fields.
   */
  tax_rate?: number;
  tax_category?: TaxCategory;
  /** A unit, see units.ts. */
  unit?: string;
  /** On a credit note: the number of the credited line of the invoice, from 1. */
  line?: number;
}

/** The declaration of line items in a mongoose schema. */
export const lineItemField = {
  type: [
    {
      _id: false,
      description: String,
      qty: String,
      rate: String,
      discount: String,
      tax_rate: Number,
      tax_category: String,
      unit: String,
      line: Number,
    },
  ],
  default: undefined,
} as const;

/** The optional fields of a line, besides its four numbers and texts. */
export interface LineExtras {
  tax_rate?: number | undefined;
  tax_category?: TaxCategory | undefined;
  unit?: string | undefined;
  line?: number | undefined;
}

/** A line with its text, before it has its stored form. */
export type TextLine = Line & LineExtras & { description: string };

/** Returns a line in its stored form: plain decimals, without the fields that are absent. */
export function lineItem(line: TextLine): LineItem {
  const { tax_rate, tax_category, unit, line: credited } = line;
  return {
    description: line.description,
    qty: plainDecimal(line.qty),
    rate: plainDecimal(line.rate),
    discount: plainDecimal(line.discount),
    ...(tax_rate === undefined ? {} : { tax_rate }),
    ...(tax_category === undefined ? {} : { tax_category }),
    ...(unit === undefined ? {} : { unit }),
    ...(credited === undefined ? {} : { line: credited }),
  };
}

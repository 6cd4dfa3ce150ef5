// A line of a quote or an invoice as it is stored and returned: numbers are plain decimal strings.
import { type Line, plainDecimal } from '../../billing/money.ts';

export interface LineItem {
  description: string;
  qty: string;
  rate: string;
  /** Percentage, 0 to 100. */
  discount: string;
}

/** How line items are declared in a model. */
export const lineItemField = {
  type: [{ _id: false, description: String, qty: String, rate: String, discount: String }],
  default: undefined,
} as const;

export function lineItem(line: Line & { description: string }): LineItem {
  return {
    description: line.description,
    qty: plainDecimal(line.qty),
    rate: plainDecimal(line.rate),
    discount: plainDecimal(line.discount),
  };
}

// The lines of an invoice that bill expenses. The expenses themselves link to the invoice.
import { requiredIdField, type StoredId } from '../tenant.ts';

export interface InvoiceExpenses {
  /** True after more than texts of the lines was changed by hand. They no longer follow from the expenses. */
  is_edited: boolean;
  /** Each expense with its place among the line items, until these are changed by hand. */
  lines: { expense_id: StoredId; at: number }[];
}

/** The declaration of the field in a mongoose schema. */
export const invoiceExpensesField = {
  type: { _id: false, is_edited: Boolean, lines: [{ _id: false, expense_id: requiredIdField, at: Number }] },
  default: undefined,
} as const;

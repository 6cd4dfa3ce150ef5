// Which lines of an invoice bill expenses: the expenses themselves are linked to the invoice.
import { requiredIdField, type StoredId } from '../tenant.ts';

export interface InvoiceExpenses {
  /** The lines were changed by hand since: they no longer follow from the expenses. */
  is_edited: boolean;
  /** Each expense with its place among the line items, while these are as they were made. */
  lines: { expense_id: StoredId; at: number }[];
}

/** How it is declared in a model. */
export const invoiceExpensesField = {
  type: { _id: false, is_edited: Boolean, lines: [{ _id: false, expense_id: requiredIdField, at: Number }] },
  default: undefined,
} as const;

// What a change of an invoice makes of it: amounts are computed here, and states follow each other or are refused.
import { conflict } from '#libs/errors.ts';
import { INVOICE_MOVES, type InvoiceRecord, type InvoiceStatus } from '#libs/models/invoice.ts';
import type { LineItem } from '#libs/models/line-item.ts';
import { storedId } from '#libs/models/tenant.ts';
import { fromMinor, isAmount, sumOfLines, taxOf, toMinor } from '#libs/money.ts';
import { requireLineAmounts, storedLines } from '../http/money-input.ts';
import { fieldProblem } from '../http/read-input.ts';
import type { InvoiceChanges } from './input.ts';

export type InvoiceMoney = Pick<InvoiceRecord, 'currency' | 'amount' | 'tax_rate' | 'tax_amount' | 'line_items'>;

/** With lines the amount is their sum, whatever was sent. @throws AppError 400 when the sum is no amount or a line is too large. */
export function invoiceMoney(given: {
  currency: string;
  amount: number;
  tax_rate: number;
  line_items: LineItem[] | null;
}): InvoiceMoney {
  const { currency, tax_rate, line_items } = given;
  requireLineAmounts(line_items, currency);
  const amount = line_items ? sumOfLines(line_items, currency) : toMinor(given.amount, currency);
  if (!isAmount(amount)) {
    const field = line_items ? 'line_items' : 'amount';
    const problem = amount < 0 ? 'must not sum to less than 0' : `is too large in ${currency}`;
    throw fieldProblem(field, `${field} ${problem}`);
  }
  return { currency, tax_rate, line_items, amount, tax_amount: taxOf(amount, tax_rate) };
}

/** The fields that only a draft may change, as they will be. @throws AppError 409 when one differs and it is no draft. */
export function changedMoney(invoice: InvoiceRecord, changes: InvoiceChanges): Partial<InvoiceRecord> {
  const next: Partial<InvoiceRecord> = { project_id: changedProject(invoice, changes) };
  // What nobody touches is not judged anew: an older version may have taken more.
  if (['amount', 'currency', 'tax_rate', 'line_items'].some((name) => name in changes)) {
    const money = invoiceMoney({
      currency: changes.currency ?? invoice.currency,
      // Without lines the amount stays what it was, in the decimals of a new currency.
      amount: changes.amount ?? fromMinor(invoice.amount, invoice.currency),
      tax_rate: changes.tax_rate ?? invoice.tax_rate,
      line_items: changes.line_items === undefined ? invoice.line_items : storedLines(changes.line_items),
    });
    Object.assign(next, money);
  }
  if (invoice.status !== 'Draft') {
    const names = Object.keys(next) as (keyof typeof next)[];
    const changed = names.filter(
      (name) => name in changes && JSON.stringify(next[name]) !== JSON.stringify(invoice[name]),
    );
    if (changed.length > 0) throw conflict(`Cannot change ${changed.join(', ')} after the invoice was sent`);
    return {};
  }
  return next;
}

/** @param from the status as it is today. @throws AppError 409 when `to` may not follow it. */
export function requireMove(from: InvoiceStatus, to: InvoiceStatus): void {
  if (from !== to && !INVOICE_MOVES[from].includes(to)) throw conflict(`Cannot change status from ${from} to ${to}`);
}

function changedProject(invoice: InvoiceRecord, { project_id }: InvoiceChanges) {
  if (project_id === undefined) return invoice.project_id;
  return project_id === null ? null : storedId(project_id);
}

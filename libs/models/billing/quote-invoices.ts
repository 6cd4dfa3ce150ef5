// The invoices that bill quotes, in the form that quotes show.

import { sumBy } from 'es-toolkit/math/sumBy';
import type { Session } from '../../mongo/connection.ts';
import { leftToCredit, netOf, type Taxed, taxSumOf } from '../../rules/credits/credit-amounts.ts';
import { REVERSING } from '../../rules/credits/credit-reasons.ts';
import { fromMinor } from '../../rules/money/money.ts';
import type { DocumentTax } from '../../rules/taxes/document-taxes.ts';
import { groupSum } from '../../rules/taxes/tax-groups.ts';
import { driverOf } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { TOTAL } from './balance-expressions.ts';
import { CreditNote } from './credit-note.ts';
import { Invoice, type InvoiceRecord } from './invoice.ts';
import { printedNumber } from './number-ledger.ts';

export interface QuoteInvoice extends PartOfQuote {
  /** The sum of its credit notes that cancel or correct a part of it. Quotes count that part as never billed. */
  corrected?: Taxed | undefined;
}

type PartOfQuote = Pick<
  InvoiceRecord,
  | '_id'
  | 'number'
  | 'number_text'
  | 'quote_id'
  | 'quote_part'
  | 'currency'
  | 'amount'
  | 'tax_amount'
  | 'tax_rate'
  | 'tax_category'
  | 'taxes'
  | 'prices_include_tax'
  | 'total_credited'
  | 'status'
  | 'issue_date'
  | 'created_at'
>;

const SHOWN = {
  number: 1,
  number_text: 1,
  quote_id: 1,
  quote_part: 1,
  currency: 1,
  amount: 1,
  tax_amount: 1,
  tax_rate: 1,
  tax_category: 1,
  taxes: 1,
  prices_include_tax: 1,
  total_credited: 1,
  status: 1,
  issue_date: 1,
  created_at: 1,
} as const;

const SETTLED = { $add: [{ $ifNull: ['$amount_written_off', 0] }, { $ifNull: ['$amount_credited', 0] }] };

/**
 * The filter of invoices that are Cancelled because they were written off or credited without any payment. Their work
 * is given up, and not billed again. It excludes an invoice that a full credit cancels or corrects, see `is_reversed`.
 */
export const GIVEN_UP = {
  is_reversed: { $exists: false },
  $expr: { $and: [{ $gt: [SETTLED, 0] }, { $gte: [SETTLED, TOTAL] }] },
} as const;

/** The filter of invoices that count as parts of their quote, and whose time is billed. */
export const BILLED = {
  $or: [{ status: { $ne: 'Cancelled' }, is_reversed: { $exists: false } }, GIVEN_UP],
} as const;

/** Returns the invoices of each quote by its id, oldest first. Cancelled and reversed invoices are left out. */
export async function invoicesOfQuotes(
  quoteIds: readonly StoredId[],
  accountId: Id,
  session?: Session,
): Promise<Map<Id, QuoteInvoice[]>> {
  if (quoteIds.length === 0) return new Map();
  const found = (await driverOf(Invoice)
    .find(
      {
        account_id: storedId(accountId),
        quote_id: { $in: [...quoteIds] },
        ...BILLED,
      } as object,
      { projection: SHOWN, sort: { _id: 1 }, ...(session ? { session } : {}) },
    )
    .toArray()) as unknown as QuoteInvoice[];
  const corrections = await correctionsOf(found, accountId, session);
  const parts = found.map((one) => ({ ...one, corrected: corrections.get(String(one._id)) }));
  return Map.groupBy(parts, ({ quote_id }) => String(quote_id));
}

/** The corrections of an invoice at one of its tax rates. */
interface CorrectedGroup {
  _id: { invoice: StoredId; rate: number; category?: DocumentTax['category'] };
  taxable: number;
  tax: number;
}

/** The tax of a credit note that stores none, see taxesOf. */
const ONLY_TAX = {
  rate: '$tax_rate',
  category: { $cond: [{ $gt: ['$tax_rate', 0] }, 'S', null] },
  taxable: '$amount',
  tax: '$tax_amount',
};

/**
 * Returns the sum of the corrections of each invoice by its id. The database adds them up: an invoice can have any number
 * of credit notes.
 */
async function correctionsOf(invoices: readonly PartOfQuote[], accountId: Id, session?: Session) {
  const credited = invoices.filter(({ total_credited }) => total_credited);
  if (credited.length === 0) return new Map<Id, Taxed>();
  const ids = credited.map(({ _id }) => _id);
  const groups = await driverOf(CreditNote)
    .aggregate<CorrectedGroup>(
      [
        { $match: { account_id: storedId(accountId), invoice_id: { $in: ids }, reason: { $in: REVERSING } } },
        { $project: { invoice_id: 1, group: { $ifNull: ['$taxes', [ONLY_TAX]] } } },
        { $unwind: '$group' },
        {
          $group: {
            _id: { invoice: '$invoice_id', rate: '$group.rate', category: '$group.category' },
            taxable: { $sum: '$group.taxable' },
            tax: { $sum: '$group.tax' },
          },
        },
      ],
      session ? { session } : {},
    )
    .toArray();
  const byInvoice = Map.groupBy(groups, ({ _id }) => String(_id.invoice));
  return new Map(credited.map((one) => [String(one._id), correctedSum(one, byInvoice.get(String(one._id)) ?? [])]));
}

function correctedSum({ currency, tax_rate }: PartOfQuote, groups: readonly CorrectedGroup[]): Taxed {
  const taxes = groups.map(({ _id: { rate, category = null }, taxable, tax }) => ({ rate, category, taxable, tax }));
  return { currency, tax_rate, taxes, amount: netOf(taxes), tax_amount: taxSumOf(taxes) };
}

/**
 * Returns the taxes of a part less those that were cancelled or corrected. Work that was given up or brought back stays
 * billed.
 */
export function billedTaxes(part: QuoteInvoice): DocumentTax[] {
  return leftToCredit(part, part.corrected ? [part.corrected] : []);
}

/** Returns the billed part of the agreed sum. */
export function billedSum(part: QuoteInvoice): number {
  return sumBy(billedTaxes(part), (group) => groupSum(group, part));
}

/**
 * Returns an invoice in the form that quotes show. Its status is the one that was set: only the invoice itself shows if
 * it is overdue.
 */
export function quoteInvoiceView(invoice: QuoteInvoice) {
  return {
    id: String(invoice._id),
    invoice_number: invoice.number === 0 ? null : printedNumber('invoice', invoice),
    part: invoice.quote_part ?? 'full',
    amount: fromMinor(invoice.amount, invoice.currency),
    corrected: fromMinor(invoice.corrected?.amount ?? 0, invoice.currency),
    status: invoice.status,
  };
}

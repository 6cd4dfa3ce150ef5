// The content of a credit note: the amounts, lines and charges that it takes off its invoice.

import { CreditNote, type CreditNoteRecord } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { readWithin } from '../../models/read-within.ts';
import { driverOf, type Owned } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { creditGroups, leftToCredit, netOf, type Taxed, taxSumOf } from '../../rules/credits/credit-amounts.ts';
import type { CreditReason, CreditSettlement } from '../../rules/credits/credit-reasons.ts';
import { type CreditedCharges, creditedCharges } from '../../rules/credits/credited-charges.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import { totalOf } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import type { Decimal } from '../../rules/money/money.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type ChargedLines, creditLines } from './credit-lines.ts';
import type { CreditedWork } from './named-work.ts';

export interface RefundDetails {
  date?: string | undefined;
  method?: PaymentMethod | undefined;
  reference?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface NewCreditNote {
  reason: CreditReason;
  description?: string | null | undefined;
  /** The amount in major units, before tax. If there is neither an amount nor lines, all that is left is credited. */
  amount?: Decimal | undefined;
  line_items?: LineItem[] | null | undefined;
  /** The shipping in major units, with tax where prices include it. */
  shipping_amount?: Decimal | null | undefined;
  settle: CreditSettlement;
  refund?: RefundDetails | null | undefined;
  /** Work on the invoice that is credited. It replaces lines. */
  time_entry_ids?: readonly Id[] | undefined;
  expense_ids?: readonly Id[] | undefined;
  /**
   * True when the invoice is cancelled with it. Its time and its quote can then be billed again, whatever was credited
   * before.
   */
  isCancelling?: boolean;
}

const EARLIER_FIELDS = [
  'amount',
  'tax_amount',
  'tax_rate',
  'taxes',
  'currency',
  'reason',
  'line_items',
  'discounts',
  'shipping_amount',
  'time_entry_ids',
  'expense_ids',
  'hours_returned',
] as const satisfies readonly (keyof CreditNoteRecord)[];

/** The fields of earlier credit notes that a new one depends on. */
export type Earlier = Pick<CreditNoteRecord, (typeof EARLIER_FIELDS)[number]>;

/** The credit notes of one response of the database, which is decoded in one turn of the event loop. */
const BATCH = 20;

/**
 * Returns the credit notes of an invoice, with the fields that a new one depends on. Their lines have no texts.
 * @throws AppError 409 when they are too large together. An invoice can have any number of them.
 */
export async function creditNotesOf({ accountId, session }: UnitOfWork, invoice_id: StoredId): Promise<Earlier[]> {
  const of = { account_id: storedId(accountId), invoice_id } as object;
  const projection = Object.fromEntries(
    EARLIER_FIELDS.flatMap((name) => (name === 'line_items' ? LINE_FIELDS : [name])).map((name) => [name, 1]),
  );
  const found = driverOf(CreditNote).find(of, { session, projection, batchSize: BATCH });
  return readWithin<Earlier & Owned>(found, 'credit notes');
}

/** The fields of lines that tell which of the invoice's they credit, and by how much. */
const LINE_FIELDS = ['qty', 'rate', 'discount', 'line'].map((name) => `line_items.${name}`);

/** True when something was credited. An invoice of 0 is credited when it is reversed. */
function wasCredited({ total_credited, is_reversed }: InvoiceRecord): boolean {
  return is_reversed === true || (total_credited ?? 0) > 0;
}

/** Computes amounts and lines. A credit over a whole invoice has the invoice's own. */
export function creditOf(
  invoice: InvoiceRecord,
  earlier: readonly Earlier[],
  {
    given,
    charged,
    work,
    locale,
  }: {
    given: NewCreditNote;
    charged: ChargedLines | undefined;
    work: CreditedWork | undefined;
    locale: string;
  },
) {
  const { currency, tax_rate, tax_category, prices_include_tax } = invoice;
  const before = earlier.flatMap((note) => note.line_items ?? []);
  const lines = work?.line_items ?? given.line_items;
  const line_items = lines ? creditLines(invoice, before, { lines, locale, charged }) : null;
  const amount = given.amount === undefined ? undefined : exactMinor(given.amount, currency);
  const shipping = shippingOf(given, currency);
  const left = leftToCredit(invoice, earlier);
  const number = printedNumber('invoice', invoice);
  const isFirst = !wasCredited(invoice);
  const isByLine = line_items !== null || shipping !== undefined;
  const charges = isByLine ? creditedCharges(invoice, earlier, { line_items, shipping, number }) : undefined;
  const wanted = { amount, line_items: charges?.lines, mayBeNothing: work !== undefined };
  const groups = creditGroups(left, wanted, { terms: invoice, number, isFirst });
  const money = {
    currency,
    tax_rate,
    tax_category,
    prices_include_tax,
    amount: netOf(groups),
    tax_amount: taxSumOf(groups),
    ...(invoice.taxes ? { taxes: groups } : {}),
  };
  const rounding_amount = creditedRounding(invoice, [...earlier, money], netOf(groups) + taxSumOf(groups));
  const isWhole = !isByLine && isFirst && money.amount === invoice.amount;
  const content = {
    description: given.description || (isWhole && !invoice.line_items ? invoice.description : null),
    line_items: isWhole ? invoice.line_items : line_items,
    ...(isWhole ? invoiceCharges(invoice) : charges && noteCharges(charges)),
  };
  return { money: { ...money, rounding_amount }, content };
}

/**
 * Returns the part of the rounding that a credit note takes.
 * - The last one takes all that is left.
 * - Where the total was rounded down, one before it takes only so much that the invoice stays open. An invoice with
 *   nothing due could not be credited with what is left of its lines.
 */
function creditedRounding(invoice: InvoiceRecord, credited: readonly Taxed[], total: number): number | undefined {
  if (!invoice.rounding_amount) return undefined;
  const left = totalOf(invoice) - (invoice.total_credited ?? 0);
  const isLast = leftToCredit(invoice, credited).every(({ taxable, tax }) => taxable === 0 && tax === 0);
  return (isLast ? left : Math.min(total, Math.max(0, left - 1))) - total || undefined;
}

/** Returns the shipping in smallest units. @throws AppError 400 for more decimals than the currency has. */
function shippingOf({ shipping_amount }: NewCreditNote, currency: string): number | undefined {
  if (shipping_amount === undefined || shipping_amount === null) return undefined;
  return exactMinor(shipping_amount, currency, undefined, 'shipping_amount') || undefined;
}

function invoiceCharges({ discount_amount, shipping_amount }: InvoiceRecord) {
  return { discount_amount, shipping_amount };
}

function noteCharges({ discounts, shipping_amount }: CreditedCharges) {
  const discount = (discounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  return { discounts, shipping_amount, discount_amount: discount === 0 ? undefined : discount };
}

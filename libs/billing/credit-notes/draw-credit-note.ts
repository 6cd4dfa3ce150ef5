// Draws a credit note over an issued invoice: it takes off what is due, and what was paid becomes credit of the client or goes back.
import { dayIn } from '../../day.ts';
import { conflict, notFound } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import type { CreditRefund } from '../../models/billing/allocation.ts';
import { CreditNote, type CreditNoteRecord, creditNoteView } from '../../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import type { Parties } from '../../models/billing/parties.ts';
import { driverOf, findOwn, insertOwn } from '../../models/records.ts';
import { type Id, newId, newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import { creditGroups, leftToCredit, netOf, taxSumOf } from '../../rules/credits/credit-amounts.ts';
import { type CreditReason, REVERSING, type Settlement } from '../../rules/credits/credit-reasons.ts';
import { type CreditedCharges, creditedCharges } from '../../rules/credits/credited-charges.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import { sequenceOf } from '../../rules/documents/number-format.ts';
import { dueOf, totalOf } from '../../rules/money/balance.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import type { Decimal } from '../../rules/money/money.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import { issueDateOf } from '../documents/issue-document.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import { creditAllocation } from '../payments/allocations.ts';
import { dayOf } from '../payments/book-payment.ts';
import { withExternalId } from '../payments/known-refund.ts';
import { announceMoved, type Moved, moveBalance } from '../payments/settle-invoices.ts';
import { correctedPart, correctFixedPart } from '../quotes/fixed-amount.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { NOTHING_BILLED, releaseBilled } from '../work/release-billed.ts';
import { creditLines } from './credit-lines.ts';

export interface RefundDetails {
  date?: string | undefined;
  method?: PaymentMethod | undefined;
  reference?: string | null | undefined;
  external_id?: string | null | undefined;
}

export interface NewCreditNote {
  reason: CreditReason;
  description?: string | null | undefined;
  /** In major units, before tax. All that is left when there are no lines either. */
  amount?: Decimal | undefined;
  line_items?: LineItem[] | null | undefined;
  /** In major units, as prices are. */
  shipping_amount?: Decimal | null | undefined;
  settle: Settlement;
  refund?: RefundDetails | null | undefined;
  /** The invoice is cancelled with it, so that its time and its quote can be billed again whatever was credited before. */
  isCancelling?: boolean;
}

export interface DrawnCreditNote {
  note: CreditNoteRecord;
  moved: Moved;
  account: AccountRecord;
}

/** @throws AppError 404 for an invoice that is not the account's, 409 when it cannot be credited or less is left of it, 400, 422. */
export async function drawCreditNote(unit: UnitOfWork, id: Id, given: NewCreditNote): Promise<DrawnCreditNote> {
  const { session, accountId } = unit;
  const base = newRecord(accountId);
  const account = await readAccount(accountId); // Outside of the transaction, whose first step is to draw.
  const day = dayIn(account.time_zone);
  const drawn = await unit.drawNumber('credit_note', base._id, { formats: account.number_formats, day });
  const invoice = await findOwn(Invoice, accountId, id, session);
  if (!invoice) throw notFound('Invoice', 'or access denied');
  requireCreditable(invoice, given.reason);
  const earlier = wasCredited(invoice) ? await creditNotesOf(unit, invoice._id) : [];
  const { money, content } = creditOf(invoice, earlier, { given, locale: account.locale });
  requirePrintableContent(content);
  const total = totalOf(money);
  const applied = Math.min(total, dueOf(invoice) + (invoice.amount_written_off ?? 0));
  const rest = total - applied;
  const sequence = sequenceOf('credit_note', drawn.number_period ?? '');
  const issued_on = (await issueDateOf(undefined, { session, accountId, account, sequence, isIssued: true })) ?? day;
  const back = { ...given.refund, earliest: issued_on, field: 'refund.date' };
  const refunds = given.settle === 'refund' && rest > 0 ? [refundOf(rest, account, back)] : [];
  const note: CreditNoteRecord = {
    ...base,
    ...drawn,
    client_id: invoice.client_id,
    invoice_id: invoice._id,
    invoice_number: printedNumber('invoice', invoice),
    invoice_issued_on: invoice.issue_date ?? dayIn(account.time_zone, invoice.created_at),
    ...money,
    ...content,
    reason: given.reason,
    settle: given.settle,
    applied_at_issue: applied,
    unallocated: refunds.length > 0 ? 0 : rest,
    allocations: applied > 0 ? [creditAllocation({ invoice, amount: applied }, day)] : [],
    refunds,
    // Also when there is nothing to refund: a repeat must find this credit note.
    refund_external_ids: given.settle === 'refund' ? withExternalId(undefined, given.refund?.external_id) : undefined,
    issued_on,
    parties: invoice.parties as Parties, // Frozen when the invoice was issued.
  };
  await insertOwn(CreditNote, note, session);
  const reversed = isReversedBy(invoice, earlier, { ...given, total }) ? NOTHING_BILLED : undefined;
  const corrected = reversed ? undefined : correctedPart(invoice, [...earlier, note]);
  const moved = await moveBalance(unit, invoice, { paid: 0, day, credited: { total, applied, reversed, corrected } });
  return { note, moved, account };
}

export async function announceCredited(unit: UnitOfWork, { note, moved, account }: DrawnCreditNote): Promise<void> {
  const view = creditNoteView(note);
  await unit.announce('credit_note.issued', view);
  if (note.refunds.length > 0) await unit.announce('credit_note.refunded', view);
  await announceMoved(unit, [moved], account.time_zone);
  if (moved.after.is_reversed) await releaseBilled(unit, moved.before);
  else await correctFixedPart(unit, moved.before, moved.after);
}

/** @param earliest the day of the credit note. @throws AppError 400 for a day to come, and for one before the credit note. */
export function refundOf(
  amount: number,
  account: AccountRecord,
  given: RefundDetails & { earliest: string; field?: string },
): CreditRefund {
  return {
    _id: storedId(newId()),
    amount,
    date: dayOf(given.date, account, given),
    method: given.method ?? 'other',
    reference: given.reference || null,
    external_id: given.external_id || undefined,
  };
}

/** True when credit notes have left something of an issued invoice. */
export function isCreditable(invoice: InvoiceRecord): boolean {
  return totalOf(invoice) > (invoice.total_credited ?? 0);
}

/** An invoice of nothing is credited once, and reversed with it. */
function wasCredited({ total_credited, is_reversed }: InvoiceRecord): boolean {
  return is_reversed === true || (total_credited ?? 0) > 0;
}

function requireCreditable(invoice: InvoiceRecord, reason: CreditReason): void {
  const { status } = invoice;
  if (status === 'Draft') throw conflict('Cannot credit a draft');
  if (status === 'Cancelled') throw conflict('Cannot credit a cancelled invoice');
  if (totalOf(invoice) === 0 && !REVERSING.includes(reason)) {
    throw conflict(`${printedNumber('invoice', invoice)} is worth nothing: it can only be cancelled or corrected`);
  }
}

type Earlier = Pick<
  CreditNoteRecord,
  | 'amount'
  | 'tax_amount'
  | 'tax_rate'
  | 'taxes'
  | 'currency'
  | 'reason'
  | 'line_items'
  | 'discounts'
  | 'shipping_amount'
>;

async function creditNotesOf({ accountId, session }: UnitOfWork, invoice_id: StoredId): Promise<Earlier[]> {
  const of = { account_id: storedId(accountId), invoice_id } as object;
  const names = [
    'amount',
    'tax_amount',
    'tax_rate',
    'taxes',
    'currency',
    'reason',
    'line_items',
    'discounts',
    'shipping_amount',
  ];
  const projection = Object.fromEntries(names.map((name) => [name, 1]));
  return (await driverOf(CreditNote).find(of, { session, projection }).toArray()) as unknown as Earlier[];
}

/** Amounts and lines. A credit over a whole invoice shows what the invoice shows. */
function creditOf(
  invoice: InvoiceRecord,
  earlier: readonly Earlier[],
  { given, locale }: { given: NewCreditNote; locale: string },
) {
  const { currency, tax_rate, tax_category, prices_include_tax } = invoice;
  const before = earlier.flatMap((note) => note.line_items ?? []);
  const line_items = given.line_items ? creditLines(invoice, before, { lines: given.line_items, locale }) : null;
  const amount = given.amount === undefined ? undefined : exactMinor(given.amount, currency);
  const shipping = shippingOf(given, currency);
  const left = leftToCredit(invoice, earlier);
  const number = printedNumber('invoice', invoice);
  const isFirst = earlier.length === 0;
  const isByLine = line_items !== null || shipping !== undefined;
  const charged = isByLine ? creditedCharges(invoice, earlier, { line_items, shipping, number }) : undefined;
  const groups = creditGroups(left, { amount, line_items: charged?.lines }, { terms: invoice, number, isFirst });
  const money = {
    currency,
    tax_rate,
    tax_category,
    prices_include_tax,
    amount: netOf(groups),
    tax_amount: taxSumOf(groups),
    ...(invoice.taxes ? { taxes: groups } : {}),
  };
  const isWhole = !isByLine && isFirst && money.amount === invoice.amount;
  const content = {
    description: given.description || (isWhole && !invoice.line_items ? invoice.description : null),
    line_items: isWhole ? invoice.line_items : line_items,
    ...(isWhole ? invoiceCharges(invoice) : charged && noteCharges(charged)),
  };
  return { money, content };
}

/** @throws AppError 400 for more decimals than the currency has. */
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

/** All of the invoice is credited, and each of its credit notes cancels or corrects it. */
function isReversedBy(
  invoice: InvoiceRecord,
  earlier: readonly Earlier[],
  { reason, total, isCancelling }: NewCreditNote & { total: number },
): boolean {
  if ((invoice.total_credited ?? 0) + total < totalOf(invoice)) return false;
  return isCancelling === true || [reason, ...earlier.map((one) => one.reason)].every((one) => REVERSING.includes(one));
}

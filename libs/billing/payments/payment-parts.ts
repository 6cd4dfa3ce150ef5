// The parts of a payment: the amounts that it puts on invoices.
import { sumBy } from 'es-toolkit/math/sumBy';
import { appError, fieldProblem } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { type Allocation, type PaymentRecord, recordedView } from '../../models/billing/payment.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { dueOf, writtenAmount } from '../../rules/money/balance.ts';
import { discountOn, EARLY_PAYMENT } from '../../rules/money/early-payment.ts';
import { exactMinor } from '../../rules/money/exact-amount.ts';
import { type Decimal, minorWithin } from '../../rules/money/money.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { findInvoices, oldestDue } from './payable-invoices.ts';
import { announceMoved, hasRoomForWriteOff, type Moved, moveBalance } from './settle-invoices.ts';

/**
 * The invoices that a payment pays: the due ones, oldest first; a single one, with more than is due kept as credit; or
 * exactly these.
 */
export type Pays = 'oldest' | { invoice_id: Id } | readonly NamedPart[];

export interface NamedPart {
  invoice_id: Id;
  /** The amount in major units. Defaults to what is due, as far as the payment reaches. */
  amount?: Decimal | undefined;
}

/** An invoice and the amount that a payment pays of it. */
export interface PaymentPart {
  invoice: InvoiceRecord;
  amount: number;
}

/** The most allocations. A payment is read and written as a whole, and so is a credit note. */
export const ALLOCATIONS_MAX = 500;

/** Returns the amount to allocate to a named invoice. @throws AppError 409 when that is more than is due. */
export function partOf(invoice: InvoiceRecord, wanted: Decimal | undefined, left: number): PaymentPart {
  const due = dueOf(invoice);
  const number = printedNumber('invoice', invoice);
  if (wanted === undefined) {
    if (due === 0) throw appError('invoice_nothing_due', { number });
    return { invoice, amount: Math.min(due, left) };
  }
  const { currency } = invoice;
  const amount = exactMinor(wanted, currency);
  if (amount <= due) return { invoice, amount };
  const [sum, rest] = [writtenAmount(amount, currency), writtenAmount(due, currency)];
  throw appError('allocation_exceeds_due', { amount: sum, number, due: rest });
}

/**
 * Returns the parts of a payment.
 * @param amount in the smallest unit.
 * @throws AppError 400 or 409 for parts that are too large.
 */
export async function partsOf(
  unit: UnitOfWork,
  {
    pays,
    named,
    amount,
    currency,
    client_id,
    paidOn,
  }: {
    pays: Pays;
    named: readonly InvoiceRecord[];
    amount: number;
    currency: string;
    client_id: StoredId;
    /** The day on which the money came. */
    paidOn: string;
  },
): Promise<PaymentPart[]> {
  if (pays === 'oldest') {
    const parts = await oldestDue(unit, { client_id, currency, amount, most: ALLOCATIONS_MAX });
    return withDiscounts(parts, paidOn);
  }
  if ('invoice_id' in pays) {
    return named.flatMap((invoice) => {
      const part = Math.min(dueOf(invoice), amount);
      return part > 0 ? { invoice, amount: part } : [];
    });
  }
  let left = amount;
  const parts = pays.map(({ amount: wanted }, index) => {
    const part = partOf(named[index] as InvoiceRecord, wanted, left);
    left -= part.amount;
    return part;
  });
  const isTooMuch = left < 0 || parts.some((part) => part.amount <= 0);
  if (isTooMuch) throw fieldProblem('allocations', 'exceeds_amount');
  return parts;
}

/**
 * Spreads what is missing of the last part over the discounts for early payment of all parts, the last first: a client
 * who pays two invoices at once takes off the discounts of both. The parts stay as they are when that is not enough.
 */
function withDiscounts(parts: readonly PaymentPart[], paidOn: string): PaymentPart[] {
  const last = parts.at(-1);
  const missing = last ? dueOf(last.invoice) - last.amount : 0;
  // Something of each invoice is paid: an allocation of nothing is none.
  const discounts = parts.map(({ invoice }) =>
    hasRoomForWriteOff(invoice) ? Math.min(discountOn(invoice, paidOn), dueOf(invoice) - 1) : 0,
  );
  if (missing === 0 || missing > discounts.reduce((sum, one) => sum + one, 0)) return [...parts];
  let left = missing;
  return parts
    .map((part, index) => ({ part, discount: discounts[index] ?? 0 }))
    .toReversed()
    .map(({ part: { invoice }, discount }) => {
      const taken = Math.min(left, discount);
      left -= taken;
      return { invoice, amount: dueOf(invoice) - taken };
    })
    .toReversed();
}

/** Returns the invoices of the parts, in their order. */
export async function namedInvoices(unit: UnitOfWork, pays: Pays): Promise<InvoiceRecord[]> {
  if (pays === 'oldest') return [];
  return findInvoices(unit, 'invoice_id' in pays ? [pays.invoice_id] : pays.map(({ invoice_id }) => invoice_id));
}

/**
 * Adds the parts to the paid amounts of their invoices, in the order of ids. A rest within the discount for early payment
 * and the account's tolerance is written off.
 */
export async function payInvoices(
  unit: UnitOfWork,
  {
    parts,
    account,
    source,
    paidOn,
    day,
  }: {
    parts: readonly PaymentPart[];
    account: AccountRecord;
    /** The payment or the credit note. */
    source: { _id: StoredId; currency: string };
    /** The day on which the money came. Credit of a credit note has none, and earns no discount. */
    paidOn?: string;
    day: string;
  },
): Promise<Moved[]> {
  const { currency } = source;
  const tolerance = minorWithin(account.settle_tolerance ?? 0, currency);
  const moved: Moved[] = [];
  for (const { invoice, amount } of parts.toSorted(byInvoice)) {
    const rest = dueOf(invoice) - amount;
    const discount = paidOn === undefined ? 0 : Math.min(rest, discountOn(invoice, paidOn));
    const isGivenUp = rest <= discount + tolerance && hasRoomForWriteOff(invoice);
    const writtenOff = [
      { amount: discount, reason: EARLY_PAYMENT },
      { amount: rest - discount, reason: 'settle_tolerance' },
    ].filter((one) => isGivenUp && one.amount > 0);
    const movement = { paid: amount, day, writtenOff: writtenOff.map((one) => ({ ...one, payment_id: source._id })) };
    moved.push(await moveBalance(unit, invoice, movement));
  }
  return moved;
}

/** Announces the allocations of a payment, and then the invoices that they changed. */
export async function announceAllocated(
  unit: UnitOfWork,
  {
    payment,
    allocations,
    moved,
    account,
  }: { payment: PaymentRecord; allocations: readonly Allocation[]; moved: readonly Moved[]; account: AccountRecord },
): Promise<void> {
  await unit.announceAll(
    'payment.recorded',
    allocations.map((part) => recordedView(payment, part)),
  );
  await announceMoved(unit, moved, account.time_zone);
}

/** Returns the sum of the parts in the smallest unit. */
export function sumOf(parts: readonly PaymentPart[]): number {
  return sumBy(parts, ({ amount }) => amount);
}

function byInvoice(one: PaymentPart, other: PaymentPart): number {
  return String(one.invoice._id) < String(other.invoice._id) ? -1 : 1;
}

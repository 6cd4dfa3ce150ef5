// Changes what is paid, credited or written off of invoices. Every change of a balance comes here, and the status
// follows it.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../../day.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceMarks, invoiceView, type WriteOff } from '../../models/billing/invoice.ts';
import { changeOwn } from '../../models/records.ts';
import { newId, type StoredId, storedId } from '../../models/tenant.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import { effectiveInvoiceStatus } from '../../rules/documents/invoice-states.ts';
import { dueOf, settledStatus, totalOf } from '../../rules/money/balance.ts';
import { discountKept, discountTaken, isDiscount } from '../../rules/money/early-payment.ts';
import { endMail } from '../messages/end-mail.ts';
import { announceQuotes } from '../quotes/announce-quotes.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { paidOn } from './paid-on.ts';

export interface Movement {
  /** The paid amount in the smallest unit. Negative when it goes back. */
  paid: number;
  /** `YYYY-MM-DD`. */
  day: string;
  /** The effect of a credit note of the invoice. */
  credited?: Credited;
  /** The amount that is written off. */
  writtenOff?: readonly { amount: number; reason: string; payment_id?: StoredId }[];
  /** The payment whose write-off is reversed with it. */
  reversed?: StoredId;
  /** The write-offs that are reversed. */
  takenBack?: readonly WriteOff[];
}

interface Credited {
  /** The sum of the credit note when it is issued. 0 when more of it is put on its invoice later. */
  total: number;
  /** The amount that it takes off: first what is due, then what was written off. */
  applied: number;
  /** The fields that the invoice loses when its work can be billed again. */
  reversed?: Partial<InvoiceRecord> | undefined;
  /**
   * The fields that change when only a part is freed: the corrected part of a fixed amount, and the work that was
   * released.
   */
  corrected?: Partial<Pick<InvoiceRecord, 'fixed_part' | 'time' | 'expenses'>> | undefined;
}

export interface Moved {
  before: InvoiceRecord;
  after: InvoiceRecord;
}

/** The most write-offs. An invoice is read and written as a whole. */
export const WRITE_OFFS_MAX = 100;

export function hasRoomForWriteOff({ write_offs = [] }: Pick<InvoiceRecord, 'write_offs'>): boolean {
  return write_offs.length < WRITE_OFFS_MAX;
}

/**
 * Writes the changed balance of an invoice.
 * @throws Error when it would be overpaid, which the caller has to check before.
 */
export async function moveBalance(unit: UnitOfWork, invoice: InvoiceRecord, movement: Movement): Promise<Moved> {
  const write_offs = writeOffsAfter(invoice, movement);
  const balance = {
    amount_paid: invoice.amount_paid + movement.paid,
    amount_written_off: sumOf(write_offs),
    ...creditedAfter(invoice, movement),
    ...(write_offs.length > 0 ? { write_offs } : {}),
  };
  const next = { ...invoice, ...balance };
  const id = String(invoice._id);
  if (balance.amount_paid < 0 || dueOf(next) < 0) throw new Error(`invoice ${id} would be overpaid`);
  if ((next.total_credited ?? 0) > totalOf(next)) throw new Error(`invoice ${id} would be overcredited`);
  const status = settledStatus(next);
  const changes: Partial<InvoiceRecord> = { ...balance, status };
  if (status !== invoice.status) {
    changes.paid_on = status === 'Paid' ? await paidOn(unit, next) : undefined;
    changes.cancelled_on = status === 'Cancelled' ? movement.day : undefined;
    Object.assign(changes, invoiceMarks({ ...next, status }));
    Object.assign(changes, await endMail(unit, 'invoice', { ...invoice, ...changes }));
  }
  return { before: invoice, after: await changeOwn(Invoice, invoice, changes, unit.session) };
}

/** Announces the changed invoices, one event each, type by type, and their quotes. */
export async function announceMoved(unit: UnitOfWork, moved: readonly Moved[], timeZone: string): Promise<void> {
  const today = dayIn(timeZone);
  const embedded = await embeddedIn(
    moved.map(({ after }) => after),
    unit.accountId,
    unit.session,
  );
  for (const [type, ones] of Map.groupBy(moved, eventOf)) {
    const views = ones.map(({ after }) =>
      invoiceView(after, { ...embedded(after), status: effectiveInvoiceStatus(after, today) }),
    );
    await unit.announceAll(type, views);
  }
  await announceQuotes(unit, moved);
}

function eventOf({ before, after }: Moved): EventType {
  if (after.status !== before.status) {
    if (after.status === 'Paid') return 'invoice.paid';
    return after.status === 'Cancelled' ? 'invoice.cancelled' : 'invoice.reopened';
  }
  if (after.amount_paid > before.amount_paid) return 'invoice.partially_paid';
  const isWrittenOff = (after.amount_written_off ?? 0) > (before.amount_written_off ?? 0);
  return isWrittenOff ? 'invoice.written_off' : 'invoice.updated';
}

function creditedAfter(invoice: InvoiceRecord, { credited }: Movement): Partial<InvoiceRecord> {
  if (!credited) return {};
  return {
    amount_credited: (invoice.amount_credited ?? 0) + credited.applied,
    total_credited: (invoice.total_credited ?? 0) + credited.total,
    ...credited.corrected,
    ...(credited.reversed ? { ...credited.reversed, is_reversed: true as const } : {}),
  };
}

function writeOffsAfter(invoice: InvoiceRecord, movement: Movement): WriteOff[] {
  const { paid, writtenOff = [], reversed, takenBack, credited, day } = movement;
  const kept = (invoice.write_offs ?? []).map((one) => {
    // A discount stands as long as nothing is due again.
    const isLost = (paid < 0 || takenBack !== undefined) && isDiscount(one);
    const isReversed = isLost || takenBack?.includes(one) || (reversed && one.payment_id?.equals(reversed));
    return isReversed && !one.reversed_on ? { ...one, reversed_on: day } : one;
  });
  if (writtenOff.length > 0)
    return [...kept, ...writtenOff.map((one) => ({ _id: storedId(newId()), date: day, ...one }))];
  return credited ? withoutCredited(kept, { invoice, credited, day }) : kept;
}

/**
 * Returns the write-offs after a credit: its share of a discount for early payment is reversed first, then other write-offs, the latest
 * first. The rest of one that is reversed in part becomes a new one.
 */
function withoutCredited(
  write_offs: readonly WriteOff[],
  { invoice, credited, day }: { invoice: InvoiceRecord; credited: Credited; day: string },
): WriteOff[] {
  const reversed = Math.max(0, credited.applied - dueOf(invoice));
  const ofDiscount = Math.min(reversed, discountTaken(invoice) - discountKept(invoice, credited.total));
  const left = { discount: ofDiscount, other: reversed - ofDiscount };
  const rests: WriteOff[] = [];
  const kept = write_offs.toReversed().map((one) => {
    const kind = isDiscount(one) ? 'discount' : 'other';
    if (one.reversed_on || left[kind] <= 0) return one;
    const rest = one.amount - left[kind];
    left[kind] -= one.amount;
    if (rest > 0) rests.push({ ...one, _id: storedId(newId()), amount: rest, date: day });
    return { ...one, reversed_on: day };
  });
  return [...kept.toReversed(), ...rests];
}

function sumOf(write_offs: readonly WriteOff[]): number {
  return sumBy(write_offs, ({ amount, reversed_on }) => (reversed_on ? 0 : amount));
}

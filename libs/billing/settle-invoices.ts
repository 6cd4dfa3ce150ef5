// Changes what is paid or written off of invoices: every change of a balance goes through here, and the status follows it.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../day.ts';
import { embeddedIn } from '../models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceExpiry, invoiceView, type WriteOff } from '../models/billing/invoice.ts';
import { changeOwn } from '../models/records.ts';
import { newId, type StoredId, storedId } from '../models/tenant.ts';
import type { EventType } from '../models/webhooks/event-types.ts';
import { dueOf, settledStatus } from './balance.ts';
import { effectiveInvoiceStatus } from './invoice-states.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface Movement {
  /** Smallest units that arrived; negative when they left. */
  paid: number;
  /** `YYYY-MM-DD`. */
  day: string;
  /** What is given up. */
  writtenOff?: { amount: number; reason: string; payment_id?: StoredId };
  /** The write-off that came with this payment is taken back. */
  reversed?: StoredId;
}

export interface Moved {
  before: InvoiceRecord;
  after: InvoiceRecord;
}

/** Writes an invoice whose balance was relied on. @throws Error when the invoice would be overpaid: a caller has to check before. */
export async function moveBalance(unit: UnitOfWork, invoice: InvoiceRecord, movement: Movement): Promise<Moved> {
  const write_offs = writeOffsAfter(invoice, movement);
  const balance = {
    amount_paid: invoice.amount_paid + movement.paid,
    amount_written_off: sumOf(write_offs),
  };
  const next = { ...invoice, ...balance };
  if (balance.amount_paid < 0 || dueOf(next) < 0) throw new Error(`invoice ${String(invoice._id)} would be overpaid`);
  const status = settledStatus(next);
  const changes: Partial<InvoiceRecord> = { ...balance, status, paid_on: status === 'Paid' ? movement.day : undefined };
  if (write_offs.length > 0) changes.write_offs = write_offs;
  if (status !== invoice.status) Object.assign(changes, invoiceExpiry({ ...next, status }));
  return { before: invoice, after: await changeOwn(Invoice, invoice, changes, unit.session) };
}

/** Tells what became of each invoice: one event each, and of one type together. */
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

function writeOffsAfter(invoice: InvoiceRecord, { writtenOff, reversed, day }: Movement): WriteOff[] {
  const kept = (invoice.write_offs ?? []).map((one) =>
    reversed && one.payment_id?.equals(reversed) && !one.reversed_on ? { ...one, reversed_on: day } : one,
  );
  return writtenOff ? [...kept, { _id: storedId(newId()), date: day, ...writtenOff }] : kept;
}

function sumOf(write_offs: readonly WriteOff[]): number {
  return sumBy(write_offs, ({ amount, reversed_on }) => (reversed_on ? 0 : amount));
}

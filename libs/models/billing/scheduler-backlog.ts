// The backlog of the scheduler: documents whose last day has passed without an event, promises whose day has passed,
// recurring invoices that were not made, and invoices that were not looked at for reminders.
import { agreedDate } from '../../clock.ts';
import { addDays, dayIn, EARLIEST_ZONE, startOfDay } from '../../day.ts';
import { firstDue } from '../accounts/due-in-zone.ts';
import { PaymentPromise } from '../answers/promise.ts';
import { acrossAccounts, type StoredId } from '../tenant.ts';
import { Invoice, type InvoiceRecord } from './invoice.ts';
import { Quote } from './quote.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from './recurring-invoice.ts';

export interface SchedulerBacklog {
  /** The number of events and invoices that are due, counted up to DUE_COUNTED_MAX. */
  due: number;
  /** The time since the oldest of them became due. 0 when none is. */
  oldestMs: number;
}

export const DUE_COUNTED_MAX = 1_000;

interface Due {
  zone: string;
  /** The day on which the record is due, `YYYY-MM-DD`. */
  due_on: string;
}

/** Reads the backlog over all accounts, as the scheduler does. */
export async function readSchedulerBacklog(now: Date = agreedDate()): Promise<SchedulerBacklog> {
  const read = await Promise.all([
    ...[Invoice, Quote, PaymentPromise].map((model) => expiring(model, now)),
    recurringInvoices(now),
  ]);
  const dueTimes = [
    ...read.flat().map(({ zone, due_on }) => startOfDay(zone, due_on).getTime()),
    ...(await reminderTimes(now)),
  ];
  const oldest = Math.min(now.getTime(), ...dueTimes);
  return { due: Math.min(DUE_COUNTED_MAX, dueTimes.length), oldestMs: now.getTime() - oldest };
}

async function expiring(model: typeof Invoice | typeof Quote | typeof PaymentPromise, at: Date): Promise<Due[]> {
  type Candidate = { account_id: StoredId; expires_on: string };
  const candidates: AsyncIterable<Candidate> = (model as typeof Invoice)
    .find({ expires_on: { $lt: dayIn(EARLIEST_ZONE, at) } })
    .setOptions(acrossAccounts)
    .sort({ expires_on: 1 })
    .select({ _id: 0, account_id: 1, expires_on: 1 })
    .lean<Candidate>()
    .cursor();
  const isDue = ({ expires_on }: Candidate, today: string) => expires_on < today;
  const due = await firstDue(candidates, { at, most: DUE_COUNTED_MAX, isDue });
  return due.map(({ zone, expires_on }) => ({ zone, due_on: addDays(expires_on, 1) }));
}

/** Returns the times from which the scheduler has to look at invoices. The times of those that are set aside lie ahead. */
async function reminderTimes(at: Date): Promise<number[]> {
  const found = await Invoice.find({ reminder_due_at: { $lte: at } }, { _id: 0, reminder_due_at: 1 })
    .setOptions(acrossAccounts)
    .sort({ reminder_due_at: 1 })
    .limit(DUE_COUNTED_MAX)
    .lean<Required<Pick<InvoiceRecord, 'reminder_due_at'>>[]>();
  return found.map(({ reminder_due_at }) => Number(reminder_due_at));
}

/** Returns the due recurring invoices. One that failed waits for the day of its next try. */
async function recurringInvoices(at: Date): Promise<Due[]> {
  type Candidate = Pick<RecurringInvoiceRecord, 'account_id' | 'next_on' | 'retry_on'>;
  const dayOf = ({ retry_on, next_on }: Candidate) => retry_on ?? next_on ?? '';
  const candidates: AsyncIterable<Candidate> = RecurringInvoice.find({
    status: 'Active',
    next_on: { $lte: dayIn(EARLIEST_ZONE, at) },
  })
    .setOptions(acrossAccounts)
    .sort({ next_on: 1 })
    .select({ _id: 0, account_id: 1, next_on: 1, retry_on: 1 })
    .lean<Candidate>()
    .cursor();
  const isDue = (candidate: Candidate, today: string) => dayOf(candidate) <= today;
  const due = await firstDue(candidates, { at, most: DUE_COUNTED_MAX, isDue });
  return due.map((one) => ({ zone: one.zone, due_on: dayOf(one) }));
}

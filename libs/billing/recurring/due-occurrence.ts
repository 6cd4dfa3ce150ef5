// Finds the occurrence of a recurring invoice that is due, and its period.
import { addDays, dayIn } from '../../day.ts';
import { appError } from '../../errors.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import type { Period } from '../../models/billing/document-dates.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from '../../models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord } from '../../models/billing/recurring-run.ts';
import { driverOf, findOwn, lockOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';
import { MISSED_MAX, type Occurrence, occurrence, occurrencesDue, periodBefore } from '../../rules/time/recurrence.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The error when no occurrence is due: another process made it, or it was paused, changed or deleted since. */
export class NotDue extends Error {}

/** The occurrence that is about to be made. */
export interface Due {
  recurring: RecurringInvoiceRecord;
  account: AccountRecord;
  client: ClientRecord;
  now: Occurrence;
  /** The run of an occurrence that had no invoice. It is made again, and the schedule does not move. */
  leftOut: RecurringRunRecord | undefined;
  /** The period of the fixed lines. */
  period: Period;
  /** The account's calendar day. */
  today: string;
  /** The last of several missed occurrences. They all become drafts, so that the owner checks them. */
  catchingUpTo: number | undefined;
  status: 'Draft' | 'Sent';
}

export interface RunWanted {
  /** True to make the next occurrence on any day. */
  isByHand: boolean;
  /** The moment whose day decides what is due. */
  at: Date;
  /** `YYYY-MM-DD`, by hand only: the day of the wanted occurrence, which is the next one or one without an invoice. */
  on?: string | undefined;
  /** Makes the error for an id that is not the account's. Defaults to NotDue. */
  missing?: (() => Error) | undefined;
}

/**
 * Returns the occurrence to make, and locks the client.
 * @throws NotDue, and AppError 404, or 409 for a day without such an occurrence or with an invoice.
 */
export async function dueNow(
  { accountId, session }: UnitOfWork,
  id: Id | StoredId,
  { account, isByHand, at, on, missing }: RunWanted & { account: AccountRecord },
): Promise<Due> {
  const recurring = await findOwn(RecurringInvoice, accountId, id, session);
  if (!recurring) throw missing?.() ?? new NotDue();
  const next = recurring.status === 'Ended' ? undefined : occurrence(recurring.schedule, recurring.next_index);
  const leftOut = on === undefined || on === next?.on ? undefined : await requireLeftOut(recurring, on, session);
  const now = leftOut ? occurrenceOf(leftOut, recurring) : next;
  if (!now) {
    if (isByHand) throw appError('recurring_ended');
    throw new NotDue();
  }
  const today = dayIn(account.time_zone, at);
  if (!isByHand && (recurring.status !== 'Active' || now.on > today)) throw new NotDue();
  const client = await lockOwn(Client, accountId, recurring.client_id, session);
  if (!client) throw appError('client_not_found');
  const catchingUpTo = isByHand ? recurring.catching_up_to : catchUp(recurring, today);
  const status = isByHand || catchingUpTo === undefined ? recurring.create_as : 'Draft';
  const period = leftOut ? periodOfRun(leftOut) : feePeriod(recurring, now);
  return { recurring, account, client, now, leftOut, period, today, catchingUpTo, status };
}

/**
 * Checks that the occurrence of that day has no invoice: it was skipped or had nothing to bill, or its draft was
 * deleted.
 * @throws AppError 409.
 */
async function requireLeftOut(
  { _id, account_id }: RecurringInvoiceRecord,
  due_on: string,
  session: Session,
): Promise<RecurringRunRecord> {
  const filter = { account_id, recurring_id: _id, due_on };
  const run = (await driverOf(RecurringRun).findOne(filter as object, { session })) as RecurringRunRecord | null;
  if (!run) throw appError('recurring_day_not_due', { day: due_on });
  if (run.invoice_id) throw appError('recurring_day_invoiced', { day: due_on, number: String(run.invoice_number) });
  return run;
}

function occurrenceOf(run: RecurringRunRecord, { first_occurrence }: RecurringInvoiceRecord): Occurrence {
  return { index: run.occurrence - first_occurrence, on: run.due_on, until: run.period_to };
}

function periodOfRun({ period_from, due_on, period_to }: RecurringRunRecord): Period {
  return { from: period_from ?? due_on, to: period_to };
}

/**
 * Returns the period of the fee. In arrears it begins after the last day that was billed, because the schedule may have
 * changed since.
 */
function feePeriod({ fee_period, schedule, last_period_to }: RecurringInvoiceRecord, now: Occurrence): Period {
  if (fee_period !== 'in_arrears') return { from: now.on, to: now.until };
  const { from, to } = periodBefore(schedule, now);
  const unbilled = last_period_to === undefined ? from : addDays(last_period_to, 1);
  return { from: unbilled > from && unbilled <= to ? unbilled : from, to };
}

function catchUp({ catching_up_to, schedule, next_index }: RecurringInvoiceRecord, today: string): number | undefined {
  if (catching_up_to !== undefined) return catching_up_to;
  const missed = occurrencesDue(schedule, next_index, { day: today, most: MISSED_MAX });
  return missed > 1 ? next_index + missed - 1 : undefined;
}

// Makes the invoice of the next occurrence of a recurring invoice, once: the record moves on in the transaction that makes the invoice.
import { addDays, dayIn } from '../../day.ts';
import { AppError, conflict, notFound, TooMuch } from '../../errors.ts';
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import type { Period } from '../../models/billing/document-dates.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import {
  type IncludedTime,
  RecurringInvoice,
  type RecurringInvoiceRecord,
  recurringInvoiceView,
} from '../../models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord } from '../../models/billing/recurring-run.ts';
import { changeOwn, driverOf, findOwn, insertOwn, lockOwn } from '../../models/records.ts';
import { type Id, newRecord, type StoredId } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';
import { givenCharges } from '../../rules/documents/document-charges.ts';
import { filled, filledLine, writtenDay, writtenMonth } from '../../rules/documents/line-wording.ts';
import { MISSED_MAX, type Occurrence, occurrence, occurrencesDue, periodBefore } from '../../rules/time/recurrence.ts';
import { paymentDays } from '../documents/client-terms.ts';
import { createInvoice, type InvoiceContent } from '../documents/create-invoice.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { BILLED_ENTRIES_MAX } from '../work/find-unbilled-time.ts';
import { gatherWork, type Work } from '../work/gather-work.ts';
import { lineFormOf } from '../work/invoice-from-time.ts';
import { NothingToBill } from '../work/select-time.ts';
import { requireLines } from '../work/time-line-links.ts';
import { coveredPeriod, periodOf } from '../work/work-period.ts';
import { recurringView } from './recurring-view.ts';
import { lastInvoice } from './unlink-occurrence.ts';

/** Another process made it, or it was paused, changed or deleted since. */
export class NotDue extends Error {}

/** The occurrence that is about to be made. */
interface Due {
  recurring: RecurringInvoiceRecord;
  account: AccountRecord;
  client: ClientRecord;
  now: Occurrence;
  /** The run of an occurrence that had no invoice: it is made again, and the schedule does not move. */
  leftOut: RecurringRunRecord | undefined;
  /** What its fixed lines are for. */
  period: Period;
  /** The account's calendar day. */
  today: string;
  /** Several were missed: the last one of them. They all become drafts, so that the owner looks at them. */
  catchingUpTo: number | undefined;
  status: 'Draft' | 'Sent';
}

interface Running {
  /** Makes the next occurrence whatever its day is. */
  isByHand: boolean;
  /** The moment whose day decides what is due. */
  at: Date;
  /** `YYYY-MM-DD`: by hand, the day of the occurrence that is meant, the next one or one without an invoice. */
  on?: string | undefined;
  /** The error for an id that is not the account's; NotDue unless given. */
  missing?: (() => Error) | undefined;
}

/** @throws NotDue, NothingToBill, and AppError as createInvoice and selectTime do. Nothing is stored then. */
export async function runRecurring(
  unit: UnitOfWork,
  id: Id | StoredId,
  { isByHand, at, on, missing }: Running,
): Promise<{ view: Awaited<ReturnType<typeof createInvoice>>['view']; next: RecurringInvoiceRecord }> {
  let due: Due | undefined;
  let taken: TakenAlong | undefined;
  const made = await createInvoice(unit, undefined, async (account) => {
    due = await dueNow(unit, id, { account, isByHand, at, on, missing });
    taken = await workToTakeAlong(unit, due);
    return contentOf(due, taken.work);
  });
  if (!due || !taken) throw new Error('an invoice of no occurrence was made');
  await taken.work?.claim(made.invoice);
  const next = await (due.leftOut ? linkAgain(unit, due, due.leftOut, made) : moveOn(unit, due, made));
  if (taken.isCut) await unit.announce('recurring_invoice.time_left', recurringInvoiceView(next, made));
  return { view: made.view, next };
}

/** Goes on to the next occurrence without an invoice for the one that had nothing to bill. @throws NotDue, also when another one is due by now. */
export async function skipOccurrence(
  unit: UnitOfWork,
  { _id, next_index }: Pick<RecurringInvoiceRecord, '_id' | 'next_index'>,
  at: Date,
): Promise<RecurringInvoiceRecord> {
  const account = await readAccount(unit.accountId, unit.session);
  const due = await dueNow(unit, _id, { account, at, isByHand: false });
  if (due.now.index !== next_index) throw new NotDue();
  return moveOn(unit, due, undefined);
}

/** Leaves the next occurrence out on purpose. @param on its day, so that a repeated request skips no other. @throws AppError 409 for another day. */
export async function skipNext(
  unit: UnitOfWork,
  id: Id | StoredId,
  { at, on, missing }: Omit<Running, 'isByHand'> & { on: string },
): Promise<RecurringInvoiceRecord> {
  const account = await readAccount(unit.accountId, unit.session);
  const due = await dueNow(unit, id, { account, at, on, missing, isByHand: true });
  if (due.leftOut) throw conflict(`The occurrence of ${on} was left out already`);
  return moveOn(unit, due, undefined);
}

/** Records why the occurrence that is due could not be made; it is tried again on the next day. */
export async function recordFailure(
  { accountId, session, announce }: UnitOfWork,
  failed: Pick<RecurringInvoiceRecord, '_id' | 'next_index'>,
  { message, at }: { message: string; at: Date },
): Promise<void> {
  const recurring = await findOwn(RecurringInvoice, accountId, failed._id, session);
  if (recurring?.status !== 'Active' || recurring.next_index !== failed.next_index) return;
  const { time_zone } = await readAccount(accountId, session);
  const changes = { last_error: { message, at }, retry_on: addDays(dayIn(time_zone, at), 1) };
  const changed = await changeOwn(RecurringInvoice, recurring, changes, session);
  await announce('recurring_invoice.failed', await recurringView(changed, accountId, session));
}

async function dueNow(
  { accountId, session }: UnitOfWork,
  id: Id | StoredId,
  { account, isByHand, at, on, missing }: Running & { account: AccountRecord },
): Promise<Due> {
  const recurring = await findOwn(RecurringInvoice, accountId, id, session);
  if (!recurring) throw missing?.() ?? new NotDue();
  const next = recurring.status === 'Ended' ? undefined : occurrence(recurring.schedule, recurring.next_index);
  const leftOut = on === undefined || on === next?.on ? undefined : await requireLeftOut(recurring, on, session);
  const now = leftOut ? occurrenceOf(leftOut, recurring) : next;
  if (!now) {
    if (isByHand) throw conflict('Recurring invoice has ended');
    throw new NotDue();
  }
  const today = dayIn(account.time_zone, at);
  if (!isByHand && (recurring.status !== 'Active' || now.on > today)) throw new NotDue();
  const client = await lockOwn(Client, accountId, recurring.client_id, session);
  if (!client) throw notFound('Client', 'or access denied');
  const catchingUpTo = isByHand ? recurring.catching_up_to : catchUp(recurring, today);
  const status = isByHand || catchingUpTo === undefined ? recurring.create_as : 'Draft';
  const period = leftOut ? periodOfRun(leftOut) : feePeriod(recurring, now);
  return { recurring, account, client, now, leftOut, period, today, catchingUpTo, status };
}

/** @throws AppError 409 unless the occurrence of that day has no invoice: it was skipped or had nothing to bill, or its draft was deleted. */
async function requireLeftOut(
  { _id, account_id }: RecurringInvoiceRecord,
  due_on: string,
  session: Session,
): Promise<RecurringRunRecord> {
  const filter = { account_id, recurring_id: _id, due_on };
  const run = (await driverOf(RecurringRun).findOne(filter as object, { session })) as RecurringRunRecord | null;
  if (!run) throw conflict(`${due_on} is not the day of the next occurrence, nor of one without an invoice`);
  if (run.invoice_id) throw conflict(`The occurrence of ${due_on} has an invoice: ${run.invoice_number}`);
  return run;
}

function occurrenceOf(run: RecurringRunRecord, { first_occurrence }: RecurringInvoiceRecord): Occurrence {
  return { index: run.occurrence - first_occurrence, on: run.due_on, until: run.period_to };
}

function periodOfRun({ period_from, due_on, period_to }: RecurringRunRecord): Period {
  return { from: period_from ?? due_on, to: period_to };
}

/** In arrears it begins after the last day that was billed: the rhythm may have changed since. */
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

/** Work that comes along, and whether more of it was due than one invoice takes. */
interface TakenAlong {
  work: Work | undefined;
  isCut: boolean;
}

/**
 * Too much work never keeps a fee from being billed: the oldest entries are taken, half as many each time until they fit.
 * @throws NothingToBill when neither work nor a fixed line would be on the invoice, AppError when no part of the work fits on one without a fee.
 */
async function workToTakeAlong(unit: UnitOfWork, due: Due): Promise<TakenAlong> {
  const { include_time: time, line_items } = due.recurring;
  if (!time) return { work: undefined, isCut: false };
  let problem: unknown;
  for (let most = BILLED_ENTRIES_MAX; most >= 1; most = Math.floor(most / 2)) {
    try {
      const work = await workOf(unit, due, { time, most, takesOldest: problem !== undefined });
      if (!work && !line_items) throw new NothingToBill();
      return { work, isCut: problem !== undefined };
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      // The first time it may only be too many entries: the oldest thousand are tried next.
      if (problem === undefined) most *= 2;
      problem = error;
    }
  }
  if (!line_items) throw problem;
  return { work: undefined, isCut: true };
}

async function workOf(
  unit: UnitOfWork,
  { recurring, client, account, now, today }: Due,
  { time, most, takesOldest }: { time: IncludedTime; most: number; takesOldest: boolean },
): Promise<Work | undefined> {
  const { line_items, currency, description } = recurring;
  const yesterday = addDays(now.on, -1);
  const selection = { ...time, date_to: yesterday < today ? yesterday : today };
  const { included_hours } = time;
  const target = { client, account, currency, before: { line_items }, included_hours, most, takesOldest };
  const work = await gatherWork(unit, { selection, form: lineFormOf(time, account) }, target);
  if (work) requirePrintableContent({ line_items: work.line_items, description });
  return work;
}

function isTooMuch(error: unknown): boolean {
  return error instanceof TooMuch || (error instanceof AppError && error.status === 422);
}

function contentOf({ recurring, account, client, now, period, today, status }: Due, work?: Work): InvoiceContent {
  const { locale } = account;
  const line_items = work?.line_items ?? recurring.line_items ?? [];
  requireLines(line_items.length);
  const number = recurring.first_occurrence + now.index + 1;
  const named = {
    month: writtenMonth(period.from, locale),
    year: period.from.slice(0, 4),
    from: writtenDay(period.from, locale),
    to: writtenDay(period.to, locale),
    n: String(number),
  };
  // Time has texts of its own, with placeholders of its own; fixed lines come first.
  const fixed = recurring.line_items?.length ?? 0;
  const included_hours = recurring.include_time?.included_hours;
  return {
    client_id: recurring.client_id,
    client,
    project_id: recurring.project_id,
    currency: recurring.currency,
    tax_rate: recurring.tax_rate ?? undefined,
    prices_include_tax: recurring.prices_include_tax,
    line_items: line_items.map((line, index) =>
      index < fixed ? { ...line, description: filledLine(line.description, named) } : line,
    ),
    dates: { service_period: servicePeriod(recurring, period, work) },
    due_date: addDays(today, recurring.due_days ?? paymentDays(client, account)),
    status,
    description: recurring.description && filled(recurring.description, named),
    charges: givenCharges(recurring),
    texts: {
      notes: recurring.notes && filled(recurring.notes, named),
      terms: recurring.terms && filled(recurring.terms, named),
    },
    origin: {
      ...(work?.time ? { time: work.time } : {}),
      ...(work?.expenses ? { expenses: work.expenses } : {}),
      recurring: {
        id: recurring._id,
        occurrence: number,
        period_from: period.from,
        period_to: period.to,
        ...(included_hours === undefined ? {} : { included_hours }),
      },
    },
  };
}

/** The fee covers its period, and work its days. */
function servicePeriod(
  { line_items }: RecurringInvoiceRecord,
  fee: Period,
  work: Work | undefined,
): Period | undefined {
  if (!work) return fee;
  return line_items ? coveredPeriod(fee, work.records) : periodOf(work.records);
}

/** Enters the run and moves the record to the next occurrence. @param made undefined when there was nothing to bill. */
async function moveOn(
  { accountId, session, announce }: UnitOfWork,
  { recurring, now, period, catchingUpTo }: Due,
  made: Awaited<ReturnType<typeof createInvoice>> | undefined,
): Promise<RecurringInvoiceRecord> {
  const invoice = made?.invoice;
  const number = invoice && printedNumber('invoice', invoice);
  await insertOwn(
    RecurringRun,
    {
      ...newRecord(accountId),
      recurring_id: recurring._id,
      occurrence: recurring.first_occurrence + now.index,
      due_on: now.on,
      ...(period.from === now.on ? {} : { period_from: period.from }),
      period_to: period.to,
      ...(invoice ? { invoice_id: invoice._id, invoice_number: number } : {}),
    },
    session,
  );
  const next = occurrence(recurring.schedule, now.index + 1);
  const isCaughtUp = catchingUpTo !== undefined && now.index >= catchingUpTo;
  const changed = await changeOwn(
    RecurringInvoice,
    recurring,
    {
      next_index: now.index + 1,
      next_on: next?.on,
      status: next ? recurring.status : 'Ended',
      catching_up_to: isCaughtUp ? undefined : catchingUpTo,
      made: recurring.made + (invoice ? 1 : 0),
      ...(invoice && number ? { last_invoice: { _id: invoice._id, invoice_number: number } } : {}),
      last_period_to: period.to,
      last_error: undefined,
      retry_on: undefined,
    },
    session,
  );
  const view = made ? recurringInvoiceView(changed, made) : await recurringView(changed, accountId, session);
  await announce(invoice ? 'recurring_invoice.ran' : 'recurring_invoice.updated', view);
  if (isCaughtUp) await announce('recurring_invoice.caught_up', view);
  if (!next) await announce('recurring_invoice.ended', view);
  return changed;
}

/** Enters the invoice of an occurrence that had none. */
async function linkAgain(
  unit: UnitOfWork,
  { recurring }: Due,
  run: RecurringRunRecord,
  made: Awaited<ReturnType<typeof createInvoice>>,
): Promise<RecurringInvoiceRecord> {
  const { session, announce } = unit;
  const linked = { invoice_id: made.invoice._id, invoice_number: printedNumber('invoice', made.invoice) };
  await changeOwn(RecurringRun, run, linked, session);
  const last_invoice = await lastInvoice(unit, recurring._id);
  const changed = await changeOwn(RecurringInvoice, recurring, { made: recurring.made + 1, last_invoice }, session);
  await announce('recurring_invoice.ran', recurringInvoiceView(changed, made));
  return changed;
}

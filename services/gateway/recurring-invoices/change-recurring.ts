// Computes the stored fields of a recurring invoice, for a new one and after a change.
import { omit } from 'es-toolkit/object/omit';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { namedClient } from '#libs/billing/documents/named-client.ts';
import { requirePrintableContent } from '#libs/billing/documents/printable-size.ts';
import { changedReferences, projectOfClient, requireReferences } from '#libs/billing/documents/project-of-client.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { lockSelected } from '#libs/billing/work/check-selection.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import type { DocumentTexts } from '#libs/models/billing/document-fields.ts';
import {
  type FeePeriod,
  type IncludedTime,
  RecurringInvoice,
  type RecurringInvoiceRecord,
} from '#libs/models/billing/recurring-invoice.ts';
import { driverOf, findOwn } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import {
  CHARGES,
  changedCharges,
  type DocumentCharges,
  givenCharges,
  templateCharges,
} from '#libs/rules/documents/document-charges.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { plainDecimal } from '#libs/rules/money/money.ts';
import { newTaxTerms, reverseChargeProblem } from '#libs/rules/taxes/document-taxes.ts';
import {
  MISSED_MAX,
  type Occurrence,
  occurrence,
  occurrenceFrom,
  occurrencesDue,
  type Schedule,
  upcomingDays,
} from '#libs/rules/time/recurrence.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import type { IncludedTimeInput, NewRecurringInvoice, RecurringInvoiceChanges } from './input.ts';

/** A round of the scheduler makes 2,000 invoices, so that the limit keeps one account from filling it alone. */
const RECURRING_MAX = 1_000;

/** @throws AppError 404 or 400 for what it names, 400 for lines and schedules that make no invoice, 409 when there are too many. */
export async function newRecurring(
  { accountId, session }: UnitOfWork,
  body: NewRecurringInvoice,
): Promise<RecurringInvoiceRecord> {
  const account = await readAccount(accountId, session);
  const client = await namedClient(accountId, body.client_id, session);
  const project = await projectOfClient({ accountId, projectId: body.project_id, clientId: client._id, session });
  await lockSelected({ accountId, client, session, within: 'include_time.' }, body.include_time ?? {});
  const count = await driverOf(RecurringInvoice).countDocuments(
    { account_id: storedId(accountId) },
    { session, limit: RECURRING_MAX },
  );
  if (count >= RECURRING_MAX) throw appError('recurring_limit_reached', { limit: RECURRING_MAX });
  const content = {
    currency: body.currency ?? currencyFor(client, account),
    tax_rate: body.tax_rate ?? null,
    prices_include_tax: body.prices_include_tax || undefined,
    description: body.description || null,
    ...givenTexts(body),
    line_items: storedLines(body.line_items),
    include_time: includedTime(body.include_time),
  };
  const charges = templateCharges(body, {
    ...newTaxTerms(content.tax_rate, client, account),
    currency: content.currency,
  });
  requireContent({ ...content, ...charges }, { client, account });
  const first = firstFrom(body.schedule, dayIn(account.time_zone));
  return {
    ...newRecord(accountId),
    ...content,
    ...charges,
    client_id: client._id,
    project_id: project?._id ?? null,
    schedule: body.schedule,
    fee_period: storedFeePeriod(body.fee_period),
    due_days: body.due_days ?? null,
    early_payment_discounts: body.early_payment_discounts ?? undefined,
    create_as: body.create_as ?? 'Draft',
    status: 'Active',
    first_occurrence: 0,
    next_index: first.index,
    next_on: first.on,
    made: 0,
  };
}

/** The fields that decide whether an invoice can be made. */
const CONTENT: readonly string[] = [
  'currency',
  'tax_rate',
  'prices_include_tax',
  'line_items',
  'include_time',
  'description',
  'notes',
  'terms',
  ...CHARGES,
];

/** @throws AppError as newRecurring does. */
export async function changedRecurring(
  { accountId, session }: UnitOfWork,
  recurring: RecurringInvoiceRecord,
  body: RecurringInvoiceChanges,
): Promise<Partial<RecurringInvoiceRecord>> {
  const { schedule, fee_period, line_items, include_time, description, project_id, currency, ...others } = body;
  const { prices_include_tax, early_payment_discounts, ...unread } = others;
  const rest = omit(unread, [...CHARGES, 'notes', 'terms']);
  const account = await readAccount(accountId, session);
  const isContent = CONTENT.some((name) => name in body);
  const client: Partial<ClientRecord> =
    (isContent && (await findOwn(Client, accountId, recurring.client_id, session))) || {};
  const changes: Partial<RecurringInvoiceRecord> = {
    ...rest,
    ...(project_id === undefined ? {} : changedReferences({ project_id })),
    ...(currency === undefined ? {} : { currency: currency ?? currencyFor(client, account) }),
    ...(prices_include_tax === undefined ? {} : { prices_include_tax: prices_include_tax || undefined }),
    ...(early_payment_discounts === undefined ? {} : { early_payment_discounts: early_payment_discounts ?? undefined }),
    ...(fee_period === undefined ? {} : { fee_period: storedFeePeriod(fee_period) }),
    ...(description === undefined ? {} : { description: description || null }),
    ...givenTexts(body),
    ...(line_items === undefined ? {} : { line_items: storedLines(line_items) }),
    ...(include_time === undefined ? {} : { include_time: includedTime(include_time) }),
  };
  if (fee_period !== undefined && recurring.last_period_to !== undefined) requireSameFeePeriod(recurring, changes);
  // Unchanged content is not checked again. If the client's tax treatment has changed since, the next occurrence reports it.
  if (isContent) {
    const next = { ...recurring, ...changes };
    const terms = { ...newTaxTerms(next.tax_rate, client, account), currency: next.currency };
    Object.assign(changes, templateCharges(changedCharges(recurring, body), terms));
    requireContent({ ...next, ...changes }, { client, account });
  }
  await requireReferences({ document: recurring, next: changes, accountId, session });
  const of = { accountId, client: { _id: recurring.client_id }, session, within: 'include_time.' };
  await lockSelected(of, include_time ?? {});
  if (!schedule || isEqual(schedule, recurring.schedule)) return changes;
  return { ...changes, ...rescheduled(recurring, schedule, dayIn(account.time_zone)) };
}

function storedFeePeriod(given: FeePeriod | null | undefined) {
  return given === 'in_arrears' ? given : undefined;
}

/** @throws AppError 409: a period would be billed twice, or never. */
function requireSameFeePeriod(before: RecurringInvoiceRecord, after: Partial<RecurringInvoiceRecord>): void {
  if (before.fee_period === after.fee_period) return;
  throw appError('recurring_fee_period_fixed');
}

/** Returns the next occurrence after a resumption, without those that were missed. `next_on` is undefined when none is left. */
export function resumedAt(
  { schedule, next_index }: RecurringInvoiceRecord,
  today: string,
): Pick<RecurringInvoiceRecord, 'next_index' | 'next_on' | 'catching_up_to'> {
  const first = occurrence(schedule, next_index);
  const next = first && first.on >= today ? first : occurrenceFrom(schedule, today);
  return { next_index: next?.index ?? next_index, next_on: next?.on, catching_up_to: undefined };
}

/**
 * The new schedule is counted from its own beginning. No period is billed twice, and an occurrence that is due stays due.
 * @throws AppError 409 when the new schedule does not have the days that are due, 400 when it has none to come.
 */
function rescheduled(
  recurring: RecurringInvoiceRecord,
  schedule: Schedule,
  today: string,
): Partial<RecurringInvoiceRecord> {
  const { first_occurrence, next_index, next_on, last_period_to, catching_up_to, status } = recurring;
  const from = next_on !== undefined && next_on < today ? next_on : today;
  const unbilled = last_period_to === undefined ? from : firstUnbilled(recurring, last_period_to);
  const due = status === 'Active' ? daysDue(recurring.schedule, next_index, today) : [];
  const next = occurrenceFrom(schedule, [from, unbilled].toSorted()[1] ?? from);
  if (due.length > 0 && !isEqual(due, next && daysDue(schedule, next.index, today))) throw notOnSchedule(due);
  if (!next) throw noOccurrence(from);
  return {
    schedule,
    first_occurrence: first_occurrence + next_index - next.index,
    next_index: next.index,
    next_on: next.on,
    catching_up_to: catching_up_to === undefined ? undefined : next.index + catching_up_to - next_index,
    ...(due.length > 0 ? {} : { last_error: undefined, retry_on: undefined }),
    status: status === 'Ended' ? 'Active' : status,
  };
}

/** The first day on which an occurrence bills a day that is not billed. In arrears its period ends the day before. */
function firstUnbilled({ fee_period }: RecurringInvoiceRecord, last_period_to: string): string {
  return addDays(last_period_to, fee_period === 'in_arrears' ? 2 : 1);
}

function daysDue(schedule: Schedule, index: number, today: string): string[] {
  const count = occurrencesDue(schedule, index, { day: today, most: MISSED_MAX });
  return upcomingDays(schedule, index, count);
}

function notOnSchedule(due: readonly string[]) {
  return appError('recurring_days_lost', { days: due });
}

function noOccurrence(from: string) {
  return fieldProblem('schedule', 'schedule_empty', { day: from });
}

function firstFrom(schedule: Schedule, day: string): Occurrence {
  const first = occurrenceFrom(schedule, day);
  if (!first) throw noOccurrence(day);
  return first;
}

/** @throws AppError 400 unless invoices of it could be made, 422 unless they could be printed. */
function requireContent(
  recurring: Pick<RecurringInvoiceRecord, 'currency' | 'tax_rate' | 'line_items' | 'include_time' | 'description'> &
    DocumentCharges &
    DocumentTexts & { prices_include_tax?: boolean | undefined },
  { client, account }: { client: Partial<ClientRecord>; account: AccountRecord },
): void {
  const { currency, line_items, include_time, prices_include_tax } = recurring;
  if (!line_items && !include_time) throw fieldProblem('line_items', 'lines_required_without_time');
  requirePrintableContent(recurring);
  // The check uses today's terms. Each invoice uses the client's tax treatment on its own day.
  const terms = newTaxTerms(recurring.tax_rate, client, account);
  // Charges are left out when time is included: the lines that an occurrence gets from time are not known yet.
  const charges = include_time ? undefined : givenCharges(recurring);
  const money = invoiceMoney({ currency, ...terms, prices_include_tax, line_items, charges, issuer: account });
  const problem = reverseChargeProblem(money, { client, account });
  if (problem) throw problem;
}

function includedTime(given: IncludedTimeInput | null | undefined): IncludedTime | null {
  if (!given) return null;
  const { included_hours, ...time } = given;
  return {
    ...time,
    ...(included_hours === undefined ? {} : { included_hours: plainDecimal(included_hours) }),
  };
}

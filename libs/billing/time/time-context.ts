// The records that decide about the billing of time: its project, task and client, their rates, and the invoice it is
// on.
import { type AccountRecord, readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { findAllOwn, readAll } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { Project, type ProjectRecord } from '../../models/time/project.ts';
import { Task, type TaskRecord } from '../../models/time/task.ts';
import {
  type BillingState,
  type EntryBilling,
  type TimeEntryRecord,
  timeEntryView,
} from '../../models/time/time-entry.ts';
import type { Session } from '../../mongo/connection.ts';
import { type HourlyRate, hourlyRate, type RateHolder, rateFor } from '../../rules/time/hourly-rate.ts';
import type { TimeToBill } from '../../rules/time/time-lines.ts';

type InvoiceState = Pick<InvoiceRecord, '_id' | 'number' | 'number_text' | 'status'>;

export interface EntryContext {
  project: ProjectRecord | undefined;
  task: TaskRecord | undefined;
  client: ClientRecord | undefined;
  invoice: InvoiceState | undefined;
  /**
   * The rate that an invoice would use now: the settled one, else the one that is set by now. Undefined when there is
   * none.
   */
  rate: HourlyRate | undefined;
}

type Placed = Pick<
  TimeEntryRecord,
  'project_id' | 'task_id' | 'member' | 'hourly_rate' | 'rate' | 'rate_from' | 'invoice_id'
>;

/** Reads the records that the entries refer to, as far as the entries need them. */
export async function timeContext(
  entries: readonly Placed[],
  accountId: Id,
  session?: Session,
): Promise<(entry: Placed) => EntryContext> {
  const invoiceIds = idsOf(entries.map(({ invoice_id }) => invoice_id));
  const [projects, tasks, invoices] = await readAll(session, [
    () => findAllOwn(Project, accountId, idsOf(entries.map((one) => one.project_id)), PROJECT_FIELDS, session),
    () => findAllOwn(Task, accountId, idsOf(entries.map((one) => one.task_id)), ['name', 'rate'], session),
    () => findAllOwn(Invoice, accountId, invoiceIds, ['number', 'number_text', 'status'], session),
  ] as const);
  const isRated = (entry: Placed) =>
    settledRate(entry) !== undefined ||
    [tasks.get(String(entry.task_id))?.rate, rateFor(projects.get(String(entry.project_id)), entry.member)].some(isSet);
  const unrated = entries.filter((entry) => !isRated(entry));
  const clientIds = idsOf(unrated.map(({ project_id }) => projects.get(String(project_id))?.client_id));
  const [clients, account] = await readAll(session, [
    () => findAllOwn(Client, accountId, clientIds, ['hourly_rate', 'member_rates'], session),
    async () => (unrated.length > 0 ? readAccount(accountId, session) : undefined),
  ] as const);
  return (entry) => {
    const project = projects.get(String(entry.project_id));
    const task = tasks.get(String(entry.task_id));
    const client = clients.get(String(project?.client_id));
    const rate = rateOf(entry, { project, task, client, account });
    return { project, task, client, invoice: invoices.get(String(entry.invoice_id)), rate };
  };
}

const PROJECT_FIELDS = ['name', 'client_id', 'hourly_rate', 'member_rates', 'rounding', 'billing'] as const;

interface RateHolders {
  project: ProjectRecord | undefined;
  task: TaskRecord | undefined;
  client: ClientRecord | undefined;
  account: AccountRecord | undefined;
}

/** Returns the settled rate, or undefined when none was set when the entry was logged. */
export function settledRate({
  rate,
  rate_from,
  hourly_rate,
}: Pick<TimeEntryRecord, 'rate' | 'rate_from' | 'hourly_rate'>): HourlyRate | undefined {
  if (isSet(rate) && rate_from) return { rate, from: rate_from };
  // An older version stored this field only.
  return isSet(hourly_rate) ? { rate: hourly_rate, from: 'entry' } : undefined;
}

function rateOf(entry: Placed, { project, task, client, account }: RateHolders): HourlyRate | undefined {
  const rates = {
    task: task?.rate,
    project: rateFor(project, entry.member),
    client: rateFor(client, entry.member),
    account: rateFor(account as RateHolder | undefined, entry.member),
  };
  return settledRate(entry) ?? hourlyRate(rates);
}

/** Returns the entry in the form that a line bills. The caller sets the rate and the rounding. */
export function timeToBill(
  entry: TimeEntryRecord,
  { project, task }: Pick<EntryContext, 'project' | 'task'>,
  billed: Pick<TimeToBill, 'rate' | 'rateFrom' | 'rounding'>,
): TimeToBill {
  return {
    id: String(entry._id),
    project: { id: String(entry.project_id), name: project?.name ?? '' },
    task: task ? { id: String(task._id), name: task.name } : null,
    date: entry.date,
    seconds: entry.seconds,
    decimals: entry.hours_decimals,
    description: entry.description,
    member: entry.member ?? null,
    ...billed,
  };
}

/** Returns the form in which entries are read, listed and announced. */
export async function timeEntryViews(entries: readonly TimeEntryRecord[], accountId: Id, session?: Session) {
  const contextOf = await timeContext(entries, accountId, session);
  return entries.map((entry) => entryView(entry, contextOf(entry)));
}

function entryView(entry: TimeEntryRecord, context: EntryContext) {
  return timeEntryView(entry, context.project, context.task, billingOf(entry, context));
}

function billingOf(entry: TimeEntryRecord, { invoice, project }: EntryContext): EntryBilling {
  // The billed rate counts, whatever was changed since.
  const used = entry.invoice_id ? { rate: entry.billed_rate, from: entry.billed_rate_from } : settledRate(entry);
  return {
    rate: used?.rate ?? null,
    rate_from: used?.from ?? null,
    invoice: entry.invoice_id ? embeddedInvoice(entry.invoice_id, invoice) : null,
    billing: billingState(entry, { isDraft: invoice?.status === 'Draft', project }),
  };
}

/**
 * Returns the state of an entry.
 * @param isDraft of its invoice.
 * @param project whose fixed amount may cover the time.
 */
function billingState(
  { invoice_id, settled, billable }: Pick<TimeEntryRecord, 'invoice_id' | 'settled' | 'billable'>,
  { isDraft, project }: { isDraft: boolean; project: Pick<ProjectRecord, 'billing'> | undefined },
): BillingState {
  if (invoice_id) return isDraft ? 'on_draft' : 'billed';
  if (settled) return settled;
  if (billable === false || project?.billing === 'none') return 'not_billable';
  return project?.billing === 'fixed' ? 'covered' : 'unbilled';
}

/** Returns the form in which the billed work shows its invoice. */
export function embeddedInvoice(id: StoredId, invoice: InvoiceState | undefined) {
  return { id: String(id), invoice_number: invoice && invoice.number > 0 ? printedNumber('invoice', invoice) : null };
}

function idsOf(ids: readonly (StoredId | null | undefined)[]): string[] {
  return ids.filter(isSet).map(String);
}

function isSet<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

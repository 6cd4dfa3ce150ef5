// What the list of time entries can be filtered by.
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Project, type ProjectBilling } from '#libs/models/time/project.ts';
import { UNBILLED } from '#libs/models/time/time-entry.ts';
import type { TimeEntryQuery } from './input.ts';

/**
 * As findPage takes it: conditions that no index of the list serves are under `$and`. Two conditions on one field are decided here: the
 * database would sort in memory to find nothing.
 * @returns undefined when no entry can match.
 */
export async function timeEntryFilter(
  accountId: Id,
  query: TimeEntryQuery,
): Promise<Record<string, unknown> | undefined> {
  const { date_from, date_to, client_id, project_id, task_id, invoice_id, updated_since } = query;
  const account_id = storedId(accountId);
  const projects = client_id ? await projectsOfClient(account_id, client_id) : undefined;
  if (projects && project_id && !has(projects, project_id)) return undefined;
  const billing = await billingFilter(accountId, query);
  if (!billing) return undefined;
  const { invoice_id: onInvoice, ...residual } = billing;
  const further = [
    ...(Object.keys(residual).length > 0 ? [residual] : []),
    ...(query.billable === undefined ? [] : [{ billable: query.billable ? { $ne: false } : false }]),
    ...(projects && !project_id ? [{ project_id: { $in: projects } }] : []),
  ];
  return {
    account_id,
    ...(task_id ? { task_id: storedId(task_id) } : {}),
    ...(project_id ? { project_id: storedId(project_id) } : {}),
    ...(invoice_id ? { invoice_id: storedId(invoice_id) } : onInvoice === undefined ? {} : { invoice_id: onInvoice }),
    ...(date_from || date_to
      ? { date: { ...(date_from ? { $gte: date_from } : {}), ...(date_to ? { $lte: date_to } : {}) } }
      : {}),
    ...(updated_since ? { updated_at: { $gte: updated_since } } : {}),
    ...(further.length > 0 ? { $and: further } : {}),
  };
}

/**
 * The condition of a state; undefined when time on the invoice that is asked for is never in it. Whether an invoice is a draft is known
 * from the invoice alone.
 */
async function billingFilter(
  accountId: Id,
  { billing, invoice_id }: TimeEntryQuery,
): Promise<Record<string, unknown> | undefined> {
  if (billing === undefined) return {};
  switch (billing) {
    case 'unbilled': {
      if (invoice_id) return undefined;
      const others = await projectsBilled(accountId, ['fixed', 'none']);
      return others.length > 0 ? { ...UNBILLED, project_id: { $nin: others } } : UNBILLED;
    }
    case 'covered':
      return invoice_id ? undefined : { ...UNBILLED, project_id: { $in: await projectsBilled(accountId, ['fixed']) } };
    case 'not_billable': {
      if (invoice_id) return undefined;
      const unpaid = await projectsBilled(accountId, ['none']);
      return { $or: [{ billable: false }, { project_id: { $in: unpaid } }], settled: null, invoice_id: null };
    }
    case 'on_draft':
    case 'billed': {
      const drafts = await draftsWithTime(accountId);
      if (invoice_id) return has(drafts, invoice_id) === (billing === 'on_draft') ? {} : undefined;
      return { $or: [{ invoice_id: billing === 'on_draft' ? { $in: drafts } : { $ne: null, $nin: drafts } }] };
    }
    case 'billed_elsewhere':
    case 'written_off':
      return { settled: billing };
  }
}

function has(ids: readonly StoredId[], id: Id): boolean {
  return ids.some((one) => String(one) === id);
}

async function draftsWithTime(accountId: Id): Promise<StoredId[]> {
  const filter = { account_id: storedId(accountId), status: 'Draft', time: { $exists: true } };
  const drafts = await driverOf(Invoice)
    .find(filter as object, { projection: { _id: 1 } })
    .toArray();
  return drafts.map(({ _id }) => _id);
}

async function projectsBilled(accountId: Id, billings: readonly ProjectBilling[]): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id: storedId(accountId), billing: { $in: billings } } as object);
}

async function projectsOfClient(account_id: StoredId, clientId: Id): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id, client_id: storedId(clientId) } as object);
}

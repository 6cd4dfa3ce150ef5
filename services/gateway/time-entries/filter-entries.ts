// What the list of time entries can be filtered by.
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Project } from '#libs/models/time/project.ts';
import { UNBILLED } from '#libs/models/time/time-entry.ts';
import type { TimeEntryQuery } from './input.ts';

/** As findPage takes it: conditions that no index of the list serves are under `$and`. */
export async function timeEntryFilter(accountId: Id, query: TimeEntryQuery): Promise<Record<string, unknown>> {
  const { date_from, date_to, client_id, project_id, task_id, invoice_id, updated_since } = query;
  const account_id = storedId(accountId);
  const { invoice_id: onInvoice, ...residual } = await billingFilter(accountId, query);
  const further = [
    ...(Object.keys(residual).length > 0 ? [residual] : []),
    ...(query.billable === undefined ? [] : [{ billable: query.billable ? { $ne: false } : false }]),
    ...(invoice_id && onInvoice !== undefined ? [{ invoice_id: onInvoice }] : []),
    ...(client_id ? [{ project_id: { $in: await projectsOfClient(account_id, client_id) } }] : []),
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

/** The condition of a state. Whether an invoice is a draft is known from the invoice alone. */
async function billingFilter(accountId: Id, { billing }: TimeEntryQuery): Promise<Record<string, unknown>> {
  if (billing === undefined) return {};
  switch (billing) {
    case 'unbilled':
      return UNBILLED;
    case 'not_billable':
      return { billable: false, settled: null, invoice_id: null };
    case 'on_draft':
      return { $or: [{ invoice_id: { $in: await draftsWithTime(accountId) } }] };
    case 'billed':
      return { $or: [{ invoice_id: { $ne: null, $nin: await draftsWithTime(accountId) } }] };
    case 'billed_elsewhere':
    case 'written_off':
      return { settled: billing };
  }
}

async function draftsWithTime(accountId: Id): Promise<StoredId[]> {
  const filter = { account_id: storedId(accountId), status: 'Draft', time: { $exists: true } };
  const drafts = await driverOf(Invoice)
    .find(filter as object, { projection: { _id: 1 } })
    .toArray();
  return drafts.map(({ _id }) => _id);
}

async function projectsOfClient(account_id: StoredId, clientId: Id): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id, client_id: storedId(clientId) } as object);
}

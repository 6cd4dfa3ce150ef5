// What the lists of time and of expenses can be filtered by: both are work on a project that an invoice may bill.
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Project, type ProjectBilling } from '#libs/models/time/project.ts';
import type { BillingState } from '#libs/models/time/time-entry.ts';

export interface WorkQuery {
  project_id?: Id;
  client_id?: Id;
  invoice_id?: Id;
  date_from?: string;
  date_to?: string;
  updated_since?: Date;
  billing?: BillingState;
}

/** What differs between time and expenses. */
export interface WorkFilter {
  /** Work that can be billed, whatever its project. */
  unbilled: Record<string, unknown>;
  /** The field of an invoice that bills some. */
  onInvoice: 'time' | 'expenses';
  /** Projects whose fixed amount pays for it. */
  coveredBy: readonly ProjectBilling[];
  /** Conditions that an index of the list serves. */
  indexed: Record<string, unknown>;
  /** Conditions that none serves. */
  residual: readonly object[];
}

/**
 * As findPage takes it: conditions that no index of the list serves are under `$and`. Two conditions on one field are decided here: the
 * database would sort in memory to find nothing.
 * @returns undefined when nothing can match.
 */
export async function workFilter(
  accountId: Id,
  query: WorkQuery,
  work: WorkFilter,
): Promise<Record<string, unknown> | undefined> {
  const { date_from, date_to, client_id, project_id, invoice_id, updated_since } = query;
  const account_id = storedId(accountId);
  const projects = client_id ? await projectsWith(account_id, { client_id: storedId(client_id) }) : undefined;
  if (projects && project_id && !has(projects, project_id)) return undefined;
  const billing = await billingFilter(account_id, query, work);
  if (!billing) return undefined;
  const { invoice_id: onInvoice, ...residual } = billing;
  const further = [
    ...(Object.keys(residual).length > 0 ? [residual] : []),
    ...work.residual,
    ...(projects && !project_id ? [{ project_id: { $in: projects } }] : []),
  ];
  return {
    account_id,
    ...work.indexed,
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
 * The condition of a state; undefined when nothing on the invoice that is asked for is ever in it. Whether an invoice is a draft is
 * known from the invoice alone.
 */
async function billingFilter(
  account_id: StoredId,
  { billing, invoice_id }: WorkQuery,
  { unbilled, onInvoice, coveredBy }: WorkFilter,
): Promise<Record<string, unknown> | undefined> {
  const billed = (by: readonly ProjectBilling[]) => projectsWith(account_id, { billing: { $in: by } });
  switch (billing) {
    case undefined:
      return {};
    case 'unbilled': {
      if (invoice_id) return undefined;
      const others = await billed([...coveredBy, 'none']);
      return others.length > 0 ? { ...unbilled, project_id: { $nin: others } } : unbilled;
    }
    case 'covered':
      return invoice_id ? undefined : { ...unbilled, project_id: { $in: await billed(coveredBy) } };
    case 'not_billable': {
      if (invoice_id) return undefined;
      const unpaid = await billed(['none']);
      return { $or: [{ billable: false }, { project_id: { $in: unpaid } }], settled: null, invoice_id: null };
    }
    case 'on_draft':
    case 'billed': {
      const drafts = await draftsWith(account_id, onInvoice);
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

async function draftsWith(account_id: StoredId, work: WorkFilter['onInvoice']): Promise<StoredId[]> {
  return driverOf(Invoice).distinct('_id', { account_id, status: 'Draft', [work]: { $exists: true } } as object);
}

async function projectsWith(account_id: StoredId, filter: object): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id, ...filter } as object);
}

// What the list of expenses can be filtered by.
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { UNBILLED_EXPENSES } from '#libs/models/time/expense.ts';
import { Project } from '#libs/models/time/project.ts';
import type { ExpenseQuery } from './input.ts';

/**
 * As findPage takes it: conditions that no index of the list serves are under `$and`. Two conditions on one field are decided here: the
 * database would sort in memory to find nothing.
 * @returns undefined when no expense can match.
 */
export async function expenseFilter(accountId: Id, query: ExpenseQuery): Promise<Record<string, unknown> | undefined> {
  const { date_from, date_to, client_id, project_id, invoice_id, updated_since, billable } = query;
  const account_id = storedId(accountId);
  const projects = client_id ? await projectsWith(account_id, { client_id: storedId(client_id) }) : undefined;
  if (projects && project_id && !has(projects, project_id)) return undefined;
  const billing = await billingFilter(account_id, query);
  if (!billing) return undefined;
  const { invoice_id: onInvoice, ...residual } = billing;
  const further = [
    ...(Object.keys(residual).length > 0 ? [residual] : []),
    ...(billable === undefined ? [] : [{ billable }]),
    ...(projects && !project_id ? [{ project_id: { $in: projects } }] : []),
  ];
  return {
    account_id,
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
 * The condition of a state; undefined when an expense on the invoice that is asked for is never in it. Whether an invoice is a draft is
 * known from the invoice alone.
 */
async function billingFilter(
  account_id: StoredId,
  { billing, invoice_id }: ExpenseQuery,
): Promise<Record<string, unknown> | undefined> {
  switch (billing) {
    case undefined:
      return {};
    case 'unbilled': {
      if (invoice_id) return undefined;
      const unpaid = await projectsWith(account_id, { billing: 'none' });
      return unpaid.length > 0 ? { ...UNBILLED_EXPENSES, project_id: { $nin: unpaid } } : UNBILLED_EXPENSES;
    }
    case 'not_billable': {
      if (invoice_id) return undefined;
      const unpaid = await projectsWith(account_id, { billing: 'none' });
      return { $or: [{ billable: false }, { project_id: { $in: unpaid } }], settled: null, invoice_id: null };
    }
    case 'on_draft':
    case 'billed': {
      const drafts = await draftsWithExpenses(account_id);
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

async function draftsWithExpenses(account_id: StoredId): Promise<StoredId[]> {
  return driverOf(Invoice).distinct('_id', { account_id, status: 'Draft', expenses: { $exists: true } } as object);
}

async function projectsWith(account_id: StoredId, filter: object): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id, ...filter } as object);
}

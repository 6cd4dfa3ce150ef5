// What the list of expenses can be filtered by.
import { Invoice } from '#libs/models/billing/invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { UNBILLED_EXPENSES } from '#libs/models/time/expense.ts';
import { Project } from '#libs/models/time/project.ts';
import type { ExpenseQuery } from './input.ts';

/** As findPage takes it: conditions that no index of the list serves are under `$and`. */
export async function expenseFilter(accountId: Id, query: ExpenseQuery): Promise<Record<string, unknown>> {
  const { date_from, date_to, client_id, project_id, invoice_id, updated_since, billable } = query;
  const account_id = storedId(accountId);
  const billing = await billingFilter(accountId, query);
  const further = [
    ...(billing ? [billing] : []),
    ...(billable === undefined ? [] : [{ billable }]),
    ...(client_id ? [{ project_id: { $in: await projectsWith(account_id, { client_id: storedId(client_id) }) } }] : []),
  ];
  return {
    account_id,
    ...(project_id ? { project_id: storedId(project_id) } : {}),
    ...(invoice_id ? { invoice_id: storedId(invoice_id) } : {}),
    ...(date_from || date_to
      ? { date: { ...(date_from ? { $gte: date_from } : {}), ...(date_to ? { $lte: date_to } : {}) } }
      : {}),
    ...(updated_since ? { updated_at: { $gte: updated_since } } : {}),
    ...(further.length > 0 ? { $and: further } : {}),
  };
}

/** The condition of a state. Whether an invoice is a draft is known from the invoice alone. */
async function billingFilter(accountId: Id, { billing }: ExpenseQuery): Promise<Record<string, unknown> | undefined> {
  const account_id = storedId(accountId);
  switch (billing) {
    case undefined:
      return undefined;
    case 'unbilled':
      return { ...UNBILLED_EXPENSES, project_id: { $nin: await projectsWith(account_id, { billing: 'none' }) } };
    case 'not_billable': {
      const unpaid = await projectsWith(account_id, { billing: 'none' });
      return { $or: [{ billable: false }, { project_id: { $in: unpaid } }], settled: null, invoice_id: null };
    }
    case 'on_draft':
      return { invoice_id: { $in: await draftsWithExpenses(account_id) } };
    case 'billed':
      return { invoice_id: { $ne: null, $nin: await draftsWithExpenses(account_id) } };
    case 'billed_elsewhere':
    case 'written_off':
      return { settled: billing };
  }
}

async function draftsWithExpenses(account_id: StoredId): Promise<StoredId[]> {
  return driverOf(Invoice).distinct('_id', { account_id, status: 'Draft', expenses: { $exists: true } } as object);
}

async function projectsWith(account_id: StoredId, filter: object): Promise<StoredId[]> {
  return driverOf(Project).distinct('_id', { account_id, ...filter } as object);
}

// Finds the expenses to bill on an invoice: exactly the named ones, or all unbilled ones of the client that a filter
// matches.
import { sortBy } from 'es-toolkit/array/sortBy';
import { appError, fieldProblem } from '../../errors.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { driverOf, findAllOwn, findIds, lockAllOwn } from '../../models/records.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import { Expense, type ExpenseRecord, UNBILLED_EXPENSES, UNBILLED_EXPENSES_INDEX } from '../../models/time/expense.ts';
import { Project } from '../../models/time/project.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { selectedProjects } from '../work/check-selection.ts';
import { EXPENSES, namedWork } from '../work/work-records.ts';
import { requireBillableExpense } from './expense-guard.ts';

/** The most expenses of one invoice. Each is a line. */
export const BILLED_EXPENSES_MAX = 500;

export interface WantedExpenses {
  client: ClientRecord;
  /** The currency of the invoice. It has one, and nothing is converted. */
  currency: string;
  selection: {
    /** Exactly these expenses. */
    expense_ids?: readonly Id[] | undefined;
    /** True for all expenses that the next three fields match. */
    include_expenses?: boolean | undefined;
    project_ids?: readonly Id[] | undefined;
    date_from?: string | undefined;
    date_to: string;
  };
}

/**
 * Reads the expenses in the transaction and locks their projects, so that none moves to another client meanwhile.
 * @returns them by day.
 * @throws AppError 404, 400 or 409 with the reason why the selection cannot be billed.
 */
export async function findExpenses(unit: UnitOfWork, wanted: WantedExpenses): Promise<ExpenseRecord[]> {
  const { expense_ids, include_expenses } = wanted.selection;
  if (!expense_ids && !include_expenses) return [];
  const found = expense_ids ? await namedExpenses(unit, expense_ids, wanted) : await unbilledExpenses(unit, wanted);
  if (found.length > BILLED_EXPENSES_MAX) throw appError('too_many_expenses', { limit: BILLED_EXPENSES_MAX });
  const projects = found.map(({ project_id }) => String(project_id));
  await lockAllOwn(Project, unit.accountId, projects, unit.session);
  return sortBy(found, [({ date }) => date, ({ _id }) => String(_id)]);
}

async function namedExpenses(unit: UnitOfWork, ids: readonly Id[], { client, currency }: WantedExpenses) {
  const found = await namedWork(EXPENSES, unit, ids);
  const projectIds = found.map(({ project_id }) => String(project_id));
  const projects = await findAllOwn(Project, unit.accountId, projectIds, ['client_id', 'billing'], unit.session);
  for (const expense of found) {
    const project = projects.get(String(expense.project_id));
    await requireBillableExpense(expense, project, unit);
    if (!project?.client_id.equals(client._id)) {
      throw fieldProblem('expense_ids', 'of_other_client', { records: 'expenses' });
    }
  }
  if (found.some((expense) => expense.currency !== currency)) {
    throw fieldProblem('expense_ids', 'invoice_currency_differs', { currency });
  }
  return found;
}

async function unbilledExpenses({ session, accountId }: UnitOfWork, { client, currency, selection }: WantedExpenses) {
  const { project_ids, date_from, date_to } = selection;
  const account_id = storedId(accountId);
  const billed = { account_id, client_id: client._id, billing: { $ne: 'none' } } as object;
  const projects = project_ids
    ? (await selectedProjects({ accountId, client, session }, project_ids))
        .filter(({ billing }) => billing !== 'none')
        .map(({ _id }) => _id)
    : await findIds(Project, billed, { session });
  const filter = {
    account_id,
    ...UNBILLED_EXPENSES,
    project_id: { $in: projects },
    date: { ...(date_from ? { $gte: date_from } : {}), $lte: date_to },
    currency,
  };
  const limit = BILLED_EXPENSES_MAX + 1;
  const found = await driverOf(Expense)
    .find(filter as object, { session, limit, batchSize: limit + 1, hint: UNBILLED_EXPENSES_INDEX })
    .toArray();
  return found as unknown as ExpenseRecord[];
}

// Expenses over HTTP: what was spent on a project and is billed to its client.

import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { projectOfClient } from '#libs/billing/documents/project-of-client.ts';
import { expenseViews } from '#libs/billing/expenses/bill-expenses.ts';
import { requireFreeExpense } from '#libs/billing/expenses/expense-guard.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { changedFields, changeOwn, findOwn, insertOwn, isUnchanged, lockOwn, removeOwn } from '#libs/models/records.ts';
import { type Id, newRecord, type StoredId } from '#libs/models/tenant.ts';
import { Expense, type ExpenseRecord, withMarkup } from '#libs/models/time/expense.ts';
import { Project } from '#libs/models/time/project.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { expenseResponse } from '#libs/responses/expense.ts';
import { exactMinor } from '#libs/rules/money/exact-amount.ts';
import { fromMinor, isLineAmount } from '#libs/rules/money/money.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type ExpenseChanges, expenseChanges, expenseList, type NewExpense, newExpense } from './input.ts';

const path = '/api/v1/expenses';
const missing = 'Expense not found or access denied';

export const expenseRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createExpense',
    isPrinted: true,
    scope: 'expenses:write',
    query: dryRun,
    body: newExpense,
    docs: {
      summary: 'Record an expense of a project',
      response: expenseResponse,
      missingReference: 'Project not found or access denied',
    },
    handler: createExpense,
  }),
  route({
    method: 'get',
    path,
    operation: 'listExpenses',
    scope: 'expenses:read',
    query: expenseList.query,
    docs: { title: 'List expenses by date', summary: 'List expenses by date, latest first', response: expenseResponse },
    handler: listExpenses,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getExpense',
    scope: 'expenses:read',
    missing: 'Expense not found',
    docs: { summary: 'Get an expense', response: expenseResponse },
    read: readExpense,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateExpense',
    isPrinted: true,
    scope: 'expenses:write',
    body: expenseChanges,
    missing,
    docs: {
      title: 'Update an expense',
      summary: 'Update an expense, or move it to another project of the client',
      description: 'On an invoice it stays as it is: 409. Only `receipt` can still change.',
      response: expenseResponse,
      conflict: appError('expense_issued'),
      missingReference: 'Project not found or access denied',
    },
    handler: updateExpense,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteExpense',
    scope: 'expenses:write',
    missing,
    docs: {
      summary: 'Delete an expense',
      message: 'Expense deleted',
      conflict: appError('expense_issued'),
    },
    handler: deleteExpense,
  }),
];

async function createExpense({ body, commit }: Context<NewExpense, DryRun>) {
  return commit(async ({ session, accountId, announce }) => {
    const project = await lockOwn(Project, accountId, body.project_id, session);
    if (!project) throw appError('project_not_found');
    const currency = body.currency ?? (await currencyOf(project.client_id, { accountId, session }));
    const markup = body.markup ?? 0;
    const expense: ExpenseRecord = {
      ...newRecord(accountId),
      project_id: project._id,
      date: body.date,
      description: body.description,
      ...moneyOf(body.amount, currency, markup),
      tax_rate: body.tax_rate ?? null,
      billable: body.billable ?? true,
      receipt: body.receipt || null,
    };
    await insertOwn(Expense, expense, session);
    const view = await viewOf(expense, accountId, session);
    await announce('expense.created', view);
    return created(view);
  });
}

async function listExpenses({ caller, query }: Context<unknown, ListQuery>) {
  return expenseList.respond({ caller, query }, (records) => expenseViews(records, caller.accountId));
}

async function readExpense({ caller, id, session }: Reading) {
  const expense = await findOwn(Expense, caller.accountId, id, session);
  return expense && viewOf(expense, caller.accountId, session);
}

async function updateExpense({ body, commit, requireRecord }: Context<ExpenseChanges>) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const expense = await requireRecord(Expense, session);
    const changes = await changesOf(expense, body, { accountId, session });
    if (isUnchanged(expense, changes)) return updated(await viewOf(expense, accountId, session));
    await requireFreeExpense(expense, unit, changedFields(expense, changes));
    const view = await viewOf(await changeOwn(Expense, expense, changes, session), accountId, session);
    await announce('expense.updated', view);
    return updated(view);
  });
}

async function deleteExpense({ commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const expense = await requireRecord(Expense, session);
    const view = await viewOf(expense, accountId, session);
    await requireFreeExpense(expense, unit);
    await removeOwn(Expense, expense, session);
    await announce('expense.deleted', view);
    return deleted('Expense deleted');
  });
}

interface Within {
  accountId: Id;
  session: Session;
}

/** Returns the fields to store. A field of null gets the value that a new expense has without it. */
async function changesOf(
  expense: ExpenseRecord,
  body: ExpenseChanges,
  within: Within,
): Promise<Partial<ExpenseRecord>> {
  const { project_id, amount, currency, markup, billable, receipt, ...rest } = body;
  const project = project_id === undefined ? undefined : await otherProject(expense, project_id, within);
  const changes: Partial<ExpenseRecord> = {
    ...rest,
    ...(project ? { project_id: project._id } : {}),
    ...(billable === undefined ? {} : { billable: billable ?? true }),
    ...(receipt === undefined ? {} : { receipt: receipt || null }),
  };
  if (amount === undefined && currency === undefined && markup === undefined) return changes;
  const standard = async () => {
    const { client_id } = (await findOwn(Project, within.accountId, expense.project_id, within.session)) ?? {};
    return currencyOf(client_id, within);
  };
  const code = currency === undefined ? expense.currency : (currency ?? (await standard()));
  const major = amount ?? fromMinor(expense.amount, expense.currency);
  return { ...changes, ...moneyOf(major, code, markup === undefined ? expense.markup : (markup ?? 0)) };
}

/** Both projects are locked: neither can move to another client meanwhile. */
async function otherProject({ project_id }: ExpenseRecord, projectId: Id, { accountId, session }: Within) {
  if (projectId === String(project_id)) return undefined;
  const former = await lockOwn(Project, accountId, project_id, session);
  if (!former) throw appError('project_not_found');
  return projectOfClient({ accountId, projectId, clientId: former.client_id, session });
}

async function currencyOf(clientId: StoredId | undefined, { accountId, session }: Within): Promise<string> {
  const client = clientId && (await findOwn(Client, accountId, clientId, session));
  return currencyFor(client || {}, await readAccount(accountId, session));
}

/** @throws AppError 400 when the amount has more decimals than the currency, or is more than a line can have. */
function moneyOf(major: number, currency: string, markup: number) {
  const amount = exactMinor(major, currency);
  const billed_amount = withMarkup(amount, markup);
  if (!isLineAmount(billed_amount)) throw fieldProblem('amount', 'too_large_in_currency', { currency });
  return { amount, currency, markup, billed_amount };
}

async function viewOf(expense: ExpenseRecord, accountId: Id, session?: Session) {
  const [view] = await expenseViews([expense], accountId, session);
  if (!view) throw new Error('one expense has one view');
  return view;
}

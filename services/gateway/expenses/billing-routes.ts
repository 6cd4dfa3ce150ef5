// Settling expenses by hand: they were billed before Billhook, or are given away.
import Joi from 'joi';
import { announceExpenses } from '#libs/billing/expenses/bill-expenses.ts';
import { requireBillableExpense } from '#libs/billing/expenses/expense-guard.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { changeWork, EXPENSES, namedWork } from '#libs/billing/work/work-records.ts';
import { appError } from '#libs/errors.ts';
import { findAllOwn } from '#libs/models/records.ts';
import type { ExpenseRecord } from '#libs/models/time/expense.ts';
import { Project } from '#libs/models/time/project.ts';
import type { WorkSettlement } from '#libs/models/time/time-entry.ts';
import { number } from '#libs/responses/response-fields.ts';
import { updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { EXPENSE_SETTLEMENTS, type ExpenseBillingInput, expenseBilling } from './input.ts';

export const expenseBillingRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/expenses/billing',
    operation: 'settleExpenses',
    scope: 'expenses:write',
    body: expenseBilling,
    docs: {
      title: 'Settle expenses by hand',
      summary: 'Settle expenses by hand, or make them unbilled again',
      description:
        'For what was billed elsewhere or is given away: no invoice takes it, and it cannot be changed until it is unbilled again. All of the expenses or none.',
      status: 200,
      response: Joi.object({
        status: Joi.string()
          .valid(...EXPENSE_SETTLEMENTS)
          .required(),
        changed: number(),
      })
        .id('SettledExpenses')
        .example({ status: 'billed_elsewhere', changed: 1 }),
      missingReference: 'Expense not found or access denied',
      conflict: appError('expense_already_billed', { number: 'INV-0042' }),
    },
    handler: settle,
  }),
];

async function settle({ body, commit }: Context<ExpenseBillingInput>) {
  const settled = body.status === 'unbilled' ? null : body.status;
  return commit(async (unit) => {
    const expenses = await namedWork(EXPENSES, unit, body.expense_ids);
    const projects = await findAllOwn(
      Project,
      unit.accountId,
      expenses.map(({ project_id }) => String(project_id)),
      ['billing'],
      unit.session,
    );
    for (const expense of expenses) {
      // A settled expense may become unbilled, or be settled in the other way.
      await requireBillableExpense({ ...expense, settled: null }, projects.get(String(expense.project_id)), unit);
    }
    const changing = expenses.filter((expense) => (expense.settled ?? null) !== settled);
    if (changing.length > 0) await write(unit, changing, settled);
    return updated({ status: body.status, changed: changing.length });
  });
}

async function write(unit: UnitOfWork, expenses: readonly ExpenseRecord[], settled: WorkSettlement | null) {
  const updated_at = await changeWork(EXPENSES, unit, { work: expenses, when: { invoice_id: null }, set: { settled } });
  await announceExpenses(
    unit,
    expenses.map((expense) => ({ ...expense, settled, updated_at })),
  );
}

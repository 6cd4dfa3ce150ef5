// What the list of expenses can be filtered by.
import type { Id } from '#libs/models/tenant.ts';
import { UNBILLED_EXPENSES } from '#libs/models/time/expense.ts';
import { workFilter } from '../fields/work-filter.ts';
import type { ExpenseQuery } from './input.ts';

/** @returns undefined when no expense can match. */
export function expenseFilter(accountId: Id, query: ExpenseQuery): Promise<Record<string, unknown> | undefined> {
  const { billable } = query;
  return workFilter(accountId, query, {
    unbilled: UNBILLED_EXPENSES,
    onInvoice: 'expenses',
    coveredBy: [],
    indexed: {},
    residual: billable === undefined ? [] : [{ billable }],
  });
}

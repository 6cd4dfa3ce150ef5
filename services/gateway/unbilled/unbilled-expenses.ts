// Sums of the expenses that could be billed, by project and currency.
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Expense, UNBILLED_EXPENSES, UNBILLED_EXPENSES_INDEX } from '#libs/models/time/expense.ts';

export interface UnbilledExpenses {
  projectId: Id;
  currency: string;
  expenses: number;
  /** In the smallest unit, with markup. */
  expenseAmount: number;
  /** `YYYY-MM-DD`. */
  oldest: string;
}

/** @param projects of all when absent. */
export async function unbilledExpenses(accountId: Id, projects?: readonly Id[]): Promise<UnbilledExpenses[]> {
  const match = {
    account_id: storedId(accountId),
    ...UNBILLED_EXPENSES,
    ...(projects ? { project_id: { $in: projects.map(storedId) } } : {}),
  };
  const sums = await driverOf(Expense)
    .aggregate<{ _id: { project: StoredId; currency: string }; expenses: number; amount: number; oldest: string }>(
      [
        { $match: match },
        {
          $group: {
            _id: { project: '$project_id', currency: '$currency' },
            expenses: { $sum: 1 },
            amount: { $sum: '$billed_amount' },
            oldest: { $min: '$date' },
          },
        },
      ],
      { hint: UNBILLED_EXPENSES_INDEX, maxTimeMS: LIST_LIMIT_MS },
    )
    .toArray();
  return sums.map(({ _id, expenses, amount, oldest }) => ({
    projectId: String(_id.project),
    currency: _id.currency,
    expenses,
    expenseAmount: amount,
    oldest,
  }));
}

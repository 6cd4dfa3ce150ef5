// Sums of the expenses that could be billed, by project and currency.
import type { OwnReader } from '#libs/models/own-snapshot.ts';
import type { Id, StoredId } from '#libs/models/tenant.ts';
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

interface Sum {
  _id: { project: StoredId; currency: string };
  expenses: number;
  amount: number;
  oldest: string;
}

/** @param only a filter besides. */
export async function unbilledExpenses(reader: OwnReader, only: object): Promise<UnbilledExpenses[]> {
  const group = {
    _id: { project: '$project_id', currency: '$currency' },
    expenses: { $sum: 1 },
    amount: { $sum: '$billed_amount' },
    oldest: { $min: '$date' },
  };
  const sums = await reader.aggregate<Sum>(
    Expense,
    { ...UNBILLED_EXPENSES, ...only },
    {
      stages: [{ $group: group }],
      hint: UNBILLED_EXPENSES_INDEX,
    },
  );
  return sums.map(({ _id, expenses, amount, oldest }) => ({
    projectId: String(_id.project),
    currency: _id.currency,
    expenses,
    expenseAmount: amount,
    oldest,
  }));
}

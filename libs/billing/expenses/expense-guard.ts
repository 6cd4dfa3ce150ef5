// Guards expenses that are billed or settled: every way to bill, change or delete one passes one of these.
import { appError } from '../../errors.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { findOwn } from '../../models/records.ts';
import type { ExpenseRecord } from '../../models/time/expense.ts';
import type { ProjectRecord } from '../../models/time/project.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { EXPENSES, requireUnbilled } from '../work/work-records.ts';

type Guarded = Pick<ExpenseRecord, 'invoice_id' | 'settled'>;

/** Fields that are not printed. They may change while the expense is on an invoice, even an issued one. */
const FREE_ON_INVOICE: readonly string[] = ['receipt'];

/** Checks that the expense can be put on an invoice. @throws AppError 409 with the reason. */
export async function requireBillableExpense(
  expense: Guarded & Pick<ExpenseRecord, 'billable'>,
  project: Pick<ProjectRecord, 'billing'> | undefined,
  where: Pick<UnitOfWork, 'accountId' | 'session'>,
): Promise<void> {
  await requireUnbilled(EXPENSES, expense, where);
  if (!expense.billable || project?.billing === 'none') throw appError('expense_not_billable');
}

/**
 * Checks that the expense may be changed.
 * @param changed the fields with new values. Absent for a deletion.
 * @throws AppError 409 when the expense is on an invoice, or settled.
 */
export async function requireFreeExpense(
  expense: Guarded,
  { accountId, session }: Pick<UnitOfWork, 'accountId' | 'session'>,
  changed?: readonly string[],
): Promise<void> {
  if (expense.settled) throw appError('expense_settled');
  const invoice = expense.invoice_id && (await findOwn(Invoice, accountId, expense.invoice_id, session));
  if (!invoice) return;
  if (changed?.every((name) => FREE_ON_INVOICE.includes(name))) return;
  if (invoice.status !== 'Draft') throw appError('expense_issued');
  const number = printedNumber('invoice', invoice);
  throw appError('expense_on_draft', { number });
}

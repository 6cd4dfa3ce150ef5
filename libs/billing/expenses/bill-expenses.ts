// Links expenses to an invoice and releases them again, exactly like time: the update that links one requires that it
// is on none.
import { appError } from '../../errors.ts';
import { clientsOf } from '../../models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '../../models/billing/invoice.ts';
import { findAllOwn, readAll } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { type ExpenseRecord, type ExpenseState, expenseView } from '../../models/time/expense.ts';
import { Project, type ProjectRecord } from '../../models/time/project.ts';
import type { Session } from '../../mongo/connection.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { cutToLine, writtenDay } from '../../rules/documents/line-wording.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { embeddedInvoice } from '../time/time-context.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { changeWork, EXPENSES, workOn } from '../work/work-records.ts';

/** Returns the one line of an expense. */
export function expenseItem(expense: ExpenseRecord, locale: string): LineItem {
  const { date, description, billed_amount, currency } = expense;
  const text = cutToLine(`${writtenDay(date, locale)}: ${description}`);
  const tax_rate = expense.tax_rate ?? undefined;
  return lineItem({ description: text, qty: '1', rate: fromMinor(billed_amount, currency), discount: '0', tax_rate });
}

/**
 * Puts the expenses on the invoice and announces each. Begins the transaction again when one of them is no longer free.
 */
export async function claimExpenses(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id'>,
  expenses: readonly ExpenseRecord[],
): Promise<void> {
  if (expenses.length === 0) return;
  const set = { invoice_id: invoice._id };
  const when = { invoice_id: null, settled: null };
  const updated_at = await changeWork(EXPENSES, unit, { work: expenses, when, set });
  await announceExpenses(
    unit,
    expenses.map((expense) => ({ ...expense, ...set, updated_at })),
  );
}

/**
 * Takes expenses off the invoice and announces each. The caller writes the invoice itself.
 * @param ids all of its expenses when absent.
 * @throws AppError 409 when one of them is not on the invoice.
 */
export async function releaseExpenses(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id' | 'expenses'>,
  ids?: readonly Id[],
): Promise<ExpenseRecord[]> {
  if (!invoice.expenses && !ids) return [];
  const expenses = await workOn(EXPENSES, unit, { invoice_id: invoice._id, ids });
  if (ids && expenses.length < new Set(ids).size) throw appError('expense_not_on_invoice');
  if (expenses.length === 0) return [];
  const when = { invoice_id: invoice._id };
  const updated_at = await changeWork(EXPENSES, unit, { work: expenses, when, unset: { invoice_id: 1 } });
  const free = expenses.map(({ invoice_id: _gone, ...expense }): ExpenseRecord => ({ ...expense, updated_at }));
  await announceExpenses(unit, free);
  return free;
}

/** Writes one `expense.updated` for each expense. */
export async function announceExpenses(unit: UnitOfWork, expenses: readonly ExpenseRecord[]): Promise<void> {
  await unit.announceAll('expense.updated', await expenseViews(expenses, unit.accountId, unit.session));
}

/** Returns the form in which expenses are read, listed and announced. */
export async function expenseViews(expenses: readonly ExpenseRecord[], accountId: Id, session?: Session) {
  const idsOf = (ids: readonly (StoredId | null | undefined)[]) => ids.flatMap((id) => (id ? [String(id)] : []));
  const projectIds = idsOf(expenses.map(({ project_id }) => project_id));
  const invoiceIds = idsOf(expenses.map(({ invoice_id }) => invoice_id));
  const [projects, invoices] = await readAll(session, [
    () => findAllOwn(Project, accountId, projectIds, ['name', 'client_id', 'billing'], session),
    () => findAllOwn(Invoice, accountId, invoiceIds, ['number', 'number_text', 'status'], session),
  ] as const);
  const clientIds = [...projects.values()].map(({ client_id }) => client_id);
  const clients = await clientsOf(accountId, clientIds, session);
  return expenses.map((expense) => {
    const project = projects.get(String(expense.project_id));
    const invoice = invoices.get(String(expense.invoice_id));
    return expenseView(expense, {
      project,
      client: clients.get(String(project?.client_id)),
      invoice: expense.invoice_id ? embeddedInvoice(expense.invoice_id, invoice) : null,
      billing: expenseState(expense, { isDraft: invoice?.status === 'Draft', project }),
    });
  });
}

function expenseState(
  { invoice_id, settled, billable }: ExpenseRecord,
  { isDraft, project }: { isDraft: boolean; project: Pick<ProjectRecord, 'billing'> | undefined },
): ExpenseState {
  if (invoice_id) return isDraft ? 'on_draft' : 'billed';
  if (settled) return settled;
  return billable && project?.billing !== 'none' ? 'unbilled' : 'not_billable';
}

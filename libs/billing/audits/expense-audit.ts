// Checks that expenses are billed once, and that both ends of each link agree.
import { Invoice } from '../../models/billing/invoice.ts';
import { BILLED } from '../../models/billing/quote-invoices.ts';
import { driverOf } from '../../models/records.ts';
import { Expense } from '../../models/time/expense.ts';
import { type AuditProblem, billedTwice, problemsOf } from './audit.ts';

/** Runs the audit. @param own the account, or nothing for all. */
export async function auditExpenses(own: object): Promise<AuditProblem[]> {
  const [expenses, invoices] = [driverOf(Expense), driverOf(Invoice)];
  return [
    ...(await problemsOf(expenses, 'expense: it is on an invoice, and settled or not billable', billedTwice(own))),
    ...(await problemsOf(expenses, 'expense: it is on an invoice that does not bill it', strayExpenses(own))),
    ...(await problemsOf(invoices, 'invoice: a line bills an expense that is not on it', emptyLines(own))),
  ];
}

function strayExpenses(own: object) {
  return [
    { $match: { ...own, invoice_id: { $ne: null } } },
    {
      $lookup: {
        from: Invoice.collection.name,
        localField: 'invoice_id',
        foreignField: '_id',
        let: { account: '$account_id', expense: '$_id' },
        pipeline: [
          { $match: { $expr: { $eq: ['$account_id', '$$account'] }, ...BILLED } },
          { $match: { $expr: { $in: ['$$expense', { $ifNull: ['$expenses.lines.expense_id', []] }] } } },
          { $project: { _id: 1 } },
        ],
        as: 'invoice',
      },
    },
    { $match: { invoice: [] } },
  ];
}

/** Finds lines without their expense. Lines that were edited by hand may have lost it. */
function emptyLines(own: object) {
  return [
    { $match: { ...own, 'expenses.lines.0': { $exists: true }, 'expenses.is_edited': { $ne: true }, ...BILLED } },
    {
      $lookup: {
        from: Expense.collection.name,
        let: { account: '$account_id', invoice: '$_id' },
        pipeline: [
          {
            $match: { $expr: { $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: ['$invoice_id', '$$invoice'] }] } },
          },
          { $project: { _id: 1 } },
        ],
        as: 'billed',
      },
    },
    { $match: { $expr: { $not: { $setIsSubset: ['$expenses.lines.expense_id', '$billed._id'] } } } },
  ];
}

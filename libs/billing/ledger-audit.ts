// Checks the sums that hold between payments and invoices at any time. A row of the result is a bug or a damaged restore.
import { Invoice } from '../models/billing/invoice.ts';
import { Payment } from '../models/billing/payment.ts';
import { driverOf } from '../models/records.ts';
import { type Id, storedId } from '../models/tenant.ts';
import { type AuditProblem, problemsOf } from './audit.ts';

/** @param accountId of one account; of all unless given, for the operator. @returns at most PROBLEMS_SHOWN of each kind. */
export async function auditLedger(accountId?: Id): Promise<AuditProblem[]> {
  const own = accountId === undefined ? {} : { account_id: storedId(accountId) };
  const payments = driverOf(Payment);
  const invoices = driverOf(Invoice);
  const found = [
    ...(await problemsOf(payments, 'payment: amount is not the sum of its parts', paymentsOff(own))),
    ...(await problemsOf(invoices, 'invoice: amount_paid is not the sum of its allocations', paidOff(own))),
    ...(await problemsOf(invoices, 'invoice: status does not follow what is due', statusOff(own))),
    ...(await problemsOf(payments, 'payment: an invoice does not count it', uncounted(own))),
  ];
  return found;
}

/** What an allocation, `$$part`, pays today. */
const LIVE = {
  $cond: [
    { $eq: [{ $type: '$$part.released_on' }, 'missing'] },
    { $subtract: ['$$part.amount', '$$part.refunded'] },
    0,
  ],
};
const sumOfLive = (input: unknown) => ({ $sum: { $map: { input, as: 'part', in: LIVE } } });
const WRITTEN_OFF = { $ifNull: ['$amount_written_off', 0] };
const TOTAL = { $add: ['$amount', '$tax_amount'] };
const DUE = { $subtract: [TOTAL, { $add: ['$amount_paid', WRITTEN_OFF] }] };

function paymentsOff(own: object) {
  const parts = { $add: [sumOfLive('$allocations'), { $sum: '$refunds.amount' }, '$unallocated'] };
  const expected = { $cond: [{ $eq: ['$status', 'Voided'] }, 0, '$amount'] };
  return [{ $match: { ...own, $expr: { $or: [{ $ne: [parts, expected] }, { $lt: ['$unallocated', 0] }] } } }];
}

function paidOff(own: object) {
  const ofInvoice = {
    $filter: { input: '$allocations', as: 'part', cond: { $eq: ['$$part.invoice_id', '$$invoice'] } },
  };
  return [
    { $match: { ...own, amount_paid: { $ne: 0 } } },
    {
      $lookup: {
        from: Payment.collection.name,
        let: { invoice: '$_id', account: '$account_id' },
        localField: '_id',
        foreignField: 'allocations.invoice_id',
        pipeline: [
          { $match: { $expr: { $eq: ['$account_id', '$$account'] } } },
          { $project: { paid: sumOfLive(ofInvoice) } },
        ],
        as: 'payments',
      },
    },
    { $match: { $expr: { $ne: ['$amount_paid', { $sum: '$payments.paid' }] } } },
  ];
}

function statusOff(own: object) {
  const isOpen = { $in: ['$status', ['Sent', 'Overdue']] };
  const isPaid = { $eq: ['$status', 'Paid'] };
  const isSettled = { $and: [{ $eq: [DUE, 0] }, { $gt: [TOTAL, 0] }] };
  const wrong = [
    { $and: [isOpen, isSettled] },
    { $and: [isPaid, { $ne: [DUE, 0] }] },
    { $and: [{ $in: ['$status', ['Draft', 'Cancelled']] }, { $ne: ['$amount_paid', 0] }] },
    { $lt: [DUE, 0] },
  ];
  return [{ $match: { ...own, $expr: { $or: wrong } } }];
}

/** Money on an invoice that counts none. */
function uncounted(own: object) {
  return [
    { $match: { ...own, 'allocations.0': { $exists: true } } },
    { $unwind: { path: '$allocations' } },
    { $match: { 'allocations.released_on': { $exists: false } } },
    { $match: { $expr: { $gt: ['$allocations.amount', '$allocations.refunded'] } } },
    {
      $lookup: {
        from: Invoice.collection.name,
        localField: 'allocations.invoice_id',
        foreignField: '_id',
        pipeline: [{ $project: { amount_paid: 1, account_id: 1 } }],
        as: 'invoice',
      },
    },
    { $match: { $or: [{ invoice: [] }, { 'invoice.amount_paid': 0 }] } },
  ];
}

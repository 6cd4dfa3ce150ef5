// Checks the sums that hold between payments, credit notes and invoices at any time. A row of the result is a bug or a damaged restore.
import { CREDITED, DUE, TOTAL } from '../../models/billing/balance-expressions.ts';
import { CreditNote } from '../../models/billing/credit-note.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { Payment } from '../../models/billing/payment.ts';
import { driverOf } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { EARLY_PAYMENT } from '../../rules/money/early-payment.ts';
import { type AuditProblem, ofAccount, problemsOf } from './audit.ts';

/**
 * Runs the audit.
 * @param accountId one account, or all when absent, for the operator.
 * @returns at most PROBLEMS_SHOWN of each kind.
 */
export async function auditLedger(accountId?: Id): Promise<AuditProblem[]> {
  const own = ofAccount(accountId);
  const payments = driverOf(Payment);
  const invoices = driverOf(Invoice);
  const notes = driverOf(CreditNote);
  return [
    ...(await problemsOf(payments, 'payment: amount is not the sum of its parts', paymentsOff(own))),
    ...(await problemsOf(invoices, 'invoice: amount_paid is not the sum of its allocations', paidOff(own))),
    ...(await problemsOf(invoices, 'invoice: status does not follow what is due', statusOff(own))),
    ...(await problemsOf(
      invoices,
      'invoice: its discount is larger than agreed, or stands while it is due',
      discountOff(own),
    )),
    ...(await problemsOf(payments, 'payment: an invoice does not count it', uncounted(own))),
    ...(await problemsOf(notes, 'credit note: its total is not the sum of its parts', creditsOff(own))),
    ...(await problemsOf(notes, 'credit note: an invoice does not count it', uncounted(own))),
    ...(await problemsOf(notes, 'credit note: its invoice does not count it, or is due beside it', besideInvoice(own))),
    ...(await problemsOf(invoices, 'invoice: what was credited is not the sum of its credit notes', creditedOff(own))),
  ];
}

/** The amount that an allocation, `$$part`, pays today. */
const LIVE = {
  $cond: [
    { $eq: [{ $type: '$$part.released_on' }, 'missing'] },
    { $subtract: ['$$part.amount', { $ifNull: ['$$part.refunded', 0] }] },
    0,
  ],
};
const sumOfLive = (input: unknown) => ({ $sum: { $map: { input, as: 'part', in: LIVE } } });
const TOTAL_CREDITED = { $ifNull: ['$total_credited', 0] };

function paymentsOff(own: object) {
  const parts = { $add: [sumOfLive('$allocations'), { $sum: '$refunds.amount' }, '$unallocated'] };
  const expected = { $cond: [{ $eq: ['$status', 'Voided'] }, 0, '$amount'] };
  return [{ $match: { ...own, $expr: { $or: [{ $ne: [parts, expected] }, { $lt: ['$unallocated', 0] }] } } }];
}

/** The allocations of `$allocations` to the invoice `$$invoice`. */
const OF_INVOICE = {
  $filter: { input: '$allocations', as: 'part', cond: { $eq: ['$$part.invoice_id', '$$invoice'] } },
};

/** The records of the account `$$account`. */
const OF_ACCOUNT = { $match: { $expr: { $eq: ['$account_id', '$$account'] } } };

/** Returns a stage that looks up the amounts of an invoice in other records, each as `sum`. */
function lookup(records: { collection: { name: string } }, foreignField: string, as: string, pipeline: object[]) {
  return {
    $lookup: {
      from: records.collection.name,
      let: { invoice: '$_id', account: '$account_id' },
      localField: '_id',
      foreignField,
      pipeline: [OF_ACCOUNT, ...pipeline],
      as,
    },
  };
}

/** Compares the paid amount. Credit of the invoice's own credit notes takes off what is due; that of others pays it. */
function paidOff(own: object) {
  const sum = { $project: { sum: sumOfLive(OF_INVOICE) } };
  const isOther = { $match: { $expr: { $ne: ['$invoice_id', '$$invoice'] } } };
  const paid = { $add: [{ $sum: '$payments.sum' }, { $sum: '$credits.sum' }] };
  return [
    { $match: { ...own, amount_paid: { $ne: 0 } } },
    lookup(Payment, 'allocations.invoice_id', 'payments', [sum]),
    lookup(CreditNote, 'allocations.invoice_id', 'credits', [isOther, sum]),
    { $match: { $expr: { $ne: ['$amount_paid', paid] } } },
  ];
}

function creditedOff(own: object) {
  const sums = { $project: { sum: sumOfLive(OF_INVOICE), total: TOTAL } };
  const wrong = [
    { $ne: [CREDITED, { $sum: '$notes.sum' }] },
    { $ne: [TOTAL_CREDITED, { $sum: '$notes.total' }] },
    { $gt: [TOTAL_CREDITED, TOTAL] },
  ];
  return [
    { $match: { ...own, total_credited: { $gt: 0 } } },
    lookup(CreditNote, 'invoice_id', 'notes', [sums]),
    { $match: { $expr: { $or: wrong } } },
  ];
}

function creditsOff(own: object) {
  const parts = { $add: [sumOfLive('$allocations'), { $sum: '$refunds.amount' }, '$unallocated'] };
  return [{ $match: { ...own, $expr: { $or: [{ $ne: [parts, TOTAL] }, { $lt: ['$unallocated', 0] }] } } }];
}

/** A credit of 0 that made a part of the work billable again, for instance prepaid hours. */
const FREED_ALONE = {
  amount: 0,
  $or: [{ time_entry_ids: { $exists: true } }, { expense_ids: { $exists: true } }],
};

/**
 * Finds credit that should be on its invoice. A credit note takes off what is due of its invoice before it is credit.
 */
function besideInvoice(own: object) {
  const isOpen = { $in: ['$status', ['Sent', 'Overdue']] };
  return [
    { $match: own },
    {
      $lookup: {
        from: Invoice.collection.name,
        let: { account: '$account_id' },
        localField: 'invoice_id',
        foreignField: '_id',
        pipeline: [
          OF_ACCOUNT,
          { $match: { $or: [{ total_credited: { $gt: 0 } }, { is_reversed: true }] } },
          { $project: { due: { $cond: [isOpen, DUE, 0] } } },
        ],
        as: 'invoice',
      },
    },
    {
      $match: {
        $or: [
          { invoice: [], $nor: [FREED_ALONE] },
          { unallocated: { $gt: 0 }, 'invoice.due': { $gt: 0 } },
        ],
      },
    },
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

/** Amounts are rounded to the smallest unit, and percentages are no exact binary numbers. */
const HALF_A_UNIT = 0.500_001;

/** Finds discounts for early payment that the invoice does not give. */
function discountOff(own: object) {
  const isStanding = {
    $and: [
      { $eq: ['$$one.reason', EARLY_PAYMENT] },
      { $ne: [{ $type: '$$one.payment_id' }, 'missing'] },
      { $eq: [{ $type: '$$one.reversed_on' }, 'missing'] },
    ],
  };
  const taken = { $sum: { $map: { input: '$write_offs', as: 'one', in: { $cond: [isStanding, '$$one.amount', 0] } } } };
  const percent = { $max: '$early_payment_discounts.percent' };
  const agreed = { $divide: [{ $multiply: [{ $subtract: [TOTAL, TOTAL_CREDITED] }, percent] }, 100] };
  const isOpen = { $in: ['$status', ['Sent', 'Overdue']] };
  return [
    { $match: { ...own, 'write_offs.reason': EARLY_PAYMENT } },
    { $set: { taken } },
    {
      $match: {
        $expr: {
          $or: [
            { $gt: ['$taken', { $add: [{ $ifNull: [agreed, 0] }, HALF_A_UNIT] }] },
            { $and: [isOpen, { $gt: ['$taken', 0] }, { $gt: [DUE, 0] }] },
          ],
        },
      },
    },
  ];
}

/** Finds allocations to an invoice that the invoice does not count. */
function uncounted(own: object) {
  return [
    { $match: { ...own, 'allocations.0': { $exists: true } } },
    { $unwind: { path: '$allocations' } },
    { $match: { 'allocations.released_on': { $exists: false } } },
    { $match: { $expr: { $gt: ['$allocations.amount', { $ifNull: ['$allocations.refunded', 0] }] } } },
    {
      $lookup: {
        from: Invoice.collection.name,
        let: { account: '$account_id' },
        localField: 'allocations.invoice_id',
        foreignField: '_id',
        pipeline: [OF_ACCOUNT, { $project: { counted: { $add: ['$amount_paid', CREDITED] } } }],
        as: 'invoice',
      },
    },
    { $match: { $or: [{ invoice: [] }, { 'invoice.counted': 0 }] } },
  ];
}

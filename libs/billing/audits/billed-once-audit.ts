// Checks that time and quotes are billed once, and that both ends of each link agree. A row of the result is a bug or a
// damaged restore.
import { CreditNote } from '../../models/billing/credit-note.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { Quote } from '../../models/billing/quote.ts';
import { BILLED, GIVEN_UP } from '../../models/billing/quote-invoices.ts';
import { driverOf } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { TimeEntry } from '../../models/time/time-entry.ts';
import { REVERSING } from '../../rules/credits/credit-reasons.ts';
import { type AuditProblem, billedTwice, ofAccount, problemsOf } from './audit.ts';
import { auditExpenses } from './expense-audit.ts';
import { auditFixedAmounts } from './fixed-amount-audit.ts';
import { auditHourPackages } from './hour-package-audit.ts';

/**
 * Runs the audit.
 * @param accountId one account, or all when absent, for the operator.
 * @returns at most PROBLEMS_SHOWN of each kind.
 */
export async function auditBilledOnce(accountId?: Id): Promise<AuditProblem[]> {
  const own = ofAccount(accountId);
  const [entries, invoices, quotes] = [driverOf(TimeEntry), driverOf(Invoice), driverOf(Quote)];
  return [
    ...(await problemsOf(entries, 'time entry: it is on an invoice, and settled or not billable', billedTwice(own))),
    ...(await problemsOf(entries, 'invoice: time is billed on it that it does not bill', strayTime(own))),
    ...(await problemsOf(invoices, 'invoice: a line bills time that is not on it', emptyLines(own))),
    ...(await problemsOf(invoices, 'invoice: its claim on its quote does not follow its status', claimsOff(own))),
    ...(await problemsOf(quotes, 'quote: its invoices bill more than its amount', overbilled(own))),
    ...(await problemsOf(invoices, 'invoice: the quote that it bills is missing', lostQuotes(own))),
    ...(await auditFixedAmounts(own)),
    ...(await auditHourPackages(own)),
    ...(await auditExpenses(own)),
  ];
}

/** Returns a pipeline with one row for each invoice that entries name. */
function strayTime(own: object) {
  return [
    { $match: { ...own, invoice_id: { $ne: null } } },
    {
      $group: {
        _id: '$invoice_id',
        account_id: { $first: '$account_id' },
        accounts: { $addToSet: '$account_id' },
        lines: { $addToSet: '$billed_line' },
      },
    },
    {
      $lookup: {
        from: Invoice.collection.name,
        localField: '_id',
        foreignField: '_id',
        pipeline: [{ $match: BILLED }, { $project: { account_id: 1, lines: { $ifNull: ['$time.lines.id', []] } } }],
        as: 'invoice',
      },
    },
    { $set: { invoice: { $first: '$invoice' } } },
    {
      $match: {
        $expr: {
          $or: [
            { $eq: [{ $type: '$invoice' }, 'missing'] },
            { $ne: ['$accounts', ['$invoice.account_id']] },
            { $not: { $setIsSubset: ['$lines', '$invoice.lines'] } },
          ],
        },
      },
    },
  ];
}

/** Finds lines without their time. Lines that were edited by hand may have lost it. */
function emptyLines(own: object) {
  return [
    { $match: { ...own, 'time.lines.0': { $exists: true }, 'time.is_edited': { $ne: true }, ...BILLED } },
    {
      $lookup: {
        from: TimeEntry.collection.name,
        let: { account: '$account_id', invoice: '$_id' },
        pipeline: [
          {
            $match: { $expr: { $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: ['$invoice_id', '$$invoice'] }] } },
          },
          { $group: { _id: '$billed_line' } },
        ],
        as: 'billed',
      },
    },
    { $match: { $expr: { $not: { $setIsSubset: ['$time.lines.id', '$billed._id'] } } } },
  ];
}

function claimsOff(own: object) {
  const isWhole = { quote_id: { $exists: true }, quote_part: { $in: ['full', 'final'] } };
  return [
    {
      $match: {
        ...own,
        $or: [
          {
            ...isWhole,
            status: { $ne: 'Cancelled' },
            is_reversed: { $exists: false },
            $expr: { $ne: ['$quote_claim', '$quote_id'] },
          },
          { quote_claim: { $exists: true }, status: 'Cancelled', $nor: [GIVEN_UP] },
          { quote_claim: { $exists: true }, is_reversed: { $exists: true } },
          { quote_claim: { $exists: true }, quote_part: { $nin: ['full', 'final'] } },
        ],
      },
    },
  ];
}

/** The sum that parts add up to, see agreedSum. */
const AGREED = { $add: ['$amount', { $cond: ['$prices_include_tax', '$tax_amount', 0] }] };

/** The amounts of an invoice that were cancelled or corrected, which can be billed again. */
const CORRECTIONS = {
  $lookup: {
    from: CreditNote.collection.name,
    localField: '_id',
    foreignField: 'invoice_id',
    let: { account: '$account_id' },
    pipeline: [
      { $match: { $expr: { $eq: ['$account_id', '$$account'] }, reason: { $in: REVERSING } } },
      { $project: { sum: AGREED } },
    ],
    as: 'corrections',
  },
};

/**
 * Finds quotes that are billed beyond their sum. An invoice in full has an amount of its own, because it may be changed
 * while it is a draft.
 */
function overbilled(own: object) {
  return [
    { $match: { ...own, converted_at: { $exists: true } } },
    {
      $lookup: {
        from: Invoice.collection.name,
        let: { account: '$account_id', quote: '$_id' },
        pipeline: [
          {
            $match: {
              $expr: { $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: ['$quote_id', '$$quote'] }] },
              quote_id: { $exists: true },
              quote_part: { $ne: 'full' },
            },
          },
          { $match: BILLED },
          CORRECTIONS,
          { $group: { _id: null, sum: { $sum: { $subtract: [AGREED, { $sum: '$corrections.sum' }] } } } },
        ],
        as: 'billed',
      },
    },
    { $match: { $expr: { $gt: [{ $first: '$billed.sum' }, AGREED] } } },
  ];
}

function lostQuotes(own: object) {
  return [
    { $match: { ...own, quote_id: { $exists: true }, ...BILLED } },
    {
      $lookup: {
        from: Quote.collection.name,
        localField: 'quote_id',
        foreignField: '_id',
        let: { account: '$account_id' },
        pipeline: [{ $match: { $expr: { $eq: ['$account_id', '$$account'] } } }, { $project: { _id: 1 } }],
        as: 'quote',
      },
    },
    { $match: { quote: [] } },
  ];
}

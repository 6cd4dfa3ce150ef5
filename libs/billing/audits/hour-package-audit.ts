// Checks that no hour package is overdrawn, and that all drawdowns are on invoices that count.
import { Invoice } from '../../models/billing/invoice.ts';
import { BILLED } from '../../models/billing/quote-invoices.ts';
import { driverOf } from '../../models/records.ts';
import { HourDrawdown } from '../../models/time/hour-drawdown.ts';
import { HourPackage } from '../../models/time/hour-package.ts';
import { type AuditProblem, problemsOf } from './audit.ts';

/** Runs the audit. @param own the account, or nothing for all. */
export async function auditHourPackages(own: object): Promise<AuditProblem[]> {
  const [packages, drawdowns] = [driverOf(HourPackage), driverOf(HourDrawdown)];
  return [
    ...(await problemsOf(packages, 'hour package: more hours are drawn than it has', overdrawn(own))),
    ...(await problemsOf(packages, 'hour package: its drawdowns are other hours than it says', unlikeDrawdowns(own))),
    ...(await problemsOf(drawdowns, 'drawdown: it draws from a package that is missing', lostPackages(own))),
    ...(await problemsOf(drawdowns, 'drawdown: its invoice draws nothing', strayDrawdowns(own))),
  ];
}

function overdrawn(own: object) {
  const isOutside = { $or: [{ $gt: ['$drawn_seconds', '$seconds'] }, { $lt: ['$drawn_seconds', 0] }] };
  return [{ $match: { ...own, $expr: isOutside } }];
}

function unlikeDrawdowns(own: object) {
  return [
    { $match: own },
    {
      $lookup: {
        from: HourDrawdown.collection.name,
        let: { account: '$account_id', package: '$_id' },
        pipeline: [
          {
            $match: { $expr: { $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: ['$package_id', '$$package'] }] } },
          },
          { $group: { _id: null, sum: { $sum: '$seconds' } } },
        ],
        as: 'drawn',
      },
    },
    { $match: { $expr: { $ne: [{ $ifNull: [{ $first: '$drawn.sum' }, 0] }, '$drawn_seconds'] } } },
  ];
}

function lostPackages(own: object) {
  return [
    { $match: own },
    {
      $lookup: {
        from: HourPackage.collection.name,
        localField: 'package_id',
        foreignField: '_id',
        let: { account: '$account_id' },
        pipeline: [{ $match: { $expr: { $eq: ['$account_id', '$$account'] } } }, { $project: { _id: 1 } }],
        as: 'package',
      },
    },
    { $match: { package: [] } },
  ];
}

function strayDrawdowns(own: object) {
  return [
    { $match: own },
    {
      $lookup: {
        from: Invoice.collection.name,
        localField: 'invoice_id',
        foreignField: '_id',
        let: { account: '$account_id', line: '$line' },
        pipeline: [
          {
            $match: { $expr: { $eq: ['$account_id', '$$account'] }, ...BILLED },
          },
          { $match: { $expr: { $in: ['$$line', { $ifNull: ['$time.prepaid.line', []] }] } } },
          { $project: { _id: 1 } },
        ],
        as: 'invoice',
      },
    },
    { $match: { invoice: [] } },
  ];
}

// Checks that the billed amount in a project equals the sum of its invoices, and never exceeds its fixed amount.
import { Invoice } from '../../models/billing/invoice.ts';
import { BILLED } from '../../models/billing/quote-invoices.ts';
import { driverOf } from '../../models/records.ts';
import { Project } from '../../models/time/project.ts';
import { type AuditProblem, problemsOf } from './audit.ts';

/** Runs the audit. @param own the account, or nothing for all. */
export async function auditFixedAmounts(own: object): Promise<AuditProblem[]> {
  const projects = driverOf(Project);
  return [
    ...(await problemsOf(projects, 'project: more than its fixed amount is billed', overbilled(own))),
    ...(await problemsOf(projects, 'project: its invoices bill another part of its fixed amount', unlikeInvoices(own))),
    ...(await problemsOf(driverOf(Invoice), 'invoice: it bills a fixed amount of no project', strayParts(own))),
  ];
}

function overbilled(own: object) {
  return [{ $match: { ...own, fixed_billed: { $exists: true }, $expr: { $gt: ['$fixed_billed', '$fixed_amount'] } } }];
}

const CORRECTED = { $ifNull: ['$fixed_part.corrected', 0] };

function unlikeInvoices(own: object) {
  return [
    { $match: { ...own, fixed_billed: { $exists: true } } },
    {
      $lookup: {
        from: Invoice.collection.name,
        let: { account: '$account_id', project: '$_id' },
        pipeline: [
          {
            $match: {
              $expr: {
                $and: [{ $eq: ['$account_id', '$$account'] }, { $eq: ['$fixed_part.project_id', '$$project'] }],
              },
              fixed_part: { $exists: true },
            },
          },
          { $match: BILLED },
          { $group: { _id: null, sum: { $sum: { $subtract: ['$fixed_part.amount', CORRECTED] } } } },
        ],
        as: 'billed',
      },
    },
    { $match: { $expr: { $ne: [{ $ifNull: [{ $first: '$billed.sum' }, 0] }, '$fixed_billed'] } } },
  ];
}

function strayParts(own: object) {
  return [
    { $match: { ...own, fixed_part: { $exists: true } } },
    {
      $lookup: {
        from: Project.collection.name,
        localField: 'fixed_part.project_id',
        foreignField: '_id',
        let: { account: '$account_id' },
        pipeline: [
          { $match: { $expr: { $eq: ['$account_id', '$$account'] }, fixed_billed: { $exists: true } } },
          { $project: { _id: 1 } },
        ],
        as: 'project',
      },
    },
    { $match: { project: [] } },
  ];
}

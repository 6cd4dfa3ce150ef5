// Finds the rows of the overview of unbilled work: a page of projects and currencies, in the order of names. The database joins and sorts them,
// so that no more than the page is read, however many projects have unbilled work.
import { escapeRegExp } from 'es-toolkit/string/escapeRegExp';
import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { dayIn } from '#libs/day.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import type { OwnReader } from '#libs/models/own-snapshot.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Expense, UNBILLED_EXPENSES } from '#libs/models/time/expense.ts';
import { Project } from '#libs/models/time/project.ts';
import { TimeEntry, UNBILLED, UNBILLED_INDEX } from '#libs/models/time/time-entry.ts';

export interface UnbilledQuery {
  /** All clients unless given. */
  clientId?: Id | undefined;
  /** The member whose time is read. Expenses and fixed amounts have no member and are then left out. */
  member?: string | undefined;
  /** False when the caller may not read expenses. */
  hasExpenses: boolean;
  limit: number;
  offset: number;
}

export interface UnbilledRow {
  project: StoredId;
  currency: string;
}

/** Names are in the order of English, upper and lower case together. */
const COLLATION = { locale: 'en' } as const;

export async function unbilledRows(
  reader: OwnReader,
  account: AccountRecord,
  { clientId, member, hasExpenses, limit, offset }: UnbilledQuery,
): Promise<{ rows: UnbilledRow[]; total: number }> {
  const account_id = account._id;
  const ids = clientId === undefined ? undefined : await reader.ids(Project, { client_id: storedId(clientId) });
  const untilToday = workUntilToday(account, ids);
  // A regular expression is exact: other comparisons take two spellings of one character for the same.
  const ofMember = member === undefined ? {} : { member: { $regex: `^${escapeRegExp(member)}$` } };
  const projects = { account_id, billing: 'fixed', ...(ids ? { _id: { $in: ids } } : {}) };
  const expenses = { account_id, ...UNBILLED_EXPENSES, ...untilToday };
  const fixedAmounts = { $unionWith: { coll: Project.collection.name, pipeline: [{ $match: projects }, fixedOf] } };
  const spent = { $unionWith: { coll: Expense.collection.name, pipeline: [{ $match: expenses }, ...expensesOf] } };
  const others = hasExpenses ? [fixedAmounts, spent] : [fixedAmounts];
  const [found] = await reader.aggregate<{ page: { _id: UnbilledRow }[]; count: { total: number }[] }>(
    TimeEntry,
    { ...UNBILLED, ...untilToday, ...ofMember },
    {
      hint: UNBILLED_INDEX,
      collation: COLLATION,
      stages: [
        ...timeOf,
        ...(member === undefined ? others : []),
        ...joined(account_id, { from: Project.collection.name, by: 'project', as: 'place', fields: PLACE_FIELDS }),
        ...joined(account_id, {
          from: Client.collection.name,
          by: 'place.client_id',
          as: 'client',
          fields: CLIENT_FIELDS,
        }),
        { $set: { currency: currencyOf(currencyFor({ currency: null }, account)) } },
        { $match: BILLABLE },
        {
          $group: {
            _id: { project: '$project', currency: '$currency' },
            client: { $first: '$client.name' },
            name: { $first: '$place.name' },
          },
        },
        { $sort: { client: 1, name: 1, '_id.currency': 1, '_id.project': 1 } },
        {
          $facet: {
            page: [{ $skip: offset }, { $limit: limit }, { $project: { _id: 1 } }],
            count: [{ $count: 'total' }],
          },
        },
      ],
    },
  );
  return { rows: (found?.page ?? []).map(({ _id }) => _id), total: found?.count[0]?.total ?? 0 };
}

/** Returns the filter of work on these projects until today: an invoice without `date_to` bills the same. @param ids all projects unless given. */
export function workUntilToday({ time_zone }: Pick<AccountRecord, 'time_zone'>, ids: readonly StoredId[] | undefined) {
  return { ...(ids ? { project_id: { $in: ids } } : {}), date: { $lte: dayIn(time_zone) } };
}

const timeOf = [{ $group: { _id: '$project_id' } }, { $project: { _id: 0, project: '$_id', kind: 'time' } }];
const fixedOf = { $project: { _id: 0, project: '$_id', kind: 'fixed' } };
const expensesOf = [
  { $group: { _id: { project: '$project_id', currency: '$currency' } } },
  { $project: { _id: 0, project: '$_id.project', currency: '$_id.currency', kind: 'expense' } },
];

const PLACE_FIELDS = ['name', 'client_id', 'billing', 'currency', 'fixed_amount', 'fixed_billed'];
const CLIENT_FIELDS = ['name', 'currency'];

/** Joins the record of the account that `by` names. Rows without it are left out. */
function joined(
  account_id: StoredId,
  { from, by, as, fields }: { from: string; by: string; as: string; fields: readonly string[] },
) {
  const pipeline = [{ $match: { account_id } }, { $project: Object.fromEntries(fields.map((name) => [name, 1])) }];
  return [{ $lookup: { from, localField: by, foreignField: '_id', pipeline, as } }, { $unwind: `$${as}` }];
}

function currencyOf(standard: string) {
  const ofTime = { $ifNull: ['$client.currency', standard] };
  const unlessTime = { $cond: [{ $eq: ['$kind', 'fixed'] }, '$place.currency', '$currency'] };
  return { $cond: [{ $eq: ['$kind', 'time'] }, ofTime, unlessTime] };
}

/** Selects the same work as unbilled-time.ts: time of projects that are paid by the hour, rests of fixed amounts, and expenses. */
const BILLABLE = {
  $or: [
    { kind: 'time', 'place.billing': { $nin: ['fixed', 'none'] } },
    {
      kind: 'fixed',
      currency: { $type: 'string' },
      $expr: { $ne: [{ $ifNull: ['$place.fixed_amount', 0] }, { $ifNull: ['$place.fixed_billed', 0] }] },
    },
    { kind: 'expense', 'place.billing': { $ne: 'none' } },
  ],
};

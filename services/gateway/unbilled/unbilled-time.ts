// Computes what could be billed, by client and project: time by task, as an invoice would bill it, and the rest of fixed amounts.
import { uniqBy } from 'es-toolkit/array/uniqBy';
import { currencyFor } from '#libs/billing/documents/client-terms.ts';
import { placesOf, rateNow, type UnbilledGroup, worthOf } from '#libs/billing/work/unbilled-worth.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { ClientRecord } from '#libs/models/accounts/client.ts';
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { type OwnReader, readOwnAtOnce } from '#libs/models/own-snapshot.ts';
import { type Id, type StoredId, storedId } from '#libs/models/tenant.ts';
import { leftOfFixedAmount, type ProjectRecord } from '#libs/models/time/project.ts';
import { Task } from '#libs/models/time/task.ts';
import { TimeEntry, UNBILLED, UNBILLED_INDEX } from '#libs/models/time/time-entry.ts';
import type { TimeRounding } from '#libs/rules/time/time-rounding.ts';
import { type UnbilledExpenses, unbilledExpenses } from './unbilled-expenses.ts';
import { type UnbilledQuery, unbilledRows, workUntilToday } from './unbilled-rows.ts';

/** The time of one row. It is empty where a fixed amount covers the time. */
export interface UnbilledProject {
  client: ClientRecord;
  project: ProjectRecord;
  currency: string;
  entries: number;
  seconds: number;
  billedSeconds: number;
  /** In the smallest unit, without the time that has no rate. */
  amount: number;
  oldestDate: string | null;
  withoutRate: number;
  expenses: number;
  /** In the smallest unit, with markup. */
  expenseAmount: number;
}

/** Reads everything at one instant. @returns a page of rows by the names of client and project, and how many there are. */
export async function unbilledTime(account: AccountRecord, query: UnbilledQuery) {
  const { member, hasExpenses } = query;
  const { page, total, projects, clients, rules, groups, tasks, expenses } = await readOwnAtOnce(
    String(account._id),
    LIST_LIMIT_MS,
    async (reader) => {
      const { rows: page, total } = await unbilledRows(reader, account, query);
      const ids = uniqBy(
        page.map(({ project }) => project),
        String,
      );
      const places = await placesOf(reader, account, ids);
      const untilToday = workUntilToday(account, ids);
      const groups = await groupsOf(
        reader,
        member === undefined ? untilToday : { ...untilToday, member },
        places.rules,
      );
      const taskIds = groups.flatMap(({ _id: { task, rate } }) => (task && rate === null ? [task] : []));
      const tasks = await reader.byIds(Task, taskIds, ['rate']);
      const expenses = member === undefined && hasExpenses ? await unbilledExpenses(reader, untilToday) : [];
      return { page, total, ...places, groups, tasks, expenses };
    },
  );
  const byProject = Map.groupBy(groups, ({ _id }) => String(_id.project));
  const rows = [...projects].flatMap(([projectId, project]) => {
    const group = byProject.get(projectId);
    const client = clients.get(String(project.client_id));
    if (!client) return [];
    if (project.billing === 'fixed') return member === undefined ? leftOf(project, client) : [];
    if (!group || project.billing === 'none') return [];
    const rateOf = (time: UnbilledGroup['_id']) => rateNow(time, { account, client, project, tasks });
    const currency = currencyFor(client, account);
    return [
      {
        client,
        project,
        currency,
        ...NO_EXPENSES,
        ...worthOf(group, { rule: rules.get(projectId) ?? null, currency, rateOf }),
      },
    ];
  });
  const all = withExpenses(rows, expenses, { projects, clients });
  return { rows: page.flatMap((row) => all.get(keyOf(row.project, row.currency)) ?? []), total };
}

function keyOf(project: StoredId | Id, currency: string): string {
  return `${String(project)} ${currency}`;
}

const SETTLED = { $ifNull: ['$rate', '$hourly_rate', null] };

/** Groups by day or entry only where a rule rounds them. @param filter besides. */
async function groupsOf(
  reader: OwnReader,
  filter: object,
  rules: ReadonlyMap<string, TimeRounding | null>,
): Promise<UnbilledGroup[]> {
  const roundedBy = (scope: TimeRounding['scope']) =>
    [...rules].filter(([, rule]) => rule?.scope === scope).map(([id]) => storedId(id));
  const [byLine, byDay, byEntry] = [roundedBy('line'), roundedBy('day'), roundedBy('entry')];
  const isIn = (ids: StoredId[]) => ({ $in: ['$project_id', ids] });
  const only = (ids: StoredId[], field: string | object) => ({ $cond: [isIn(ids), field, null] });
  const rounded = [...byLine, ...byDay, ...byEntry];
  // Hours with decimals are rounded by what they stand for, also in a sum.
  const isApart = { $or: [isIn(byEntry), { $and: [isIn(rounded), { $isNumber: '$hours_decimals' }] }] };
  const group = {
    _id: {
      project: '$project_id',
      task: { $ifNull: ['$task_id', null] },
      // The settled rate. An older version stored only `hourly_rate`.
      rate: SETTLED,
      // The member decides the rate only of time without a settled rate.
      member: { $cond: [{ $eq: [SETTLED, null] }, { $ifNull: ['$member', null] }, null] },
      ...(byDay.length > 0 ? { date: only(byDay, '$date') } : {}),
      ...(rounded.length > 0
        ? {
            seconds: { $cond: [isApart, '$seconds', null] },
            decimals: only(rounded, { $ifNull: ['$hours_decimals', null] }),
          }
        : {}),
    },
    entries: { $sum: 1 },
    seconds: { $sum: '$seconds' },
    oldest: { $min: '$date' },
  };
  return reader.aggregate<UnbilledGroup>(
    TimeEntry,
    { ...UNBILLED, ...filter },
    {
      stages: [{ $group: group }],
      hint: UNBILLED_INDEX,
    },
  );
}

const NO_TIME = { entries: 0, seconds: 0, billedSeconds: 0, oldestDate: null, withoutRate: 0 };
const NO_EXPENSES = { expenses: 0, expenseAmount: 0 };

/** Each sum of expenses in the row of its project and currency, or in one of its own. */
function withExpenses(
  rows: readonly UnbilledProject[],
  sums: readonly UnbilledExpenses[],
  { projects, clients }: { projects: ReadonlyMap<string, ProjectRecord>; clients: ReadonlyMap<string, ClientRecord> },
): ReadonlyMap<string, UnbilledProject> {
  const all = new Map(rows.map((row) => [keyOf(row.project._id, row.currency), row]));
  for (const { projectId, currency, oldest, ...sum } of sums) {
    const project = projects.get(projectId);
    const client = clients.get(String(project?.client_id));
    if (!project || !client || project.billing === 'none') continue;
    const row = all.get(keyOf(projectId, currency)) ?? { client, project, currency, ...NO_TIME, amount: 0 };
    const days = [row.oldestDate ?? oldest, oldest].toSorted();
    all.set(keyOf(projectId, currency), { ...row, ...sum, oldestDate: days[0] ?? null });
  }
  return all;
}

function leftOf(project: ProjectRecord, client: ClientRecord): UnbilledProject[] {
  const amount = leftOfFixedAmount(project);
  if (amount === 0 || !project.currency) return [];
  return [{ client, project, currency: project.currency, ...NO_TIME, ...NO_EXPENSES, amount }];
}

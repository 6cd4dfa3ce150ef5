// Time that no invoice bills: old time, and time that no rate makes billable.
import { uniqBy } from 'es-toolkit/array/uniqBy';
import { addDays } from '../../day.ts';
import type { StoredId } from '../../models/tenant.ts';
import { Project } from '../../models/time/project.ts';
import { Task } from '../../models/time/task.ts';
import { FORGOTTEN_TIME_INDEX, TimeEntry, type TimeEntryRecord } from '../../models/time/time-entry.ts';
import { currencyFor } from '../documents/client-terms.ts';
import { placesOf, rateNow, type UnbilledGroup, worthOf } from '../work/unbilled-worth.ts';
import { COUNTED, COUNTED_MAX, type Forgotten, type Look } from './forgotten.ts';

/** Days after which unbilled time is forgotten. */
export const UNBILLED_DAYS = 30;
/** The most projects without hourly billing whose time the query leaves out. The time of further ones is left out after it was read. */
const LEFT_OUT_MAX = 1_000;

type Entry = Pick<
  TimeEntryRecord,
  '_id' | 'project_id' | 'task_id' | 'rate' | 'hourly_rate' | 'member' | 'date' | 'seconds' | 'hours_decimals'
>;

const FIELDS = {
  project_id: 1,
  task_id: 1,
  rate: 1,
  hourly_rate: 1,
  member: 1,
  date: 1,
  seconds: 1,
  hours_decimals: 1,
} as const satisfies Partial<Record<keyof Entry, 1>>;

/** Finds time of more than UNBILLED_DAYS ago. Its worth is that of an invoice of the time by task. */
export async function unbilledTime(look: Look): Promise<Forgotten> {
  const { entries, hasMore, worthBy } = await billableTime(look, {
    date: { $lt: addDays(look.today, -UNBILLED_DAYS) },
  });
  return { records: entries.map(recordOf), hasMore, sums: worthBy(entries) };
}

/** Finds time until today for which no rate is set at any level. */
export async function timeWithoutRate(look: Look): Promise<Forgotten> {
  const { entries, hasMore, hasRate } = await billableTime(look, {
    date: { $lte: look.today },
    rate: null,
    hourly_rate: null,
  });
  return { records: entries.filter((entry) => !hasRate(entry)).map(recordOf), hasMore };
}

function recordOf({ _id, date }: Entry) {
  return { id: _id, day: date };
}

/** Reads unbilled time of projects that are paid by the hour, the oldest first. */
async function billableTime({ reader, account }: Look, only: object) {
  const unpaid = await reader.find<{ _id: StoredId }>(
    Project,
    { billing: { $in: ['fixed', 'none'] } },
    { projection: { _id: 1 }, limit: LEFT_OUT_MAX, hint: { account_id: 1, billing: 1 } },
  );
  const found = await reader.find<Entry>(
    TimeEntry,
    {
      invoice_id: null,
      settled: null,
      // Unlike `$ne`, the values leave the order to the index.
      billable: { $in: [null, true] },
      ...only,
      ...(unpaid.length > 0 ? { project_id: { $nin: unpaid.map(({ _id }) => _id) } } : {}),
    },
    { projection: FIELDS, sort: { date: 1 }, hint: FORGOTTEN_TIME_INDEX, ...COUNTED },
  );
  const projectIds = uniqBy(
    found.map(({ project_id }) => project_id),
    String,
  );
  const { projects, clients, rules } = await placesOf(reader, account, projectIds);
  const taskIds = found.flatMap((entry) => (entry.task_id && rateOf(entry) === null ? [entry.task_id] : []));
  const tasks = await reader.byIds(Task, taskIds, ['rate']);
  const placeOf = ({ project_id }: Pick<Entry, 'project_id'>) => {
    const project = projects.get(String(project_id));
    const client = clients.get(String(project?.client_id));
    return project && client ? { project, client } : undefined;
  };
  const rated = (entry: Entry) => {
    const place = placeOf(entry);
    return place && rateNow(groupOf(entry)._id, { account, tasks, ...place });
  };
  const isPaidByTheHour = (entry: Entry) => (placeOf(entry)?.project.billing ?? 'hourly') === 'hourly';
  return {
    entries: found.slice(0, COUNTED_MAX).filter(isPaidByTheHour),
    hasMore: found.length > COUNTED_MAX,
    hasRate: (entry: Entry) => rated(entry) !== undefined,
    /** Returns the worth of entries by currency. */
    worthBy(entries: readonly Entry[]): Map<string, number> {
      const sums = new Map<string, number>();
      for (const [projectId, own] of Map.groupBy(entries, ({ project_id }) => String(project_id))) {
        const place = own[0] && placeOf(own[0]);
        if (!place) continue;
        const currency = currencyFor(place.client, account);
        const { amount } = worthOf(own.map(groupOf), {
          rule: rules.get(projectId) ?? null,
          currency,
          rateOf: (time) => rateNow(time, { account, tasks, ...place }),
        });
        sums.set(currency, (sums.get(currency) ?? 0) + amount);
      }
      return sums;
    },
  };
}

/** Returns the settled rate. An older version stored only `hourly_rate`. */
function rateOf({ rate, hourly_rate }: Pick<Entry, 'rate' | 'hourly_rate'>): number | null {
  return rate ?? hourly_rate ?? null;
}

/** Returns the group of one entry. */
function groupOf(entry: Entry): UnbilledGroup {
  const { project_id, task_id, member = null, date, seconds, hours_decimals } = entry;
  return {
    _id: {
      project: project_id,
      task: task_id,
      rate: rateOf(entry),
      member,
      date,
      seconds,
      decimals: hours_decimals ?? null,
    },
    entries: 1,
    seconds,
    oldest: date,
  };
}

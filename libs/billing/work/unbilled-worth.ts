// Computes what unbilled time of a project is worth: by task and rate, as an invoice would bill it.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { AccountRecord } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import type { OwnReader } from '../../models/own-snapshot.ts';
import type { StoredId } from '../../models/tenant.ts';
import { Project, type ProjectRecord } from '../../models/time/project.ts';
import type { TaskRecord } from '../../models/time/task.ts';
import { lineNet, plainDecimal } from '../../rules/money/money.ts';
import { hourlyRate, type RateHolder, rateFor } from '../../rules/time/hourly-rate.ts';
import {
  effectiveRounding,
  hoursQuantity,
  roundedTogether,
  type TimeRounding,
  type TimeTogether,
} from '../../rules/time/time-rounding.ts';

/** Entries that no rule tells apart. */
export interface UnbilledGroup {
  _id: {
    project: StoredId;
    task: StoredId | null;
    /** The settled rate. */
    rate: number | null;
    member: string | null;
    date?: string | null;
    /** Seconds of each entry in a group of entries of the same length. Null where the sum of the group is enough. */
    seconds?: number | null;
    decimals?: number | null;
  };
  entries: number;
  seconds: number;
  oldest: string;
}

/** Reads projects with their clients and the rule by which each is rounded. */
export async function placesOf(reader: OwnReader, account: AccountRecord, ids: readonly StoredId[]) {
  const projectFields = [
    'name',
    'client_id',
    'hourly_rate',
    'member_rates',
    'rounding',
    'billing',
    'fixed_amount',
    'currency',
    'fixed_billed',
  ] as const;
  const projects = await reader.byIds(Project, ids, projectFields);
  const clientIds = [...projects.values()].map(({ client_id }) => client_id);
  const clientFields = [
    'name',
    'email',
    'company_name',
    'hourly_rate',
    'member_rates',
    'currency',
    'rounding',
  ] as const;
  const clients = await reader.byIds(Client, clientIds, clientFields);
  const general = account.rounding as TimeRounding | null | undefined;
  const rules = new Map(
    [...projects].map(([id, { rounding, client_id }]) => [
      id,
      effectiveRounding(rounding, clients.get(String(client_id))?.rounding, general),
    ]),
  );
  return { projects, clients, rules };
}

/** The levels that may set the rate of time without a settled one. */
interface Rated {
  account: AccountRecord;
  client: ClientRecord;
  project: ProjectRecord;
  tasks: ReadonlyMap<string, Pick<TaskRecord, 'rate'>>;
}

/** Returns the rate at which an invoice would bill the time now, or undefined where none is set. */
export function rateNow(
  { task, rate, member }: Pick<UnbilledGroup['_id'], 'task' | 'rate' | 'member'>,
  { account, client, project, tasks }: Rated,
): number | undefined {
  return hourlyRate({
    entry: rate,
    task: tasks.get(String(task))?.rate,
    project: rateFor(project, member),
    client: rateFor(client, member),
    account: rateFor(account as RateHolder, member),
  })?.rate;
}

interface Pricing {
  rule: TimeRounding | null;
  currency: string;
  rateOf: (group: UnbilledGroup['_id']) => number | undefined;
}

/** Returns the sums of the groups of one project. A line is a task at a rate, as on an invoice. */
export function worthOf(groups: readonly UnbilledGroup[], { rule, currency, rateOf }: Pricing) {
  const lines = Map.groupBy(groups, ({ _id }) => `${String(_id.task)} ${rateOf(_id) ?? 'none'}`);
  const priced = [...lines.values()].map((line) => {
    const billed = billedOf(line, rule);
    const rate = line[0] && rateOf(line[0]._id);
    const qty = hoursQuantity(billed);
    const net = rate === undefined ? 0 : lineNet({ qty, rate: plainDecimal(rate), discount: 0 }, currency);
    return { billed, net, without: rate === undefined ? sumBy(line, ({ entries }) => entries) : 0 };
  });
  return {
    entries: sumBy(groups, ({ entries }) => entries),
    seconds: sumBy(groups, ({ seconds }) => seconds),
    billedSeconds: sumBy(priced, ({ billed }) => billed),
    amount: sumBy(priced, ({ net }) => net),
    oldestDate: groups.map(({ oldest }) => oldest).toSorted()[0] ?? null,
    withoutRate: sumBy(priced, ({ without }) => without),
  };
}

function billedOf(line: readonly UnbilledGroup[], rule: TimeRounding | null): number {
  if (rule?.scope === 'entry') {
    return sumBy(line, (group) => group.entries * roundedTogether([{ ...togetherOf(group), entries: 1 }], rule));
  }
  const days = Map.groupBy(line, ({ _id }) => (rule?.scope === 'day' ? (_id.date ?? '') : ''));
  return sumBy([...days.values()], (day) => roundedTogether(day.map(togetherOf), rule));
}

/** Entries of any length count as one: their hours are exact. */
function togetherOf({ _id, entries, seconds }: UnbilledGroup): TimeTogether {
  if (typeof _id.seconds !== 'number') return { seconds, entries: 1 };
  return { seconds: _id.seconds, entries, decimals: _id.decimals ?? undefined };
}

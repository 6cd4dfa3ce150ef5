// Finds unbilled time of a client beside the time on an invoice. Where it comes first, its prepaid hours are reserved.
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { driverOf } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import { TimeEntry, type TimeEntryRecord, UNBILLED, UNBILLED_INDEX } from '../../models/time/time-entry.ts';
import type { LineToCover, PackageState } from '../../rules/time/prepaid-hours.ts';
import type { TimeToBill } from '../../rules/time/time-lines.ts';
import { effectiveRounding, type TimeRounding } from '../../rules/time/time-rounding.ts';
import { timeContext, timeToBill } from '../time/time-context.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { hourlyProjects } from '../work/check-selection.ts';

/** The most entries that are read, the oldest first. Later ones leave their hours to the invoice. */
const OTHERS_MAX = 10_000;

/** Returns the other time, or none when no package has hours left. @param packages of the client. */
export async function otherTime(
  { session, accountId }: UnitOfWork,
  made: readonly LineToCover[],
  { packages, client, account }: { packages: readonly PackageState[]; client: ClientRecord; account: AccountRecord },
): Promise<TimeToBill[]> {
  const entries = made.flatMap((line) => line.entries);
  const lastDay = entries
    .map(({ date }) => date)
    .toSorted()
    .at(-1);
  if (lastDay === undefined || packages.every(({ left }) => left === 0)) return [];
  const projects = await hourlyProjects({ accountId, client, session }, undefined);
  const found = (await driverOf(TimeEntry)
    .find(
      {
        account_id: storedId(accountId),
        ...UNBILLED,
        project_id: { $in: projects },
        date: { $lte: lastDay },
        _id: { $nin: entries.map(({ id }) => storedId(id)) },
      } as object,
      {
        session,
        hint: UNBILLED_INDEX,
        sort: { date: 1 },
        limit: OTHERS_MAX,
        batchSize: OTHERS_MAX + 1,
        projection: { description: 0 },
      },
    )
    .toArray()) as unknown as TimeEntryRecord[];
  const contextOf = await timeContext(found, accountId, session);
  return found.map((entry) => {
    const { project, task, rate } = contextOf(entry);
    const general = account.rounding as TimeRounding | null | undefined;
    const rounding = effectiveRounding(project?.rounding, client.rounding, general);
    return timeToBill(entry, { project, task }, { rate: rate?.rate ?? 0, rateFrom: rate?.from ?? 'none', rounding });
  });
}

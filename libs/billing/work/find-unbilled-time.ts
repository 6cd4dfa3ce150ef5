// Finds the entries to bill on an invoice: exactly the named ones, or all unbilled ones of the client that a filter
// matches.
import { appError, fieldProblem } from '../../errors.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { driverOf, findAllOwn, type Owned } from '../../models/records.ts';
import { type Id, storedId } from '../../models/tenant.ts';
import { Project } from '../../models/time/project.ts';
import { TimeEntry, type TimeEntryRecord, UNBILLED, UNBILLED_INDEX } from '../../models/time/time-entry.ts';
import { requireBillable, requireHourly } from '../time/time-guard.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { hourlyProjects, selectedTasks } from './check-selection.ts';

/** The most entries of one invoice. One transaction links them and announces each. */
export const BILLED_ENTRIES_MAX = 1_000;
const tooMany = () => appError('too_many_time_entries', { limit: BILLED_ENTRIES_MAX });
/** The most text of them. Descriptions may have 20,000 characters each, and an event has each once more. */
const TEXT_MAX_MIB = 16;
/** The entries of one response of the database, which is decoded in one turn of the event loop. */
const BATCH = 100;

export interface WantedTime {
  client: ClientRecord;
  selection: {
    /** Exactly these entries. If they are absent, the other fields select. */
    time_entry_ids?: readonly Id[] | undefined;
    project_ids?: readonly Id[] | undefined;
    task_ids?: readonly Id[] | undefined;
    /** The persons who did the work, exactly as the entries have them. */
    members?: readonly string[] | undefined;
    /** Calendar days; both belong to the range. */
    date_from?: string | undefined;
    date_to: string;
  };
  /** The most entries. */
  most: number;
  /** True to take the oldest where there are more. Otherwise more are an error. */
  takesOldest?: boolean | undefined;
}

/**
 * Reads the entries in the transaction.
 * @throws AppError 404, 400 or 409 with the reason why the selection cannot be billed.
 */
export async function findUnbilledTime(unit: UnitOfWork, wanted: WantedTime): Promise<TimeEntryRecord[]> {
  const ids = wanted.selection.time_entry_ids;
  return ids ? namedEntries(unit, ids, wanted) : unbilledEntries(unit, wanted);
}

async function namedEntries({ session, accountId }: UnitOfWork, ids: readonly Id[], { client, most }: WantedTime) {
  if (ids.length > most) throw tooMany();
  const records = await readEntries(
    driverOf(TimeEntry).find(
      { account_id: storedId(accountId), _id: { $in: ids.map(storedId) } },
      { session, batchSize: BATCH },
    ),
    most,
  );
  if (records.length < new Set(ids).size) throw appError('time_entry_not_found');
  for (const record of records) await requireBillable(record, accountId, session);
  const projects = await findAllOwn(
    Project,
    accountId,
    records.map(({ project_id }) => String(project_id)),
    ['client_id', 'billing'],
    session,
  );
  for (const { billing } of projects.values()) requireHourly(billing);
  if ([...projects.values()].some(({ client_id }) => !client_id.equals(client._id))) {
    throw fieldProblem('time_entry_ids', 'time_of_other_client');
  }
  return records;
}

async function unbilledEntries({ session, accountId }: UnitOfWork, wanted: WantedTime) {
  const { client, selection, most, takesOldest } = wanted;
  const { project_ids, task_ids, members, date_from, date_to } = selection;
  const account_id = storedId(accountId);
  const selecting = { accountId, client, session };
  const projects = await hourlyProjects(selecting, project_ids);
  const tasks = task_ids && (await selectedTasks(selecting, task_ids, projects));
  return readEntries(
    driverOf(TimeEntry).find(
      {
        account_id,
        ...UNBILLED,
        project_id: { $in: projects },
        date: { ...(date_from ? { $gte: date_from } : {}), $lte: date_to },
        ...(tasks ? { task_id: { $in: tasks.map(({ _id }) => _id) } } : {}),
        ...(members ? { member: { $in: members } } : {}),
      } as object,
      // One more entry shows that there are too many. The others are never counted.
      {
        session,
        limit: takesOldest ? most : most + 1,
        batchSize: BATCH,
        hint: UNBILLED_INDEX,
        ...(takesOldest ? { sort: { date: 1, _id: 1 } } : {}),
      },
    ),
    most,
  );
}

async function readEntries(cursor: AsyncIterable<Owned>, most: number): Promise<TimeEntryRecord[]> {
  const records: TimeEntryRecord[] = [];
  let bytes = 0;
  // Leaving the loop closes the cursor.
  for await (const record of cursor as AsyncIterable<TimeEntryRecord>) {
    records.push(record);
    bytes += Buffer.byteLength(record.description ?? '');
    if (records.length > most) throw tooMany();
    if (bytes > TEXT_MAX_MIB * 1024 * 1024) {
      throw appError('time_entry_texts_too_large', { limit_mib: TEXT_MAX_MIB });
    }
  }
  return records;
}

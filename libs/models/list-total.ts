// Returns the total of a list: from the account's counter where it has the number, else from a count along an index.
import type { Session } from '../mongo/connection.ts';
import { inSnapshot } from '../mongo/snapshot.ts';
import { Counter } from './counter.ts';
import type { Filter } from './keyset.ts';
import { coveringHint, hintFor, type Listing } from './list-indexes.ts';
import { countName, type RecordCounts } from './record-counts.ts';
import { driverOf, type Owned, type Records } from './records.ts';
import type { KeptTotal, StatusFilter } from './status-filter.ts';
import type { StoredId } from './tenant.ts';

/** The time limit of a list, so that it does not run on in the database after its caller has disconnected. */
export const LIST_LIMIT_MS = 5_000;

interface Total {
  /** The filter of the list, without the status. */
  filter: Filter;
  status: StatusFilter | undefined;
  /** The index of the page. A count uses it when no other index serves better. */
  hint: Record<string, 1>;
}

/** Returns the number of records that match, whatever the page. */
export async function listTotal(
  model: Records<Owned>,
  listing: Listing,
  { filter, status, hint }: Total,
): Promise<number> {
  const isKept = model.countedBy !== undefined && Object.keys(filter).length === 1 && (!status || status.kept);
  const kept = isKept ? await keptTotal(model, listing, filter['account_id'] as StoredId, status?.kept) : undefined;
  if (kept !== undefined) return kept;
  const counted = { ...filter, ...status?.counted };
  return countAlong(coveringHint(listing, counted) ?? hint, model, counted);
}

const ALL: KeptTotal = { isCounted: () => true };

/** Returns the total from the counter. @returns undefined for an account without counts. */
async function keptTotal(
  model: Records<Owned>,
  listing: Listing,
  account_id: StoredId,
  { isCounted, correction }: KeptTotal = ALL,
): Promise<number | undefined> {
  if (!correction) return sumOf(await readCounts(account_id), model, isCounted);
  const filter = { account_id, ...correction.records };
  // A snapshot reads both at the same instant. Otherwise a record that changes in between would be counted twice, or
  // not at all.
  return inSnapshot(async (session) => {
    const sum = sumOf(await readCounts(account_id, session), model, isCounted);
    if (sum === undefined) return undefined;
    const [found] = await driverOf(model)
      .aggregate<{ n: number }>([{ $match: filter }, { $count: 'n' }], {
        session,
        readConcern: { level: 'snapshot' },
        maxTimeMS: LIST_LIMIT_MS,
        hint: coveringHint(listing, filter) ?? hintFor(listing, filter, '_id'),
      })
      .toArray();
    return sum + correction.by * (found?.n ?? 0);
  });
}

async function readCounts(account_id: StoredId, session?: Session): Promise<RecordCounts | undefined> {
  const counter = await Counter.collection.findOne(
    { _id: account_id as never },
    {
      projection: { counts: 1 },
      maxTimeMS: LIST_LIMIT_MS,
      ...(session ? { session, readConcern: { level: 'snapshot' } } : {}),
    },
  );
  return counter?.['counts'] as RecordCounts | undefined;
}

function sumOf(counts: RecordCounts | undefined, model: Records<Owned>, isCounted: KeptTotal['isCounted']) {
  if (!counts) return undefined;
  const lead = countName(model, '');
  return Object.entries(counts).reduce(
    (sum, [name, count]) => (name.startsWith(lead) && isCounted(name.slice(lead.length)) ? sum + count : sum),
    0,
  );
}

/**
 * Counts the records that match. The command `count` counts index keys, which is several times cheaper than the
 * pipeline of countDocuments.
 */
export async function countAlong(
  hint: object,
  model: Pick<Records<Owned>, 'db' | 'collection'>,
  filter: object,
): Promise<number> {
  const { db } = model.db;
  if (!db) throw new Error('not connected');
  const { n } = await db.command({
    count: model.collection.name,
    query: filter,
    readConcern: { level: 'majority' },
    maxTimeMS: LIST_LIMIT_MS,
    hint,
  });
  return n as number;
}

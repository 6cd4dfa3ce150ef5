// Removes many of an account's records in one transaction, within a limit.
import type { Session } from '../mongo/connection.ts';
import { countChange } from './record-counts.ts';
import { driverOf, type Owned, type Records } from './records.ts';
import { countStored, sizeOf } from './stored-bytes.ts';
import { type Id, storedId } from './tenant.ts';

/** The most records that one transaction removes along with another record. */
export const REMOVED_MAX = 5_000;
export const REMOVED_MAX_MIB = 16;
const BATCH = 200;

/**
 * True when more records match than one transaction should remove. It would block all other writes of the account, and
 * fill the database's cache.
 */
export async function isTooMuchToRemove<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  filter: Partial<Stored>,
  session: Session,
): Promise<boolean> {
  const [sum] = await driverOf(records)
    .aggregate<{ count: number; bytes: number }>(
      [
        { $match: { account_id: storedId(accountId), ...filter } },
        { $limit: REMOVED_MAX + 1 },
        { $group: { _id: null, count: { $sum: 1 }, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ],
      { session, hint: alongIds(filter) },
    )
    .toArray();
  return sum !== undefined && (sum.count > REMOVED_MAX || sum.bytes > REMOVED_MAX_MIB * 1024 * 1024);
}

/**
 * Removes all the account's records that match, oldest first. They may be large together, so it works in batches.
 * @param filter fields that the listing of these records has a filter for.
 * @param announce gets each batch before the next is read.
 */
export async function removeAllWith<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  filter: Partial<Stored>,
  session: Session,
  announce: (batch: readonly Stored[]) => Promise<void>,
): Promise<void> {
  const account_id = storedId(accountId);
  for (;;) {
    const batch = await driverOf(records)
      .find(
        { account_id, ...(filter as object) },
        { session, sort: { _id: 1 }, limit: BATCH, batchSize: BATCH + 1, hint: alongIds(filter) },
      )
      .toArray();
    if (batch.length === 0) return;
    await removeBatch(records, accountId, batch as unknown as Stored[], session);
    await announce(batch as unknown as Stored[]);
  }
}

/** Removes these records of the account. They must be few enough for one command. */
export async function removeBatch<Stored extends Owned>(
  records: Records<Stored>,
  accountId: Id,
  batch: readonly Stored[],
  session: Session,
): Promise<void> {
  const wanted = { account_id: storedId(accountId), _id: { $in: batch.map(({ _id }) => _id) } };
  await driverOf(records).deleteMany(wanted, { session });
  for (const record of batch) {
    countChange(session, records, record, undefined);
    countStored(session, -sizeOf(record));
  }
}

/** Returns the index of a listing that finds by `filter` and yields the oldest first, see listing.ts. */
function alongIds(filter: object): Record<string, 1> {
  return { account_id: 1, ...Object.fromEntries(Object.keys(filter).map((name) => [name, 1] as const)), _id: 1 };
}

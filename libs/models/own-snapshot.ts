// Reads of an account's records that all see them as they were at one instant.
import type { mongo } from 'mongoose';
import { inSnapshot } from '../mongo/snapshot.ts';
import { driverOf } from './records.ts';
import { type Id, storedId } from './tenant.ts';

export type ReadOwn = <Stored>(
  records: Parameters<typeof driverOf>[0],
  filter: object,
  options?: mongo.FindOptions,
) => Promise<Stored[]>;

/** @param limitMs of each read. @param reads one after the other. */
export function readOwnAtOnce<Result>(
  accountId: Id,
  limitMs: number,
  reads: (read: ReadOwn) => Promise<Result>,
): Promise<Result> {
  const account_id = storedId(accountId);
  return inSnapshot((session) =>
    reads(async <Stored>(...[records, filter, options]: Parameters<ReadOwn>) => {
      const found = await driverOf(records)
        .find({ account_id, ...filter } as object, {
          ...options,
          session,
          readConcern: { level: 'snapshot' },
          maxTimeMS: limitMs,
        })
        .toArray();
      return found as unknown as Stored[];
    }),
  );
}

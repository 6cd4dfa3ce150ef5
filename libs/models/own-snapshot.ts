// Reads records of an account as of one instant.
import type { mongo } from 'mongoose';
import { inSnapshot } from '../mongo/snapshot.ts';
import { driverOf, findAllOwnWith, findIds, type Owned, type Records } from './records.ts';
import { type Id, type StoredId, storedId } from './tenant.ts';

type OwnRecords = Parameters<typeof driverOf>[0];

/** Reads of the account's records. Every method takes only records of the account. */
export interface OwnReader {
  find<Stored>(records: OwnRecords, filter: object, options?: mongo.FindOptions): Promise<Stored[]>;
  /** Yields the records one after the other, for more than should be in memory at a time. */
  each<Stored>(records: OwnRecords, filter: object, options: mongo.FindOptions): AsyncIterable<Stored>;
  /** Returns the records by their ids. Unknown and foreign ids are left out. */
  byIds<Stored extends Owned>(
    records: Records<Stored>,
    ids: readonly StoredId[],
    fields: readonly (keyof Stored & string)[],
  ): Promise<Map<string, Stored>>;
  /** Returns the ids of the records that match. */
  ids(records: OwnRecords, filter: object): Promise<StoredId[]>;
  /** Runs a pipeline over the records that the filter matches. @param how.hint an index. @param how.collation compares bytes unless given. */
  aggregate<Row extends mongo.Document>(
    records: OwnRecords,
    filter: object,
    how: { stages: mongo.Document[]; hint: mongo.Hint; collation?: mongo.CollationOptions },
  ): Promise<Row[]>;
}

/** Runs `reads` in a snapshot. @param limitMs of each read. @param reads one after the other. */
export function readOwnAtOnce<Result>(
  accountId: Id,
  limitMs: number,
  reads: (reader: OwnReader) => Promise<Result>,
): Promise<Result> {
  const own = (filter: object): object => ({ ...filter, account_id: storedId(accountId) });
  return inSnapshot((session) => {
    const options = { session, readConcern: { level: 'snapshot' }, maxTimeMS: limitMs } as const;
    return reads({
      async find<Stored>(records: OwnRecords, filter: object, more?: mongo.FindOptions) {
        const found = await driverOf(records)
          .find(own(filter), { ...more, ...options })
          .toArray();
        return found as unknown as Stored[];
      },
      each: <Stored>(records: OwnRecords, filter: object, more: mongo.FindOptions) =>
        driverOf(records).find(own(filter), { ...more, ...options }) as unknown as AsyncIterable<Stored>,
      byIds: (records, ids, fields) => findAllOwnWith(options, records, accountId, ids.map(String), fields),
      ids: (records, filter) => findIds(records, own(filter), options),
      async aggregate<Row extends mongo.Document>(
        records: OwnRecords,
        filter: object,
        { stages, hint, collation }: { stages: mongo.Document[]; hint: mongo.Hint; collation?: mongo.CollationOptions },
      ) {
        return driverOf(records)
          .aggregate<Row>([{ $match: own(filter) }, ...stages], {
            ...options,
            hint,
            ...(collation ? { collation } : {}),
          })
          .toArray();
      },
    });
  });
}

// Reads the storage of each account from its counter and its batches, without reading records.
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { Counter } from '#libs/models/counter.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { driverOf } from '#libs/models/records.ts';

export interface AccountStorage {
  id: string;
  name: string;
  /** The bytes of records and events, see stored-bytes.ts. */
  recordBytes: number;
  /** The bytes of printed files. */
  fileBytes: number;
}

/** Reads the storage of all accounts, the largest first. */
export async function readStorage(): Promise<AccountStorage[]> {
  const [accounts, records, files] = await Promise.all([
    Account.find({}, { name: 1 }).lean<Pick<AccountRecord, '_id' | 'name'>[]>(),
    Counter.find({}, { stored_bytes: 1 }).lean<{ _id: unknown; stored_bytes?: number }[]>(),
    driverOf(DocumentBatch)
      .aggregate<{ _id: unknown; sum: number }>([{ $group: { _id: '$account_id', sum: { $sum: '$file_bytes' } } }])
      .toArray(),
  ]);
  const recordsOf = new Map(records.map(({ _id, stored_bytes }) => [String(_id), Math.max(0, stored_bytes ?? 0)]));
  const filesOf = new Map(files.map(({ _id, sum }) => [String(_id), sum]));
  return accounts
    .map(({ _id, name }) => {
      const id = String(_id);
      return { id, name, recordBytes: recordsOf.get(id) ?? 0, fileBytes: filesOf.get(id) ?? 0 };
    })
    .toSorted((one, other) => other.recordBytes + other.fileBytes - one.recordBytes - one.fileBytes);
}

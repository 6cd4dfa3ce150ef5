// The PDF of one document of a batch, kept until the batch expires.
import { sumBy } from 'es-toolkit/math/sumBy';
import { Schema } from 'mongoose';
import { appError } from '../../errors.ts';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { Account } from '../accounts/account.ts';
import { readInTurn } from '../read-in-turn.ts';
import { driverOf, recordsOf } from '../records.ts';
import { inMebibytes } from '../stored-bytes.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';
import { type BatchRecord, DocumentBatch } from './document-batch.ts';

/** The largest file that is kept. A record of MongoDB may have 16 MiB. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024;

export interface BatchFileRecord {
  _id: StoredId;
  account_id: StoredId;
  batch_id: StoredId;
  /** The place of the document in the batch, from 0. */
  index: number;
  bytes: Buffer;
  size_bytes: number;
  created_at: Date;
  expires_at: Date;
}

const fileSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    batch_id: requiredIdField,
    index: { type: Number, required: true },
    bytes: { type: Buffer, required: true },
    size_bytes: { type: Number, required: true },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'batch_files' },
);
fileSchema.plugin(tenant);
fileSchema.index({ account_id: 1, batch_id: 1, index: 1 }, { unique: true });
fileSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

export const BatchFile = recordsOf<BatchFileRecord>('BatchFile', fileSchema);

type Whose = Pick<BatchRecord, '_id' | 'account_id'>;

const filesOf = ({ _id, account_id }: Whose) => ({ account_id, batch_id: _id });

/**
 * Keeps the PDF of the document at `index` while the batch exists and the lease is held. A second call replaces the
 * file.
 * @param maxBytes of all files of the account. The bound is exact, even when several gateways keep files of the account
 * at once.
 * @throws AppError 409 that names the sum and the bound.
 */
export async function keepFile(
  batch: BatchRecord,
  index: number,
  bytes: Buffer,
  { maxBytes, now = new Date() }: { maxBytes?: number | undefined; now?: Date } = {},
) {
  const { _id, account_id, lease_id = null } = batch;
  const file = { bytes, size_bytes: bytes.length, created_at: now, expires_at: batch.expires_at };
  await inTransaction(async (session) => {
    // This is a write, so that a request that removes the batch at the same moment conflicts with it.
    const ours = { _id, account_id, lease_id } as object;
    const { matchedCount } = await driverOf(DocumentBatch).updateOne(ours, { $set: { updated_at: now } }, { session });
    if (matchedCount === 0) return;
    const before = await driverOf(BatchFile).findOneAndUpdate(
      { ...filesOf(batch), index } as object,
      { $set: file as object, $setOnInsert: { _id: storedId(newId()) } },
      { upsert: true, session, projection: { size_bytes: 1 }, returnDocument: 'before' },
    );
    const file_bytes = bytes.length - ((before as Partial<BatchFileRecord> | null)?.size_bytes ?? 0);
    await driverOf(DocumentBatch).updateOne({ _id, account_id }, raised({ file_bytes }), { session });
    if (maxBytes === undefined) return;
    // This write serialises the transactions that keep files of one account, because each sums up the files of the
    // others.
    await driverOf(Account as never).updateOne({ _id: account_id }, raised({ lock_version: 1 }), { session });
    const sum = await sumFiles(account_id, session);
    if (sum > maxBytes) throw tooManyBytes(sum, maxBytes);
  });
}

/** A cast for the driver's types, which know only the fields that every record has. */
const raised = (by: Record<string, number>) => ({ $inc: by }) as object;

/** Checks the quota of files. @throws AppError 409 when the account has no room for another file. */
export async function requireRoomForFiles(accountId: Id, maxBytes: number, session?: Session): Promise<void> {
  const sum = await sumFiles(storedId(accountId), session);
  if (sum >= maxBytes) throw tooManyBytes(sum, maxBytes);
}

/** Returns the bytes of the account's files that have not expired. */
export async function sumFiles(account_id: StoredId, session?: Session): Promise<number> {
  const batches = await driverOf(DocumentBatch)
    .find(
      { account_id },
      {
        projection: { _id: 0, file_bytes: 1 },
        hint: { account_id: 1, file_bytes: 1 },
        ...(session ? { session } : {}),
      },
    )
    .toArray();
  return sumBy(batches, (batch) => (batch as Partial<BatchRecord>).file_bytes ?? 0);
}

function tooManyBytes(sum: number, max: number) {
  return appError('batch_quota_exceeded', { size: inMebibytes(sum), limit: inMebibytes(max) });
}

/** Returns the bytes of a file, or undefined when it is not kept or has expired. */
export async function findFile(accountId: Id, batchId: StoredId, index: number): Promise<Buffer | undefined> {
  const file = await readInTurn(accountId, () =>
    driverOf(BatchFile).findOne({ ...filesOf({ _id: batchId, account_id: storedId(accountId) }), index } as object, {
      projection: { bytes: 1 },
      promoteBuffers: true,
    }),
  );
  return (file as BatchFileRecord | null)?.bytes;
}

export async function removeFiles(batch: Whose, session: Session): Promise<void> {
  await driverOf(BatchFile).deleteMany(filesOf(batch) as object, { session });
}

/** Sets when MongoDB removes the files of a batch. */
export async function expireFiles(batch: Whose, expiresAt: Date, session: Session): Promise<void> {
  await driverOf(BatchFile).updateMany(
    filesOf(batch) as object,
    { $set: { expires_at: expiresAt } as object },
    { session },
  );
}

// The PDF of one document of a batch, kept until the batch expires.
import { Schema } from 'mongoose';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { driverOf, recordsOf } from '../records.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';
import { type BatchRecord, DocumentBatch } from './document-batch.ts';

/** A record of MongoDB may have 16 MiB; larger documents are not kept. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024;

export interface BatchFileRecord {
  _id: StoredId;
  account_id: StoredId;
  batch_id: StoredId;
  /** Its place in the batch, from 0. */
  index: number;
  bytes: Buffer;
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
 * Keeps the PDF of the document at `index`, as long as the batch is there and in the hands of who has it. Twice is harmless: the later
 * one stays.
 */
export async function keepFile(batch: BatchRecord, index: number, bytes: Buffer, now: Date = new Date()) {
  const { _id, account_id, lease_id = null } = batch;
  const file = { bytes, created_at: now, expires_at: batch.expires_at };
  await inTransaction(async (session) => {
    // Written and not only read: whoever removes the batch at the same time meets this.
    const ours = { _id, account_id, lease_id } as object;
    const { matchedCount } = await driverOf(DocumentBatch).updateOne(ours, { $set: { updated_at: now } }, { session });
    if (matchedCount === 0) return;
    await driverOf(BatchFile).updateOne(
      { ...filesOf(batch), index } as object,
      { $set: file as object, $setOnInsert: { _id: storedId(newId()) } },
      { upsert: true, session },
    );
  });
}

/** @returns its bytes, or undefined when it is not kept (any more). */
export async function findFile(accountId: Id, batchId: StoredId, index: number): Promise<Buffer | undefined> {
  const file = await driverOf(BatchFile).findOne(
    { ...filesOf({ _id: batchId, account_id: storedId(accountId) }), index } as object,
    { projection: { bytes: 1 }, promoteBuffers: true },
  );
  return (file as BatchFileRecord | null)?.bytes;
}

export async function removeFiles(batch: Whose, session: Session): Promise<void> {
  await driverOf(BatchFile).deleteMany(filesOf(batch) as object, { session });
}

export async function expireFiles(batch: Whose, expiresAt: Date, session: Session): Promise<void> {
  await driverOf(BatchFile).updateMany(
    filesOf(batch) as object,
    { $set: { expires_at: expiresAt } as object },
    { session },
  );
}

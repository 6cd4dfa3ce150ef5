// Batches of stored documents to print: the progress of each document, and when a gateway must continue.
import { Schema } from 'mongoose';
import type { FormatName } from '../../e-invoice/formats.ts';
import { appError, type ErrorCode, type Params, retryAfter } from '../../errors.ts';
import type { Session } from '../../mongo/connection.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import { addListIndexes, type ListingOf } from '../list-indexes.ts';
import { driverOf, type Owned, recordsOf, type Stamped } from '../records.ts';
import { idField, newId, requiredIdField, type StoredId, tenant } from '../tenant.ts';

/** The kinds of documents that batches print. */
export const DOCUMENT_KINDS = ['invoice', 'quote'] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** `partly_failed`: some documents are there. `failed`: none is. */
export const BATCH_STATUSES = ['queued', 'processing', 'done', 'partly_failed', 'failed'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export const BATCHED_STATUSES = ['queued', 'done', 'failed'] as const;

export interface BatchedDocument {
  kind: DocumentKind;
  document_id: StoredId;
  /** The number in the account's sequence. */
  number: number;
  number_text?: string | undefined;
  status: (typeof BATCHED_STATUSES)[number];
  /** The reason of the failure, for the caller. */
  error?: string;
  /** The code of the reason, and the values in its text. Absent for documents of an earlier release. */
  error_code?: ErrorCode;
  error_params?: Params;
  size_bytes?: number;
  warnings?: string[];
  /** The number of attempts that failed. */
  tries?: number;
  /** The time before which no attempt is made. */
  next_at?: Date;
}

export interface BatchRecord extends Stamped {
  status: BatchStatus;
  kinds: DocumentKind[];
  /** The look that all documents of the batch share, as the caller gave it. */
  looks: object;
  /** The format of e-invoices that its files have. Absent for PDFs. */
  format?: FormatName | undefined;
  documents: BatchedDocument[];
  total: number;
  done: number;
  failed: number;
  /** The sum of the sizes of its files. */
  file_bytes?: number;
  request_id: string;
  /** One of the account's few places for unfinished batches. Absent once the batch is finished. */
  slot?: number;
  /**
   * The time at which a gateway must work on the batch. It serves as lease, retry time and mark for the poller. Absent
   * once finished.
   */
  due_at?: Date;
  /** The proof of the gateway that owns the lease. */
  lease_id?: string;
  completed_at?: Date;
  /** The time at which the batch is removed, finished or not. */
  expires_at: Date;
}

/** The time after which documents that are not printed count as failed. */
export const BATCH_DEADLINE_MS = 24 * 3600 * 1000;
/** The time that a finished batch is kept. */
export const BATCH_KEPT_MS = 24 * 3600 * 1000;
/** The most unfinished batches of one account. */
export const BATCHES_RUNNING_MAX = 5;
/** The most batches of one account in all, because they take room in the database. */
export const BATCHES_KEPT_MAX = 100;
/** Returns the 409 for an account that keeps BATCHES_KEPT_MAX batches. */
export const batchesKeptAlready = () => appError('batches_kept', { limit: BATCHES_KEPT_MAX });
/** The Retry-After of the 429. A batch that finishes makes room, so a caller may ask again this soon. */
const AGAIN = retryAfter(5);

const batchSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    status: { type: String, enum: BATCH_STATUSES, required: true },
    kinds: { type: [String], enum: DOCUMENT_KINDS, required: true },
    looks: { type: Object, required: true },
    format: String,
    documents: {
      type: [
        {
          _id: false,
          kind: { type: String, enum: DOCUMENT_KINDS, required: true },
          document_id: requiredIdField,
          number: { type: Number, required: true },
          number_text: String,
          status: { type: String, enum: BATCHED_STATUSES, required: true },
          error: String,
          error_code: String,
          error_params: Object,
          size_bytes: Number,
          warnings: { type: [String], default: undefined },
          tries: Number,
          next_at: Date,
        },
      ],
      required: true,
    },
    total: { type: Number, required: true },
    done: { type: Number, required: true },
    failed: { type: Number, required: true },
    file_bytes: Number,
    request_id: { type: String, required: true },
    slot: Number,
    due_at: Date,
    lease_id: String,
    completed_at: Date,
    expires_at: { type: Date, required: true },
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'document_batches' },
);

export const batchListing: ListingOf<BatchRecord, 'created_at'> = {
  filters: ['status'],
  orders: { created_at: '_id' },
  standard: '-created_at',
  omitted: ['documents'],
};

batchSchema.plugin(tenant);
addListIndexes(batchSchema, batchListing);
batchSchema.index({ account_id: 1, slot: 1 }, { unique: true, partialFilterExpression: { slot: { $exists: true } } });
// The sum of the bytes of an account's files is computed along this index.
batchSchema.index({ account_id: 1, file_bytes: 1 });
// Gateways look for due batches of all accounts along this index.
batchSchema.index({ due_at: 1 }, { sparse: true });
batchSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

export const DocumentBatch = recordsOf<BatchRecord>('DocumentBatch', batchSchema);

/**
 * Stores a new batch in a free place of its account.
 * @throws AppError 429 when no place is free, 409 when too many batches are kept.
 */
export async function insertBatch(batch: BatchRecord, session: Session): Promise<void> {
  const others = await driverOf(DocumentBatch)
    .find({ account_id: batch.account_id }, { session, projection: { slot: 1 } })
    .toArray();
  if (others.length >= BATCHES_KEPT_MAX) {
    throw batchesKeptAlready();
  }
  const taken = new Set(others.map((other) => (other as Partial<BatchRecord>).slot));
  const slot = Array.from({ length: BATCHES_RUNNING_MAX }, (_, index) => index).find((index) => !taken.has(index));
  if (slot === undefined) {
    throw appError('batches_running', { limit: BATCHES_RUNNING_MAX }, { headers: AGAIN });
  }
  try {
    // No list is sorted by this time, so it does not come from the order of the account's changes.
    await driverOf(DocumentBatch).insertOne({ ...batch, slot } as Owned, { session, ignoreUndefined: true });
  } catch (error) {
    if (isDuplicate(error)) throw appError('batch_being_taken', undefined, { headers: AGAIN });
    throw error;
  }
}

/** Removes a batch. Its bytes were never counted, because it expires by itself, so none are given back as removeOwn does. */
export async function removeDocumentBatch(
  { _id, account_id }: Pick<BatchRecord, '_id' | 'account_id'>,
  session: Session,
): Promise<void> {
  await driverOf(DocumentBatch).deleteOne({ _id, account_id }, { session });
}

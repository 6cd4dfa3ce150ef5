// Batches of stored documents to print: the progress of each document, and when a gateway must continue.
import { Schema } from 'mongoose';
import { AppError, conflict } from '../../errors.ts';
import type { Session } from '../../mongo/connection.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import { addListIndexes, type ListingOf } from '../list-indexes.ts';
import { driverOf, type Owned, recordsOf, type Stamped } from '../records.ts';
import { idField, newId, requiredIdField, type StoredId, tenant } from '../tenant.ts';

/** What batches print. */
export const DOCUMENT_KINDS = ['invoice', 'quote'] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** `partly_failed`: some are there. `failed`: none is. */
export const BATCH_STATUSES = ['queued', 'processing', 'done', 'partly_failed', 'failed'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export const BATCHED_STATUSES = ['queued', 'done', 'failed'] as const;

export interface BatchedDocument {
  kind: DocumentKind;
  document_id: StoredId;
  /** Of the account's sequence. */
  number: number;
  number_text?: string | undefined;
  status: (typeof BATCHED_STATUSES)[number];
  /** Why it failed, for the caller. */
  error?: string;
  size_bytes?: number;
  warnings?: string[];
  /** How many attempts failed. */
  tries?: number;
  /** Not to be tried before. */
  next_at?: Date;
}

export interface BatchRecord extends Stamped {
  status: BatchStatus;
  kinds: DocumentKind[];
  /** How all of them shall look, as the gateway took it from the caller. */
  looks: object;
  documents: BatchedDocument[];
  total: number;
  done: number;
  failed: number;
  /** Of its files together. */
  file_bytes?: number;
  request_id: string;
  /** One of the account's few places for batches that are not finished; absent when it is. */
  slot?: number;
  /** When a gateway must work on it; absent when it is finished. Serves as lease, retry time and sweeper mark. */
  due_at?: Date;
  /** Identifies the owner of the lease. */
  lease_id?: string;
  completed_at?: Date;
  /** When it is removed, finished or not. */
  expires_at: Date;
}

/** Unfinished after so long, what is missing counts as failed. */
export const BATCH_DEADLINE_MS = 24 * 3600 * 1000;
/** How long it is kept when it is finished. */
export const BATCH_KEPT_MS = 24 * 3600 * 1000;
/** Of one account, not finished. */
export const BATCHES_RUNNING_MAX = 5;
/** Of one account in all: what is kept takes room in the database. */
export const BATCHES_KEPT_MAX = 100;
/** The text of the 409. */
export const BATCHES_KEPT_ALREADY = `${BATCHES_KEPT_MAX} batches of documents are kept already: delete one, or wait until it expires`;
/** A finished batch makes room: callers may ask again this soon. */
const RETRY_SECONDS = 5;

const batchSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    status: { type: String, enum: BATCH_STATUSES, required: true },
    kinds: { type: [String], enum: DOCUMENT_KINDS, required: true },
    looks: { type: Object, required: true },
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
// The bytes of an account's files are summed up along it.
batchSchema.index({ account_id: 1, file_bytes: 1 });
// Of all accounts: what the gateways look for.
batchSchema.index({ due_at: 1 }, { sparse: true });
batchSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

export const DocumentBatch = recordsOf<BatchRecord>('DocumentBatch', batchSchema);

/** Stores a new batch in a free place of its account. @throws AppError 429 when all are taken, 409 when too many are kept. */
export async function insertBatch(batch: BatchRecord, session: Session): Promise<void> {
  const others = await driverOf(DocumentBatch)
    .find({ account_id: batch.account_id }, { session, projection: { slot: 1 } })
    .toArray();
  if (others.length >= BATCHES_KEPT_MAX) {
    throw conflict(BATCHES_KEPT_ALREADY);
  }
  const taken = new Set(others.map((other) => (other as Partial<BatchRecord>).slot));
  const slot = Array.from({ length: BATCHES_RUNNING_MAX }, (_, index) => index).find((index) => !taken.has(index));
  if (slot === undefined) throw tooMany(`${BATCHES_RUNNING_MAX} batches of documents are not finished yet`);
  try {
    // Its time needs no place in the order of the account's changes: no list is sorted by it.
    await driverOf(DocumentBatch).insertOne({ ...batch, slot } as Owned, { session, ignoreUndefined: true });
  } catch (error) {
    if (isDuplicate(error)) throw tooMany('Another batch of documents is being taken, please try again');
    throw error;
  }
}

function tooMany(message: string) {
  return new AppError(429, message, { headers: { 'Retry-After': String(RETRY_SECONDS) } });
}

// The lease of a batch of documents in MongoDB, so that any gateway continues where a killed one stopped.
import { randomUUID } from 'node:crypto';
import { agreedDate } from '../../clock.ts';
import type { Session } from '../../mongo/connection.ts';
import { claimDue } from '../claim-due.ts';
import { driverOf } from '../records.ts';
import { expireFiles } from './batch-file.ts';
import { BATCH_KEPT_MS, type BatchedDocument, type BatchRecord, DocumentBatch } from './document-batch.ts';

export type ClaimedBatch = BatchRecord & { lease_id: string };

/** Leases the batch of any account that has been due for longest. @returns undefined when none is due. */
export async function claimBatch(leaseMs: number, now: Date = agreedDate()): Promise<ClaimedBatch | undefined> {
  const changes = { lease_id: randomUUID(), status: 'processing' } as const;
  return (await claimDue(DocumentBatch, { field: 'due_at', now, leaseMs, changes })) as ClaimedBatch | undefined;
}

/** Extends the lease. @returns false when the lease is lost: the batch was removed, or another gateway took it over. */
export async function extendLease(batch: ClaimedBatch, leaseMs: number, now: Date = agreedDate()): Promise<boolean> {
  return change(batch, {}, { $set: { due_at: new Date(now.getTime() + leaseMs) } });
}

/** The result of one attempt to print a document of a batch, with the time of the next attempt if there is one. */
export type DocumentOutcome = Pick<BatchedDocument, 'status'> & Partial<BatchedDocument>;

/** Records the outcome of the document at `index`. @returns false when the lease is lost. */
export async function settleDocument(
  batch: ClaimedBatch,
  index: number,
  outcome: DocumentOutcome,
  now: Date = agreedDate(),
): Promise<boolean> {
  const at = `documents.${index}`;
  const fields = Object.entries(outcome).map(([name, value]) => [`${at}.${name}`, value]);
  const isSettled = outcome.status !== 'queued';
  return change(
    batch,
    { [`${at}.status`]: 'queued' },
    {
      $set: { ...Object.fromEntries(fields), updated_at: now },
      ...(isSettled ? { $inc: { [outcome.status]: 1 } } : {}),
      ...(isSettled ? { $unset: { [`${at}.next_at`]: 1 } } : {}),
    },
  );
}

/** Ends the lease. Any gateway may take the batch from `dueAt` on. */
export async function releaseBatch(batch: ClaimedBatch, dueAt: Date): Promise<void> {
  await change(batch, {}, { $set: { due_at: dueAt }, $unset: { lease_id: 1 } });
}

/**
 * Marks the batch as finished when each of its documents is settled.
 * @returns the finished batch, which the caller announces in the same transaction. Undefined when a document is left or
 * the lease is lost.
 */
export async function completeBatch(
  batch: ClaimedBatch,
  session: Session,
  now: Date = agreedDate(),
): Promise<BatchRecord | undefined> {
  const { _id, account_id, lease_id } = batch;
  const mine = { _id, account_id, lease_id };
  const current = (await driverOf(DocumentBatch).findOne(mine, { session })) as BatchRecord | null;
  if (!current || current.done + current.failed < current.total) return undefined;
  const expires_at = new Date(now.getTime() + BATCH_KEPT_MS);
  const status = statusOf(current);
  await driverOf(DocumentBatch).updateOne(
    mine,
    {
      $set: { status, completed_at: now, updated_at: now, expires_at } as object,
      $unset: { due_at: 1, lease_id: 1, slot: 1 } as const,
    },
    { session },
  );
  await expireFiles(batch, expires_at, session);
  return { ...current, status, completed_at: now, updated_at: now, expires_at };
}

function statusOf({ done, failed }: BatchRecord): BatchRecord['status'] {
  if (failed === 0) return 'done';
  return done === 0 ? 'failed' : 'partly_failed';
}

async function change({ _id, account_id, lease_id }: ClaimedBatch, filter: object, update: object): Promise<boolean> {
  const { matchedCount } = await driverOf(DocumentBatch).updateOne({ _id, account_id, lease_id, ...filter }, update);
  return matchedCount === 1;
}

export interface BatchBacklog {
  /** The number of unfinished batches, counted up to COUNTED_MAX. */
  unfinished: number;
  /** The time that the longest due batch has waited for a gateway. 0 when none is due. */
  lagMs: number;
}

const COUNTED_MAX = 10_000;

/** Reads the backlog over all accounts, for operators. */
export async function readBatchBacklog(now: Date = agreedDate()): Promise<BatchBacklog> {
  const unfinished = { due_at: { $exists: true } };
  const [count, first] = await Promise.all([
    driverOf(DocumentBatch).countDocuments(unfinished, { limit: COUNTED_MAX, hint: { due_at: 1 } }),
    driverOf(DocumentBatch).findOne(unfinished, {
      sort: { due_at: 1 },
      projection: { due_at: 1 },
      hint: { due_at: 1 },
    }),
  ]);
  const dueAt = (first as Pick<BatchRecord, 'due_at'> | null)?.due_at;
  return { unfinished: count, lagMs: dueAt ? Math.max(0, now.getTime() - dueAt.getTime()) : 0 };
}

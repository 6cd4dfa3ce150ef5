// Counts the bytes of records and events that an account keeps as they are written, and bounds them by its quota.
import mongoose from 'mongoose';
import { type AppError, appError } from '../errors.ts';
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';

const MIB = 2 ** 20;
/**
 * Smaller changes raise the sum by a whole step, with the probability of their share in it. The sum is right on
 * average, and most writes cost no further update.
 */
const STEP = 64 * 1024;

interface Tally {
  /** The bytes that this transaction has written so far, less those that it removed. */
  written: number;
  /** The sum in the account's counter when the transaction drew from it. */
  before?: number;
}

const tallyOf = perTransaction<Tally>(() => ({ written: 0 }));

/** Counts bytes of the transaction. @param by see sizeOf; negative for removed records. */
export function countStored(session: Session, by: number): void {
  tallyOf(session).written += by;
}

/** Notes the sum of the account. @param before the value in the counter. */
export function learnStored(session: Session, before: unknown): void {
  tallyOf(session).before ??= Math.max(0, Number(before ?? 0));
}

/** True when the transaction wrote bytes and does not know the sum of the account, see learnStored. */
export function needsSum(session: Session): boolean {
  const { written, before } = tallyOf(session);
  return written > 0 && before === undefined;
}

/** Returns the size of a record in the database, before compression. */
export function sizeOf(record: object): number {
  return mongoose.mongo.BSON.calculateObjectSize(record as never, { ignoreUndefined: true });
}

/**
 * Returns the amount by which the transaction raises the sum of its account. It is 0 most of the time.
 * @param quotaBytes undefined when the account may keep any amount, or when the change must be possible over its quota.
 * @throws AppError 409 that names the sum and the quota.
 */
export function quotaStep(
  session: Session,
  quotaBytes: number | undefined,
  chance: () => number = Math.random,
): number {
  const { written, before } = tallyOf(session);
  if (quotaBytes !== undefined && before !== undefined && written > 0 && before + written > quotaBytes) {
    throw quotaExceeded(before + written, quotaBytes);
  }
  const size = Math.abs(written);
  if (size >= STEP) return written;
  return chance() * STEP < size ? Math.sign(written) * STEP : 0;
}

/** Returns the 409 that names the sum and the quota. */
export function quotaExceeded(sum: number, quotaBytes: number): AppError {
  return appError('quota_exceeded', { size: inMebibytes(sum), limit: inMebibytes(quotaBytes) });
}

/** Writes bytes such as `1,024 MiB`. It rounds up, so that a size over a bound never looks like the bound. */
export function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB).toLocaleString('en')} MiB`;
}

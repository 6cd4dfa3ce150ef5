// How many bytes of records and events an account keeps: summed up as they are written, and bounded by its quota.
import mongoose from 'mongoose';
import { conflict } from '../errors.ts';
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';

const MIB = 2 ** 20;
/**
 * Smaller changes raise the sum by a whole step, once in as many of them as fill it: it is right on average, and most writes cost no
 * further update.
 */
const STEP = 64 * 1024;

interface Tally {
  /** Written by this transaction so far, less what it removed. */
  written: number;
  /** What the account's counter said when the transaction drew from it. */
  before?: number;
}

const tallyOf = perTransaction<Tally>(() => ({ written: 0 }));

/** @param by of the records, see sizeOf; negative for what is removed. */
export function countStored(session: Session, by: number): void {
  tallyOf(session).written += by;
}

/** @param before as the account's counter has it. */
export function learnStored(session: Session, before: unknown): void {
  tallyOf(session).before ??= Math.max(0, Number(before ?? 0));
}

/** The size of a record in the database, before compression. */
export function sizeOf(record: object): number {
  return mongoose.mongo.BSON.calculateObjectSize(record as never, { ignoreUndefined: true });
}

/**
 * By how much the transaction raises the sum of its account; most often by nothing.
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
    const sum = inMebibytes(before + written);
    throw conflict(
      `Records and events would take ${sum}, at most ${inMebibytes(quotaBytes)} are kept for an account: ask its operator for more`,
    );
  }
  const size = Math.abs(written);
  if (size >= STEP) return written;
  return chance() * STEP < size ? Math.sign(written) * STEP : 0;
}

/** Such as `1,024 MiB`; rounded up, so that what is over a bound never looks like it. */
export function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB).toLocaleString('en')} MiB`;
}

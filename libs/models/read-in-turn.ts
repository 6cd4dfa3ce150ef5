// Reads large files from the database a few at a time, so that what is read and inflated fits into the memory of a process.
import { inSlot, openFairLimit } from '../fair-limit.ts';
import type { Id } from './tenant.ts';

/** A file has up to 15 MiB, and is in memory twice while it is inflated. */
const AT_ONCE = 4;
const limit = openFairLimit(AT_ONCE);

/** Runs a read of a file when it is its turn, round-robin between accounts. */
export function readInTurn<Result>(accountId: Id, read: () => Promise<Result>): Promise<Result> {
  return inSlot(limit, accountId, read);
}

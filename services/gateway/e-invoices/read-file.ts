// Reads a received file in a thread of its own, a few at a time.
import type { ReadEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import { type Problem, problemOf, validationFailed } from '#libs/errors.ts';
import { inSlot, openFairLimit } from '#libs/fair-limit.ts';
import { runInThread } from '#libs/in-thread.ts';
import type { Id } from '#libs/models/tenant.ts';

/** Files that are read at a time, by all accounts. A core is left for everything else on a small machine. */
const slots = openFairLimit(2);
/** The largest file takes a second; a busy machine may need several. */
const TIME_LIMIT_MS = 20_000;
/** An invoice of 100,000 elements takes some 60 MB. */
const MEMORY_MB = 128;
const PROGRAM = new URL('read-worker.ts', import.meta.url);

type Outcome = { read: ReadEInvoice } | { problem: Problem };

/** @throws AppError 400 that says why the file cannot be read. */
export async function readFile(accountId: Id, bytes: Uint8Array, signal: AbortSignal): Promise<ReadEInvoice> {
  const limits = { timeMs: TIME_LIMIT_MS, memoryMb: MEMORY_MB, signal };
  const outcome = await inSlot(slots, accountId, () => runInThread<Outcome>(PROGRAM, bytes, limits), signal);
  if (outcome === 'too costly') throw validationFailed([problemOf('file', 'e_invoice_too_costly')]);
  if ('problem' in outcome) throw validationFailed([outcome.problem]);
  return outcome.read;
}

// Reads a received file in a thread of its own: a hostile one can neither take the memory of the gateway nor block its event loop.
import { Worker } from 'node:worker_threads';
import type { ReadEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import { type Problem, problemOf, validationFailed } from '#libs/errors.ts';
import { openFairLimit } from '#libs/fair-limit.ts';
import type { Id } from '#libs/models/tenant.ts';

/** Files that are read at a time, by all accounts. A core is left for everything else on a small machine. */
const slots = openFairLimit(2);
/** The largest file takes a second; a busy machine may need several. */
const TIME_LIMIT_MS = 20_000;
/** An invoice of 100,000 elements takes some 60 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

type Outcome = { read: ReadEInvoice } | { problem: Problem };

/** @throws AppError 400 that says why the file cannot be read. */
export async function readFile(accountId: Id, bytes: Uint8Array, signal: AbortSignal): Promise<ReadEInvoice> {
  const release = await slots.acquire(accountId, signal);
  try {
    const outcome = await readInThread(bytes, signal);
    if ('problem' in outcome) throw validationFailed([outcome.problem]);
    return outcome.read;
  } finally {
    release();
  }
}

function readInThread(bytes: Uint8Array, signal: AbortSignal): Promise<Outcome> {
  const tooCostly: Outcome = { problem: problemOf('file', 'e_invoice_too_costly') };
  return new Promise((resolve, reject) => {
    // The thread needs nothing of the environment, where secrets are.
    const worker = new Worker(new URL('read-worker.ts', import.meta.url), {
      workerData: bytes,
      resourceLimits,
      env: {},
    });
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)]);
    const end = () => void worker.terminate();
    limited.addEventListener('abort', end);
    worker.once('message', resolve);
    worker.once('error', (error: Error & { code?: string }) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve(tooCostly) : reject(error),
    );
    worker.once('exit', () => {
      limited.removeEventListener('abort', end);
      if (signal.aborted) reject(signal.reason);
      // Nothing happens when the thread has answered before.
      else resolve(tooCostly);
    });
  });
}

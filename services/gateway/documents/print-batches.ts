// Works through batches of documents, those of this gateway and those that a killed one left behind.
import { setTimeout as pause } from 'node:timers/promises';
import { drawNext } from '#libs/models/counter.ts';
import {
  type ClaimedBatch,
  claimBatch,
  completeBatch,
  extendLease,
  releaseBatch,
} from '#libs/models/documents/batch-clock.ts';
import { insertEvent } from '#libs/models/webhooks/event.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';
import type { Logger } from '#libs/service/logger.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import type { PrintDocument } from '../printing/print-document.ts';
import { batchView } from './batch-view.ts';
import { nextTurn, printSlice } from './print-slice.ts';

/** Batches in hand at the same time: few, because callers who wait come first. */
const LANES = 2;
/** After this another gateway takes over from one that was killed. */
const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
/** A look is one read of an index that is nearly always empty. */
const POLL_MS = 500;

export interface BatchPrinting {
  /** Gives back what it has in hand: another gateway goes on at once. */
  close(): Promise<void>;
}

export function openBatchPrinting(parts: {
  print: PrintDocument;
  /** Called after a commit that wrote an event. */
  nudge: () => void;
  log: Logger;
}): BatchPrinting {
  const { print, nudge, log } = parts;
  const closing = new AbortController();
  const lanes = Array.from({ length: LANES }, lane);

  async function lane() {
    while (!closing.signal.aborted) {
      const batch = await claimBatch(LEASE_MS).catch(noteProblem);
      if (batch) await printWhileOurs(batch).catch(noteProblem);
      // Aborted when this process ends.
      else await pause(POLL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function printWhileOurs(batch: ClaimedBatch) {
    const lost = new AbortController();
    const heartbeat = setInterval(() => {
      extendLease(batch, LEASE_MS).then((isOurs) => isOurs || lost.abort(), noteProblem);
    }, HEARTBEAT_MS);
    try {
      await printSlice(batch, print, AbortSignal.any([closing.signal, lost.signal]));
      if (lost.signal.aborted) return;
      const next = nextTurn(batch);
      if (next) await releaseBatch(batch, next);
      else if (await complete(batch)) nudge();
    } finally {
      clearInterval(heartbeat);
    }
  }

  function noteProblem(error: unknown): undefined {
    // The lease runs out, and the batch is taken up again. That MongoDB is away is said once, by its connection.
    log[isUnavailable(error) ? 'debug' : 'warn']({ err: error }, 'a batch of documents has to wait');
  }

  return {
    async close() {
      closing.abort();
      await Promise.all(lanes);
    },
  };
}

/** The mark and the event become true together: whoever sets the one writes the other. */
function complete(batch: ClaimedBatch): Promise<boolean> {
  const accountId = String(batch.account_id);
  return withConcurrencyLimit(accountId, () =>
    inTransaction(async (session) => {
      const completed = await completeBatch(batch, session);
      if (!completed) return false;
      const { event: sequence } = await drawNext(session, accountId, ['event']);
      const data = batchView(completed);
      const { request_id: requestId } = batch;
      await insertEvent(session, { accountId, type: 'documents.completed', sequence, data, requestId });
      return true;
    }),
  );
}

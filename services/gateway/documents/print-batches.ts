// Works through batches of documents, those of this gateway and those that a killed one left behind.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ClaimedBatch,
  claimBatch,
  completeBatch,
  extendLease,
  releaseBatch,
} from '#libs/models/documents/batch-clock.ts';
import { insertLastEvent } from '#libs/models/webhooks/event.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { Logger } from '#libs/service/logger.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import { batchView } from './batch-view.ts';
import { nextDueAt, printSlice } from './print-slice.ts';

/** Batches in flight at the same time: few, because documents that callers wait for come first. */
const LANES = 2;
/** Duration of a lease. When it has expired, another gateway takes over from one that was killed. */
const LEASE_MS = 20_000;
const HEARTBEAT_MS = 5_000;
/** A look is one read of an index that is nearly always empty. */
const POLL_MS = 500;

export interface BatchPrinting {
  /** Releases its leases, so that another gateway continues at once. */
  close(): Promise<void>;
}

export function openBatchPrinting(parts: {
  print: PrintDocument;
  /** Bytes of files that an account may keep. */
  filesMaxBytes?: number | undefined;
  /** Bytes of records, events and originals that an account may keep. */
  recordsMaxBytes?: number | undefined;
  /** Called after a commit that wrote an event. */
  nudge: () => void;
  log: Logger;
}): BatchPrinting {
  const { print, nudge, log, filesMaxBytes, recordsMaxBytes } = parts;
  const closing = new AbortController();
  const lanes = Array.from({ length: LANES }, lane);

  async function lane() {
    while (!closing.signal.aborted) {
      const batch = await claimBatch(LEASE_MS).catch(logged('claiming a batch failed; the next attempt follows'));
      // Aborted when this process ends.
      if (!batch) await pause(POLL_MS, undefined, { signal: closing.signal }).catch(() => undefined);
      else await printWhileOurs(batch).catch(logged('printing a batch failed; it continues when its lease expires'));
    }
  }

  async function printWhileOurs(batch: ClaimedBatch) {
    const lost = new AbortController();
    const notExtended = logged('extending the lease of a batch failed; the next attempt follows');
    const heartbeat = setInterval(() => {
      extendLease(batch, LEASE_MS).then((isOurs) => isOurs || lost.abort(), notExtended);
    }, HEARTBEAT_MS);
    try {
      const signal = AbortSignal.any([closing.signal, lost.signal]);
      await printSlice(batch, { print, signal, filesMaxBytes, recordsMaxBytes });
      if (lost.signal.aborted) return;
      const next = nextDueAt(batch);
      if (next) await releaseBatch(batch, next);
      else if (await complete(batch)) nudge();
    } finally {
      clearInterval(heartbeat);
    }
  }

  function logged(message: string) {
    return (error: unknown): undefined => {
      // The connection logs once that MongoDB is unavailable.
      log[isUnavailable(error) ? 'debug' : 'warn']({ err: error }, message);
    };
  }

  return {
    async close() {
      closing.abort();
      await Promise.all(lanes);
    },
  };
}

/** The batch is completed and its event written in one transaction. */
function complete(batch: ClaimedBatch): Promise<boolean> {
  const accountId = String(batch.account_id);
  return withConcurrencyLimit(accountId, () =>
    inTransaction(async (session) => {
      const completed = await completeBatch(batch, session);
      if (!completed) return false;
      const data = batchView(completed);
      const { request_id: requestId } = batch;
      await insertLastEvent(session, { accountId, type: 'documents.completed', data, requestId });
      return true;
    }),
  );
}

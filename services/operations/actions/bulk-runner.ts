// Runs an action on all matches, batch by batch, and records its progress. An operator can watch, stop and continue it.
import { agreedDate } from '#libs/clock.ts';
import { errorText } from '#libs/errors.ts';
import { findDefinition, retryFailedJobs } from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { advanceBulk, type BulkKind, type BulkRecord, BulkRun, endBulk } from '#libs/models/operations/bulk-run.ts';
import { requireAvailable } from '#libs/models/rounds.ts';
import { type Id, newId, type StoredId } from '#libs/models/tenant.ts';
import { replayDelivery } from '#libs/models/webhooks/replay-deliveries.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { selectionParams } from '#libs/pages/query.ts';
import type { Logger } from '#libs/service/logger.ts';
import { nextDeliveries } from '../store/delivery-search.ts';
import { nextRetried } from '../store/mail-search.ts';
import { deliverySearchOf, mailSearchOf } from '../views/filters.ts';
import { retryInUnit } from './retry-in-unit.ts';

/** The size of a batch. It is small enough that stopping is quick and pages keep their connections to MongoDB. */
const BATCH = 50;

interface Step {
  done: number;
  skipped: number;
  position?: string | undefined;
  isLast: boolean;
}

/** The position and the numbers after the steps so far. */
interface Progress {
  position: string | undefined;
  done: number;
  /** The number of records that were done or skipped. */
  handled: number;
}

/** Returns the step of a batch whose records were taken in the order of their ids. */
function stepOf(batch: readonly { _id: StoredId }[], done: number, before: string | undefined): Step {
  const last = batch.at(-1);
  return {
    done,
    skipped: batch.length - done,
    position: last ? String(last._id) : before,
    isLast: batch.length < BATCH,
  };
}

export interface BulkRunner {
  /**
   * Starts a run, unless one with its id exists. A form that is sent twice starts one run.
   * @param run.id the id that the form carries. A new one unless given.
   */
  start(run: {
    id?: Id | undefined;
    kind: BulkKind;
    title: string;
    selection: string;
    total: number;
    operator: string;
  }): Promise<{ run: BulkRecord; isNew: boolean }>;
  /** Continues a run that this process has taken over. */
  resume(run: BulkRecord): void;
  /** Ends after the current batch. An operator can continue the run in any process. */
  close(): Promise<void>;
}

export function openBulkRunner(parts: { queues: Queues; log: Logger; nudge: () => void }): BulkRunner {
  const running = new Set<Promise<void>>();
  let isClosing = false;

  function resume(run: BulkRecord) {
    const work = runToEnd(run)
      .catch(async (error) => {
        parts.log.error({ err: error, run: String(run._id) }, 'a bulk run failed; an operator can continue it');
        const problem = errorText(error);
        // If this write fails as well, the run is shown as interrupted.
        await endBulk(run, 'failed', problem).catch(() => undefined);
      })
      .finally(() => running.delete(work));
    running.add(work);
  }

  async function runToEnd(run: BulkRecord) {
    let position = run.position ?? undefined;
    let { done } = run;
    let handled = run.done + run.skipped;
    while (!isClosing) {
      const step = await STEPS[run.kind as BulkKind](run, { position, done, handled });
      position = step.position;
      done += step.done;
      handled += step.done + step.skipped;
      const mayGoOn = await advanceBulk(run, step);
      if (step.isLast) return endBulk(run, 'done');
      if (!mayGoOn) return endBulk(run, 'stopped');
    }
  }

  const STEPS: Record<BulkKind, (run: BulkRecord, progress: Progress) => Promise<Step>> = {
    'replay-deliveries': replayStep,
    'retry-jobs': retryStep,
    'retry-mail': retryMailStep,
  };

  async function replayStep(run: BulkRecord, { position }: Progress): Promise<Step> {
    const search = deliverySearchOf(selectionParams(run.selection));
    // A delivery that failed again after the run began is not sent a third time.
    const batch = await nextDeliveries(search, { before: run.created_at, position, limit: BATCH });
    const replayed = await Promise.all(batch.map((delivery) => replay(delivery, run)));
    parts.nudge();
    return stepOf(batch, replayed.filter(Boolean).length, position);
  }

  /** Replays a delivery. One that always fails must not block those after it, so the run goes on without it. */
  async function replay({ _id, account_id }: { _id: StoredId; account_id: StoredId }, run: BulkRecord) {
    try {
      return await replayDelivery(String(account_id), String(_id));
    } catch (error) {
      requireAvailable(error);
      parts.log.error(
        { err: error, run: String(run._id), delivery: String(_id) },
        'a delivery cannot be replayed; the run skips it',
      );
      return null;
    }
  }

  /** Retries a batch of messages, at most as many as were counted at the start. */
  async function retryMailStep(run: BulkRecord, { position, handled }: Progress): Promise<Step> {
    const search = mailSearchOf(selectionParams(run.selection));
    const limit = Math.min(BATCH, run.total - handled);
    const batch = limit > 0 ? await nextRetried(search, { before: run.created_at, position, limit }) : [];
    let done = 0;
    // One after the other: two messages of an account would lock its counter against each other.
    for (const message of batch) if (await retryMail(message, run)) done += 1;
    return stepOf(batch, done, position);
  }

  /** Retries a message. @returns false when it is left out, also because of an error. */
  async function retryMail({ _id, account_id }: { _id: StoredId; account_id: StoredId }, run: BulkRecord) {
    try {
      const outcome = await retryInUnit(String(account_id), String(_id));
      return outcome !== undefined && !('no' in outcome);
    } catch (error) {
      requireAvailable(error);
      const message = String(_id);
      parts.log.error({ err: error, run: String(run._id), message }, 'a message cannot be retried; the run skips it');
      return false;
    }
  }

  /** Retries a batch of jobs. */
  async function retryStep(run: BulkRecord, { done: earlier }: Progress): Promise<Step> {
    const definition = findDefinition(run.selection);
    if (!definition) throw new Error(`there is no queue ${run.selection}`);
    // Jobs that fail again during the run would make it endless.
    const limit = Math.min(BATCH, run.total - earlier);
    const done = limit > 0 ? await retryFailedJobs(parts.queues, definition, limit) : 0;
    return { done, skipped: 0, isLast: done === 0 || earlier + done >= run.total };
  }

  return {
    async start({ id = newId(), ...given }) {
      const now = agreedDate();
      try {
        const record = await BulkRun.create({ ...given, _id: id, state: 'running', created_at: now, updated_at: now });
        const run = record.toObject();
        resume(run);
        return { run, isNew: true };
      } catch (error) {
        const earlier = isDuplicate(error) ? await BulkRun.findById(id).lean<BulkRecord>() : null;
        if (!earlier) throw error;
        return { run: earlier, isNew: false };
      }
    },
    resume,
    async close() {
      isClosing = true;
      await Promise.all(running);
    },
  };
}

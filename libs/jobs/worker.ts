// Runs one kind of job. Handlers return or throw, and this file does everything else about taking jobs from a queue.
import { hostname } from 'node:os';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { AppError } from '../errors.ts';
import { connectWorker } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';
import { resultWithin } from '../with-timeout.ts';
import type { JobDefinition } from './catalog.ts';
import { queueName } from './queue-name.ts';
import { queueTelemetry } from './telemetry.ts';
import { readUnsaved, unsavedKey } from './unsaved.ts';

export interface JobContext {
  jobId: string;
  /**
   * The number of the attempt, from 1. It counts only runs that ended in a failure; the run of a lost worker does not
   * count.
   */
  attempt: number;
  isLastAttempt: boolean;
  /**
   * False when an earlier worker ran the job. It may have done everything before it stopped or lost its connection to
   * Redis.
   */
  isFirstRun: boolean;
  /** True when the process of an earlier run ended before the run did, or lost its connection to Redis. */
  hasLostRun: boolean;
  /** Aborted when the job is cancelled. */
  signal: AbortSignal;
  /**
   * Gives the job's slot to another job during a wait that needs nothing of this process, such as one for an outside
   * response.
   */
  yieldSlot<Result>(wait: Promise<Result>): Promise<Result>;
  log: Logger;
}

export type JobHandler<Payload> = (payload: Payload, context: JobContext) => Promise<void>;

export interface RunningWorker {
  /** Aborts the job's signal if the job runs here. */
  cancel(jobId: string): boolean;
  /** Returns the number of running jobs. */
  active(): number;
  /**
   * Takes no further job and waits up to `limitMs` for running ones. Other workers take over the rest. It works without
   * Redis.
   */
  close(limitMs: number): Promise<void>;
}

/**
 * The number of times that a worker may disappear during one job (two rollouts within one document) before the job
 * fails.
 */
const MAX_STALLED_COUNT = 3;

/** The time for which a closing worker tries to record finished jobs in Redis. */
const CLOSE_LIMIT_MS = 2_000;
const FORCED_CLOSE_LIMIT_MS = 1_000;

/** The pause after which a worker that lost its connection asks for jobs, or records a finished one, again. */
const RETRY_MS = 500;

/** The number of points, of one minute each, that BullMQ keeps for its throughput history. */
const METRICS_MINUTES = 24 * 60;

export interface WorkerOptions {
  redisUrl: string;
  prefix: string;
  concurrency: number;
  /** The number of jobs that may wait without a slot. Further ones keep theirs. */
  offSlotMax?: number;
  log: Logger;
}

/**
 * Starts to take jobs of one kind.
 * @param work the handler: it returns when the job is done, and throws when it failed.
 */
export function startWorker<Payload>(
  definition: JobDefinition<Payload>,
  work: JobHandler<Payload>,
  options: WorkerOptions,
): RunningWorker {
  const connection = connectWorker(options.redisUrl, options.log);
  const { concurrency, offSlotMax = 0 } = options;
  const { unsaved } = definition;
  let active = 0;
  const onIdle: Array<() => void> = [];
  const offSlot = new Set<Job<Payload>>();

  async function runJob(job: Job<Payload>, _token?: string, signal?: AbortSignal): Promise<void> {
    const attempt = job.attemptsMade + 1;
    const jobId = job.id ?? '';
    const log = options.log.child({ job: definition.name, jobId, attempt });
    active += 1;
    let waits = 0;
    try {
      await work(await wholePayload(job), {
        jobId,
        attempt,
        isLastAttempt: attempt >= definition.attempts,
        isFirstRun: job.attemptsStarted <= 1,
        hasLostRun: job.attemptsStarted > attempt,
        signal: signal ?? new AbortController().signal,
        async yieldSlot(wait) {
          waits += 1;
          leaveSlot(job);
          try {
            return await wait;
          } finally {
            waits -= 1;
            if (waits === 0) returnToSlot(job);
          }
        },
        log,
      });
    } catch (error) {
      log.warn({ err: error }, 'the attempt of a job failed');
      throw isPermanent(error) ? giveUp(error) : error;
    } finally {
      // The job may end before its waits do.
      returnToSlot(job);
      active -= 1;
      if (active === 0) for (const resolve of onIdle.splice(0)) resolve();
    }
  }

  async function wholePayload({ id = '', data }: Job<Payload>): Promise<Payload> {
    // A job that an earlier version enqueued carries its whole payload.
    if (!unsaved || unsaved.field in (data as object)) return data;
    const value = await readUnsaved(connection, unsavedKey(options.prefix, definition.name, id));
    // Redis restarted or failed over. The job fails, and the gateway that waits for it enqueues it again.
    if (value === undefined) throw new UnrecoverableError(`The ${unsaved.field} is no longer in Redis`);
    return { ...data, [unsaved.field]: value };
  }

  function forgetUnsaved({ id = '' }: Job<Payload>) {
    // If the key cannot be removed now, it expires on its own. The key of a failed job expires, too, because the
    // gateway may enqueue both again under the same id.
    if (unsaved) connection.unlink(unsavedKey(options.prefix, definition.name, id)).catch(() => undefined);
  }

  function leaveSlot(job: Job<Payload>) {
    if (offSlot.has(job) || offSlot.size >= offSlotMax) return;
    offSlot.add(job);
    worker.concurrency = concurrency + offSlot.size;
    // While all slots are taken, BullMQ reads their number only when a job ends. Pausing and resuming makes it read it
    // now.
    void worker.pause(true).then(() => worker.resume());
  }

  function returnToSlot(job: Job<Payload>) {
    if (offSlot.delete(job)) worker.concurrency = concurrency + offSlot.size;
  }

  function idle(): Promise<void> {
    return active === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
  }

  const worker = new Worker<Payload>(queueName(connection, definition), runJob, {
    connection,
    prefix: options.prefix,
    // A running job carries this name, so that the operations dashboard shows which process works on it.
    name: `${hostname()}/${process.pid}`,
    concurrency,
    lockDuration: definition.lockMs,
    stalledInterval: definition.stalledMs,
    maxStalledCount: MAX_STALLED_COUNT,
    skipVersionCheck: true,
    runRetryDelay: RETRY_MS,
    metrics: { maxDataPoints: METRICS_MINUTES },
    ...queueTelemetry(),
  });
  worker.on('completed', forgetUnsaved);
  let isUnavailable = false;
  worker.on('error', (error) => {
    if (!isUnavailable) options.log.warn({ err: error }, 'worker cannot reach its queue');
    isUnavailable = true;
  });
  worker.on('ready', () => {
    isUnavailable = false;
  });

  return {
    cancel: (jobId) => worker.cancelJob(jobId, 'cancelled'),
    active: () => active,
    async close(limitMs) {
      const closed = worker.close().catch(() => undefined);
      const until = performance.now() + limitMs;
      do {
        await resultWithin(until - performance.now(), Promise.race([closed, idle()]));
        // BullMQ's own close never ends without Redis. With Redis, finished jobs are recorded first.
        await resultWithin(connection.status === 'ready' ? CLOSE_LIMIT_MS : 0, closed);
        // A job that was on its way when the worker began to close may have arrived.
      } while (active > 0 && performance.now() < until);
      if (active > 0)
        await resultWithin(
          FORCED_CLOSE_LIMIT_MS,
          worker.close(true).catch(() => undefined),
        );
      connection.disconnect();
    },
  };
}

// A rejection is final. Only other failures are worth another attempt.
function isPermanent(error: unknown): error is Error {
  return error instanceof AppError || error instanceof UnrecoverableError;
}

function giveUp(error: Error) {
  return Object.assign(new UnrecoverableError(error.message), { cause: error });
}

// Runs one kind of job. Handlers return or throw; everything else about taking work from a queue is here.

import { hostname } from 'node:os';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { AppError } from '../errors.ts';
import { connectWaiting } from '../redis/connection.ts';
import type { Logger } from '../service/logger.ts';
import { within } from '../with-timeout.ts';
import type { JobDefinition } from './catalog.ts';
import { queueTelemetry } from './telemetry.ts';
import { readUnsaved, unsavedKey } from './unsaved.ts';

export interface JobContext {
  jobId: string;
  /** 1 for the first. Counts only runs that ended in a failure; a lost worker's run does not count. */
  attempt: number;
  isLastAttempt: boolean;
  /** False also when the worker that had the job before was lost, or only lost sight of Redis: it may have done everything. */
  isFirstRun: boolean;
  /** Aborted when nobody waits for the job any more. */
  signal: AbortSignal;
  /** Waits for what needs nothing of this process, such as an answer from outside: meanwhile another job has the place of this one. */
  aside<Result>(wait: Promise<Result>): Promise<Result>;
  log: Logger;
}

export type Work<Payload> = (payload: Payload, context: JobContext) => Promise<void>;

export interface RunningWorker {
  /** Aborts the job's signal if this worker has it in hand. */
  cancel(jobId: string): boolean;
  /** How many jobs are in hand. */
  active(): number;
  /** Takes no further job, waits up to `limitMs` for those in hand, then lets go: what remains is taken over by others. Redis may be away. */
  close(limitMs: number): Promise<void>;
}

/** A worker may vanish this often in the middle of one job (two rollouts within one document) before the job fails. */
const MAX_STALLED_COUNT = 3;

/** How long a worker that ends tries to tell Redis what it has done. */
const TELL_LIMIT_MS = 2_000;
const LET_GO_LIMIT_MS = 1_000;

/** Points of one minute each that BullMQ keeps for its throughput history. */
const METRICS_MINUTES = 24 * 60;

export interface WorkerOptions {
  redisUrl: string;
  prefix: string;
  concurrency: number;
  /** So many jobs may wait aside; those beyond keep their places. */
  asideMax?: number;
  log: Logger;
}

export function startWorker<Payload>(
  definition: JobDefinition<Payload>,
  work: Work<Payload>,
  options: WorkerOptions,
): RunningWorker {
  const connection = connectWaiting(options.redisUrl, options.log);
  const { concurrency, asideMax = 0 } = options;
  const { unsaved } = definition;
  let active = 0;
  const onIdle: Array<() => void> = [];
  const aside = new Set<Job<Payload>>();

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
        signal: signal ?? new AbortController().signal,
        async aside(wait) {
          waits += 1;
          leavePlace(job);
          try {
            return await wait;
          } finally {
            waits -= 1;
            if (waits === 0) comeBack(job);
          }
        },
        log,
      });
    } catch (error) {
      log.warn({ err: error }, 'job attempt failed');
      throw isPermanent(error) ? giveUp(error) : error;
    } finally {
      // It may end before all it waited for.
      comeBack(job);
      active -= 1;
      if (active === 0) for (const tell of onIdle.splice(0)) tell();
    }
  }

  async function wholePayload({ id = '', data }: Job<Payload>): Promise<Payload> {
    // One that an earlier version put in has everything in itself.
    if (!unsaved || unsaved.field in (data as object)) return data;
    const value = await readUnsaved(connection, unsavedKey(options.prefix, definition.name, id));
    // Redis was started again, or another member took over. The job ends, and the gateway that waits for it enqueues it again.
    if (value === undefined) throw new UnrecoverableError(`The ${unsaved.field} is no longer in Redis`);
    return { ...data, [unsaved.field]: value };
  }

  function forgetUnsaved({ id = '' }: Job<Payload>) {
    // What cannot be removed now ends by itself.
    if (unsaved) connection.unlink(unsavedKey(options.prefix, definition.name, id)).catch(() => undefined);
  }

  function leavePlace(job: Job<Payload>) {
    if (aside.has(job) || aside.size >= asideMax) return;
    aside.add(job);
    worker.concurrency = concurrency + aside.size;
    // While all places are taken BullMQ looks at their number only when a job ends. To be resumed makes it look now.
    void worker.pause(true).then(() => worker.resume());
  }

  function comeBack(job: Job<Payload>) {
    if (aside.delete(job)) worker.concurrency = concurrency + aside.size;
  }

  function idle(): Promise<void> {
    return active === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
  }

  const worker = new Worker<Payload>(definition.name, runJob, {
    connection,
    prefix: options.prefix,
    // Jobs carry it while they are worked on: the operations dashboard shows who is busy with what.
    name: `${hostname()}/${process.pid}`,
    concurrency,
    lockDuration: definition.lockMs,
    stalledInterval: definition.stalledMs,
    maxStalledCount: MAX_STALLED_COUNT,
    skipVersionCheck: true,
    metrics: { maxDataPoints: METRICS_MINUTES },
    ...queueTelemetry(),
  });
  worker.on('completed', forgetUnsaved);
  let isAway = false;
  worker.on('error', (error) => {
    if (!isAway) options.log.warn({ err: error }, 'worker cannot reach its queue');
    isAway = true;
  });
  worker.on('ready', () => {
    isAway = false;
  });

  return {
    cancel: (jobId) => worker.cancelJob(jobId, 'nobody waits for it'),
    active: () => active,
    async close(limitMs) {
      const closed = worker.close().catch(() => undefined);
      const until = performance.now() + limitMs;
      do {
        await within(until - performance.now(), Promise.race([closed, idle()]));
        // BullMQ's own close waits for ever when Redis is away. When it is there, what was done is to be told.
        await within(connection.status === 'ready' ? TELL_LIMIT_MS : 0, closed);
        // A job that was on its way when the worker was told to end has arrived.
      } while (active > 0 && performance.now() < until);
      if (active > 0)
        await within(
          LET_GO_LIMIT_MS,
          worker.close(true).catch(() => undefined),
        );
      connection.disconnect();
    },
  };
}

// A refusal is the same in an hour; only trouble is worth another attempt.
function isPermanent(error: unknown): error is Error {
  return error instanceof AppError || error instanceof UnrecoverableError;
}

function giveUp(error: Error) {
  return Object.assign(new UnrecoverableError(error.message), { cause: error });
}

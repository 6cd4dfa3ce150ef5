// Enqueues jobs and reads the state of the queues. Every call fails within a second while Redis is unavailable.
import { Queue } from 'bullmq';
import { agreedTime } from '../clock.ts';
import { connectFailFast, isCluster, type Redis } from '../redis/connection.ts';
import { processName } from '../redis/processes.ts';
import type { Logger } from '../service/logger.ts';
import type { JobDefinition } from './catalog.ts';
import { queueName } from './queue-name.ts';
import { jobTelemetry, queueTelemetry } from './telemetry.ts';
import { keepUnsaved, unsavedKey } from './unsaved.ts';

/** Half of each backoff is random, so that jobs that failed together are not retried together. */
const JITTER = 0.5;

export interface Entry<Payload> {
  payload: Payload;
  /**
   * A deterministic id. While a job with this id exists, adding it again does nothing. It must not contain `:` or be a
   * number.
   */
  id: string;
  delayMs?: number;
  /** The trace that the job continues, see currentTrace. Defaults to the current one. Only enqueueAll uses it. */
  trace?: string | undefined;
  /** True for a job that runs after all jobs that were enqueued without this. */
  isBackground?: boolean | undefined;
  /**
   * The number of jobs of the same account in flight before it. Lower numbers go first, which gives accounts a fair
   * share.
   */
  behind?: number | undefined;
}

export interface QueueCounts {
  /** Waiting and prioritized jobs, which a worker could take now. */
  ready: number;
  active: number;
  delayed: number;
  failed: number;
}

export interface Queues {
  enqueue<Payload>(definition: JobDefinition<Payload>, entry: Entry<Payload>): Promise<void>;
  enqueueAll<Payload>(definition: JobDefinition<Payload>, entries: Entry<Payload>[]): Promise<void>;
  /** Removes a job that has not started. @returns false when it is gone or already running. */
  remove(definition: JobDefinition<unknown>, id: string): Promise<boolean>;
  /**
   * Returns BullMQ's state, or `unknown` when the queue has no such job: it is done and removed, or lost with Redis.
   */
  stateOf(definition: JobDefinition<unknown>, id: string): Promise<string>;
  /** Returns what became of a job without a reply. `lost`: the process of its worker ended during a run. `gone`: the queue has no such job. */
  fateOf(definition: JobDefinition<unknown>, id: string): Promise<'untaken' | 'running' | 'lost' | 'gone'>;
  counts(definition: JobDefinition<unknown>): Promise<QueueCounts>;
  /** Returns the number of connected workers in all processes. */
  workerCount(definition: JobDefinition<unknown>): Promise<number>;
  /** Returns the milliseconds that the oldest ready job has waited. 0 when there is none. */
  oldestAgeMs(definition: JobDefinition<unknown>): Promise<number>;
  /** The BullMQ queue itself, for the operations dashboard. */
  raw(definition: JobDefinition<unknown>): Queue;
  /** The connection of the queues, which fails fast. */
  redis: Redis;
  /** The prefix of every key in Redis. */
  prefix: string;
  close(): Promise<void>;
}

/**
 * Opens the queues.
 * @param options.prefix of every key in Redis, see REDIS_PREFIX.
 * @param options.service under which operators see this process.
 */
export function openQueues(options: { redisUrl: string; prefix: string; log: Logger; service?: string }): Queues {
  const { service } = options;
  const name = service && processName(service, options.prefix);
  const redis = connectFailFast(options.redisUrl, options.log, name);
  const queues = new Map<string, Queue>();

  function raw(definition: JobDefinition<unknown>): Queue {
    let queue = queues.get(definition.name);
    if (!queue) {
      queue = new Queue(queueName(redis, definition), {
        connection: redis,
        prefix: options.prefix,
        skipVersionCheck: true,
        skipWaitingForReady: true, // Without this, adding a job would wait for Redis instead of failing.
        streams: { events: { maxLen: 500 } },
        ...queueTelemetry(),
        defaultJobOptions: {
          attempts: definition.attempts,
          backoff: { type: 'exponential', delay: definition.backoffMs, jitter: JITTER },
          // The queue would silently ignore the id of a finished job that it keeps.
          removeOnComplete: true,
          removeOnFail: definition.failedKept ? { count: definition.failedKept } : true,
        },
      });
      queue.on('error', (error) => options.log.debug({ err: error }, 'queue connection failed'));
      queues.set(definition.name, queue);
    }
    return queue;
  }

  function divided<Payload>({ name, unsaved }: JobDefinition<Payload>, id: string, payload: Payload) {
    if (!unsaved) return { saved: payload, kept: undefined };
    const { [unsaved.field]: value, ...saved } = payload as Record<string, unknown>;
    const kept = keepUnsaved(redis, unsavedKey(options.prefix, name, id), value, Number(saved[unsaved.deadlineField]));
    return { saved, kept };
  }

  return {
    redis,
    prefix: options.prefix,
    raw,
    async enqueue(definition, { payload, ...entry }) {
      const { saved, kept } = divided(definition, entry.id, payload);
      // Both commands go in this order over one connection, so that no worker finds the job without its unsaved field.
      // In a cluster they may go to two servers.
      if (isCluster(redis)) await kept;
      await Promise.all([kept, raw(definition).add(definition.name, saved, optionsOf(entry))]);
    },
    async enqueueAll(definition, entries) {
      if (entries.length === 0) return;
      const parts = entries.map(({ payload, ...entry }) => ({ ...divided(definition, entry.id, payload), entry }));
      const stored = parts.map(async ({ kept }) => kept);
      if (isCluster(redis)) await Promise.all(stored);
      const jobs = parts.map(({ saved, entry }) => ({ name: definition.name, data: saved, opts: optionsOf(entry) }));
      await Promise.all([...stored, raw(definition).addBulk(jobs)]);
    },
    async remove(definition, id) {
      try {
        const isRemoved = (await raw(definition).remove(id)) === 1;
        if (isRemoved && definition.unsaved) await redis.unlink(unsavedKey(options.prefix, definition.name, id));
        return isRemoved;
      } catch {
        // A running job is locked and cannot be removed. The caller cancels it instead.
        return false;
      }
    },
    stateOf: (definition, id) => raw(definition).getJobState(id),
    async fateOf(definition, id) {
      const queue = raw(definition);
      // This reads fields instead of the job, which may carry a whole document. BullMQ counts the runs that started and those that ended.
      const [[addedAt, started = 0, ended = 0], isLocked] = await Promise.all([
        redis.hmget(queue.toKey(id), 'timestamp', 'ats', 'atm'),
        redis.exists(`${queue.toKey(id)}:lock`),
      ]);
      if (!addedAt) return 'gone';
      if (!started) return 'untaken';
      const running = isLocked ? 1 : 0;
      return Number(started) - Number(ended) > running ? 'lost' : 'running';
    },
    async counts(definition) {
      const counts = await raw(definition).getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed');
      return {
        ready: (counts['waiting'] ?? 0) + (counts['prioritized'] ?? 0),
        active: counts['active'] ?? 0,
        delayed: counts['delayed'] ?? 0,
        failed: counts['failed'] ?? 0,
      };
    },
    workerCount: (definition) => raw(definition).getWorkersCount(),
    async oldestAgeMs(definition) {
      const queue = raw(definition);
      // This reads ids instead of jobs, which may carry whole documents. The oldest prioritized job is one of the
      // first, not always the first.
      const [unprioritized, prioritized] = await Promise.all([
        queue.getRanges(['waiting'], 0, 0, true),
        redis.zrange(queue.toKey('prioritized'), '0', String(PRIORITIZED_MOST - 1)),
      ]);
      const ids = [...unprioritized, ...prioritized];
      if (ids.length === 0) return 0;
      const questions = redis.pipeline();
      for (const id of ids) questions.hget(queue.toKey(id), 'timestamp');
      const times = ((await questions.exec()) ?? []).map(([, addedAt]) => Number(addedAt)).filter((time) => time > 0);
      return times.length > 0 ? Math.max(0, agreedTime() - Math.min(...times)) : 0;
    },
    async close() {
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

/** More than one account may have in flight. */
const PRIORITIZED_MOST = 50;

/** BullMQ takes jobs without a priority before all that have one. */
const BACKGROUND_PRIORITY = 1_000;

function optionsOf({ id, delayMs, trace, isBackground, behind = 0 }: Omit<Entry<unknown>, 'payload'>) {
  const priority = isBackground ? BACKGROUND_PRIORITY : Math.min(behind, BACKGROUND_PRIORITY - 1);
  return {
    jobId: id,
    // A delay ends at this time plus the delay, for all processes.
    timestamp: agreedTime(),
    ...(delayMs ? { delay: delayMs } : {}),
    ...jobTelemetry(trace),
    ...(priority > 0 ? { priority } : {}),
  };
}

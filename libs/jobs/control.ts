// The operator's view of the queues and control over them: workers, jobs in flight, pause, resume, retry, remove.
import { catalog, deliverWebhook, type JobDefinition, renderDocument, retryWebhook } from './catalog.ts';
import type { Queues } from './queue.ts';

type Definition = JobDefinition<unknown>;

export interface WorkerReading {
  /** The worker's name, `host/process id`. */
  name: string;
  queue: string;
  address: string;
  connectedMs: number;
  /** Its jobs in flight. */
  jobs: ActiveJob[];
}

export interface ActiveJob {
  id: string;
  queue: string;
  sinceMs: number;
  /** The request that caused the job. Absent for documents, whose data is not read, see jobsOf. */
  requestId: string | undefined;
}

export interface WaitingJob {
  id: string;
  enqueuedAt: Date | undefined;
  /** The time at which a delayed job may be taken. Absent for a job that a worker could take now. */
  dueAt: Date | undefined;
}

export interface FailedJob {
  id: string;
  reason: string;
  failedAt: Date | undefined;
  attempts: number;
}

/** One job as its page shows it. It holds ids and times, and never a customer's content. */
export interface JobReading {
  id: string;
  /** BullMQ's state: active, waiting, prioritized, delayed, failed or completed. */
  state: string;
  enqueuedAt: Date | undefined;
  startedAt: Date | undefined;
  endedAt: Date | undefined;
  attempts: number;
  /** The worker that took it last, `host/process id`. */
  worker: string | undefined;
  reason: string | undefined;
  /** The stack of the last failure. */
  stack: string | undefined;
  /** The ids in its payload, by field. */
  ids: Partial<Record<JobIdField, string>>;
}

/** The fields of payloads that pages may show. All others could hold content of a document. */
const ID_FIELDS = ['accountId', 'requestId', 'eventId', 'deliveryId', 'endpointId'] as const;
export type JobIdField = (typeof ID_FIELDS)[number];

/** Far more than the slots of all workers. */
const ACTIVE_MAX = 10_000;
const RETRY_BATCH = 100;

/** Returns the queue of that name, or undefined. */
export function findDefinition(name: string): Definition | undefined {
  return catalog.find((definition) => definition.name === name);
}

/** Returns every worker of every queue with its jobs in flight, and the jobs whose worker is no longer connected. */
export async function readWorkers(queues: Queues): Promise<{ workers: WorkerReading[]; orphans: ActiveJob[] }> {
  const perQueue = await Promise.all(catalog.map((definition) => workersOf(queues, definition)));
  return { workers: perQueue.flatMap(({ workers }) => workers), orphans: perQueue.flatMap(({ orphans }) => orphans) };
}

async function workersOf(queues: Queues, definition: Definition) {
  const [clients, inFlight] = await Promise.all([
    queues.raw(definition).getWorkers(),
    jobsInFlight(queues, definition),
  ]);
  const workers = clients.map((client): WorkerReading => {
    // A worker's connection is called `<prefix>:<queue>:w:<name>`.
    const name = client['rawname']?.split(':w:')[1] ?? 'unnamed';
    return {
      name,
      queue: definition.name,
      address: client['addr'] ?? '',
      connectedMs: Number(client['age'] ?? 0) * 1000,
      jobs: inFlight.filter(({ worker }) => worker === name).map(({ job }) => job),
    };
  });
  const known = new Set(workers.map(({ name }) => name));
  return { workers, orphans: inFlight.filter(({ worker }) => !known.has(worker ?? '')).map(({ job }) => job) };
}

async function jobsInFlight(queues: Queues, definition: Definition) {
  const fields = ['pb', 'processedOn', ...(definition === renderDocument ? [] : ['data'])];
  const jobs = await jobsOf(queues, definition, { state: 'active', limit: ACTIVE_MAX, fields });
  const now = Date.now();
  return jobs.map(({ id, values: [worker, processedOn, data] }) => ({
    worker,
    job: {
      id,
      queue: definition.name,
      sinceMs: Math.max(0, now - Number(processedOn ?? now)),
      requestId: data ? requestOf(data) : undefined,
    },
  }));
}

function requestOf(data: string): string | undefined {
  const { requestId } = JSON.parse(data) as { requestId?: unknown };
  return typeof requestId === 'string' ? requestId : undefined;
}

/**
 * Reads the named fields of jobs, with BullMQ's names. Whole jobs would bring documents of up to 3 MiB each over the
 * connection that callers wait for.
 */
async function jobsOf(
  queues: Queues,
  definition: Definition,
  {
    state,
    limit,
    fields,
  }: { state: 'active' | 'failed' | 'waiting' | 'prioritized' | 'delayed'; limit: number; fields: string[] },
) {
  const queue = queues.raw(definition);
  // Failed jobs come newest first, all others oldest first: a job that hangs is old.
  const ids: string[] = await queue.getRanges([state], 0, limit - 1, state !== 'failed');
  const jobs = await Promise.all(
    ids.map(async (id) => ({ id, values: await queues.redis.hmget(queue.toKey(id), ...fields) })),
  );
  // The other jobs were removed in the meantime.
  return jobs.filter(({ values }) => values.some((value) => value !== null));
}

/**
 * The two queues of deliveries. They are paused and resumed together, because a delivery that waits too long in one is
 * enqueued in the other.
 */
const DELIVERY: readonly Definition[] = [deliverWebhook, retryWebhook];

const togetherWith = (definition: Definition) => (DELIVERY.includes(definition) ? DELIVERY : [definition]);

/** Returns the names of the other queues that are paused and resumed with this one. */
export function pausedWith(name: string): string[] {
  const names = DELIVERY.map((definition) => definition.name);
  return names.includes(name) ? names.filter((other) => other !== name) : [];
}

/**
 * Pauses a queue. Workers finish their jobs in flight and take no more until it is resumed. New jobs are still
 * accepted.
 */
export async function pauseQueue(queues: Queues, definition: Definition): Promise<void> {
  await Promise.all(togetherWith(definition).map((each) => queues.raw(each).pause()));
}

export async function resumeQueue(queues: Queues, definition: Definition): Promise<void> {
  await Promise.all(togetherWith(definition).map((each) => queues.raw(each).resume()));
}

/** Returns the latest failed jobs. Their data is left out, because it may hold a customer's document. */
export async function findFailedJobs(queues: Queues, definition: Definition, limit: number): Promise<FailedJob[]> {
  const fields = ['failedReason', 'finishedOn', 'atm'];
  const jobs = await jobsOf(queues, definition, { state: 'failed', limit, fields });
  return jobs.map(({ id, values: [reason, finishedOn, attempts] }) => ({
    id,
    reason: reason ?? 'unknown',
    failedAt: finishedOn ? new Date(Number(finishedOn)) : undefined,
    attempts: Number(attempts ?? 0),
  }));
}

/** Returns the jobs that wait, the next ones first, at most `limit` each of those that are ready and that are delayed. */
export async function findWaitingJobs(queues: Queues, definition: Definition, limit: number): Promise<WaitingJob[]> {
  const fields = ['timestamp', 'delay'];
  const states = ['waiting', 'prioritized', 'delayed'] as const;
  const found = await Promise.all(
    states.map(async (state) => {
      const jobs = await jobsOf(queues, definition, { state, limit, fields });
      return jobs.map(({ id, values: [timestamp, delay] }) => ({
        id,
        enqueuedAt: timeOf(timestamp),
        dueAt: state === 'delayed' ? timeOf(timestamp, Number(delay ?? 0)) : undefined,
      }));
    }),
  );
  const [waiting = [], prioritized = [], delayed = []] = found;
  return [...[...waiting, ...prioritized].slice(0, limit), ...delayed];
}

/** Reads one job. @returns undefined when the queue has no such job. */
export async function findJob(queues: Queues, definition: Definition, id: string): Promise<JobReading | undefined> {
  const fields = ['timestamp', 'processedOn', 'finishedOn', 'atm', 'pb', 'failedReason', 'stacktrace', 'data'];
  const [state, [enqueued, started, ended, attempts, worker, reason, stacktrace, data]] = await Promise.all([
    queues.stateOf(definition, id),
    queues.redis.hmget(queues.raw(definition).toKey(id), ...fields),
  ]);
  if (state === 'unknown') return undefined;
  const stacks = JSON.parse(stacktrace || '[]') as string[];
  return {
    id,
    state,
    enqueuedAt: timeOf(enqueued),
    startedAt: timeOf(started),
    endedAt: timeOf(ended),
    attempts: Number(attempts ?? 0),
    worker: worker ?? undefined,
    reason: reason ?? undefined,
    stack: stacks.at(-1),
    ids: idsOf(data),
  };
}

function idsOf(data: string | null | undefined): JobReading['ids'] {
  const payload = JSON.parse(data || '{}') as Record<string, unknown>;
  const known = ID_FIELDS.map((field) => [field, payload[field]] as const);
  return Object.fromEntries(known.filter(([, value]) => typeof value === 'string'));
}

function timeOf(text: string | null | undefined, laterMs = 0): Date | undefined {
  return text ? new Date(Number(text) + laterMs) : undefined;
}

export type RetryOutcome = 'retried' | 'gone' | 'not failed';

/** Retries one failed job. `gone`: the queue has no job with that id. */
export async function retryJob(queues: Queues, definition: Definition, id: string): Promise<RetryOutcome> {
  const job = await queues.raw(definition).getJob(id);
  if (!job) return 'gone';
  if (!(await job.isFailed())) return 'not failed';
  try {
    await job.retry('failed');
  } catch (error) {
    // Another operator removed or retried it between the check and the retry.
    const state = await queues.stateOf(definition, id);
    if (state === 'unknown') return 'gone';
    if (state !== 'failed') return 'not failed';
    throw error;
  }
  return 'retried';
}

/** Retries failed jobs, oldest first, at most `limit`. @returns how many. Call it again until it returns 0. */
export async function retryFailedJobs(queues: Queues, definition: Definition, limit = RETRY_BATCH): Promise<number> {
  const jobs = await queues.raw(definition).getJobs(['failed'], 0, limit - 1, true);
  const outcomes = await Promise.all(jobs.map((job) => retryJob(queues, definition, job.id ?? '')));
  return outcomes.filter((outcome) => outcome === 'retried').length;
}

export type RemoveOutcome = 'removed' | 'gone' | 'not failed';

/**
 * Removes one failed job. A job that another operator retries at the same moment may be removed as well; its event or
 * delivery is in MongoDB, and is enqueued again from there.
 */
export async function removeJob(queues: Queues, definition: Definition, id: string): Promise<RemoveOutcome> {
  const state = await queues.stateOf(definition, id);
  if (state === 'unknown') return 'gone';
  if (state !== 'failed') return 'not failed';
  return (await queues.raw(definition).remove(id)) === 1 ? 'removed' : 'gone';
}

/** More than a queue keeps of failed jobs, see `failedKept`. */
const REMOVED_MAX = 1_000;

/** Removes all failed jobs of a queue. @returns how many. */
export async function removeFailedJobs(queues: Queues, definition: Definition): Promise<number> {
  return (await queues.raw(definition).clean(0, REMOVED_MAX, 'failed')).length;
}

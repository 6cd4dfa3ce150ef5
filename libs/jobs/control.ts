// What an operator sees of the queues and does to them: workers, jobs in flight, pause, resume, retry.
import { catalog, deliverWebhook, type JobDefinition, renderDocument, retryWebhook } from './catalog.ts';
import type { Queues } from './queue.ts';

type Definition = JobDefinition<unknown>;

export interface WorkerReading {
  /** `host/process id`, as workers name themselves. */
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
  /** The request that caused it. Absent for documents, whose data is not read, see jobsOf. */
  requestId: string | undefined;
}

export interface FailedJob {
  id: string;
  reason: string;
  failedAt: Date | undefined;
  attempts: number;
}

/** Far more than the slots of all workers. */
const ACTIVE_MAX = 10_000;
const RETRY_BATCH = 100;

/** @returns the queue of that name, or undefined. */
export function findDefinition(name: string): Definition | undefined {
  return catalog.find((definition) => definition.name === name);
}

/** Every worker of every queue with its jobs in flight, and jobs whose worker is no longer connected. */
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
 * Only the named fields, as BullMQ calls them: whole jobs would bring whole documents, of up to 3 MiB each, over the connection that callers
 * wait for.
 */
async function jobsOf(
  queues: Queues,
  definition: Definition,
  { state, limit, fields }: { state: 'active' | 'failed'; limit: number; fields: string[] },
) {
  const queue = queues.raw(definition);
  // Jobs in flight oldest first, because a job that hangs is old; failed jobs newest first.
  const ids: string[] = await queue.getRanges([state], 0, limit - 1, state === 'active');
  const jobs = await Promise.all(
    ids.map(async (id) => ({ id, values: await queues.redis.hmget(queue.toKey(id), ...fields) })),
  );
  // The others were removed since.
  return jobs.filter(({ values }) => values.some((value) => value !== null));
}

/** A delivery that waits too long in one queue is enqueued in the other: they are paused and resumed together. */
const DELIVERY: readonly Definition[] = [deliverWebhook, retryWebhook];

const togetherWith = (definition: Definition) => (DELIVERY.includes(definition) ? DELIVERY : [definition]);

/** @returns the other queues that are paused and resumed with the one of this name. */
export function pausedWith(name: string): string[] {
  const names = DELIVERY.map((definition) => definition.name);
  return names.includes(name) ? names.filter((other) => other !== name) : [];
}

/** Workers finish their jobs in flight and take no more until it is resumed. New jobs are still accepted. */
export async function pauseQueue(queues: Queues, definition: Definition): Promise<void> {
  await Promise.all(togetherWith(definition).map((each) => queues.raw(each).pause()));
}

export async function resumeQueue(queues: Queues, definition: Definition): Promise<void> {
  await Promise.all(togetherWith(definition).map((each) => queues.raw(each).resume()));
}

/** The latest failed jobs. Their data is left out: it may hold a customer's document. */
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

export type RetryOutcome = 'retried' | 'gone' | 'not failed';

/** Puts one failed job back. `gone`: the queue has no job with that id. */
export async function retryJob(queues: Queues, definition: Definition, id: string): Promise<RetryOutcome> {
  const job = await queues.raw(definition).getJob(id);
  if (!job) return 'gone';
  if (!(await job.isFailed())) return 'not failed';
  try {
    await job.retry('failed');
  } catch (error) {
    // Between the check and the retry another operator removed or retried it.
    const state = await queues.stateOf(definition, id);
    if (state === 'unknown') return 'gone';
    if (state !== 'failed') return 'not failed';
    throw error;
  }
  return 'retried';
}

/** Puts the failed jobs back, oldest first, at most `limit`. @returns how many; call again until it is 0. */
export async function retryFailedJobs(queues: Queues, definition: Definition, limit = RETRY_BATCH): Promise<number> {
  const jobs = await queues.raw(definition).getJobs(['failed'], 0, limit - 1, true);
  const outcomes = await Promise.all(jobs.map((job) => retryJob(queues, definition, job.id ?? '')));
  return outcomes.filter((outcome) => outcome === 'retried').length;
}

// The operator's view of the queues and control over them: workers, jobs in flight, pause, resume, retry.
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

export interface FailedJob {
  id: string;
  reason: string;
  failedAt: Date | undefined;
  attempts: number;
}

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
  { state, limit, fields }: { state: 'active' | 'failed'; limit: number; fields: string[] },
) {
  const queue = queues.raw(definition);
  // Jobs in flight come oldest first, because a job that hangs is old. Failed jobs come newest first.
  const ids: string[] = await queue.getRanges([state], 0, limit - 1, state === 'active');
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

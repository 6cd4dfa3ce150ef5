// What an operator may see and do to the queues: workers, jobs in hand, pause, resume, retry.
import type { Job } from 'bullmq';
import { catalog, type JobDefinition } from './catalog.ts';
import type { Queues } from './queue.ts';

type Definition = JobDefinition<unknown>;

export interface WorkerReading {
  /** `host/process id`, as workers name themselves. */
  name: string;
  queue: string;
  address: string;
  connectedMs: number;
  /** Jobs it has in hand now. */
  jobs: ActiveJob[];
}

export interface ActiveJob {
  id: string;
  queue: string;
  sinceMs: number;
  /** The request it works for, when it works for one. */
  requestId: string | undefined;
}

export interface FailedJob {
  id: string;
  reason: string;
  failedAt: Date | undefined;
  attempts: number;
}

/** Nobody reads further than this. */
const ACTIVE_SHOWN = 100;
const RETRY_BATCH = 100;

/** @returns the queue of that name, or undefined. */
export function findDefinition(name: string): Definition | undefined {
  return catalog.find((definition) => definition.name === name);
}

/** Every worker of every queue with what it has in hand, and jobs whose worker is not connected any more. */
export async function readWorkers(queues: Queues): Promise<{ workers: WorkerReading[]; orphans: ActiveJob[] }> {
  const perQueue = await Promise.all(catalog.map((definition) => workersOf(queues, definition)));
  return { workers: perQueue.flatMap(({ workers }) => workers), orphans: perQueue.flatMap(({ orphans }) => orphans) };
}

async function workersOf(queues: Queues, definition: Definition) {
  const queue = queues.raw(definition);
  const [clients, jobs] = await Promise.all([queue.getWorkers(), queue.getJobs(['active'], 0, ACTIVE_SHOWN - 1)]);
  const now = Date.now();
  const inHand = jobs.map((job) => ({ worker: job.processedBy, job: activeJob(job, definition, now) }));
  const workers = clients.map((client): WorkerReading => {
    // A worker's connection is called `<prefix>:<queue>:w:<name>`.
    const name = client['rawname']?.split(':w:')[1] ?? 'unnamed';
    return {
      name,
      queue: definition.name,
      address: client['addr'] ?? '',
      connectedMs: Number(client['age'] ?? 0) * 1000,
      jobs: inHand.filter(({ worker }) => worker === name).map(({ job }) => job),
    };
  });
  const known = new Set(workers.map(({ name }) => name));
  return { workers, orphans: inHand.filter(({ worker }) => !known.has(worker ?? '')).map(({ job }) => job) };
}

function activeJob(job: Job, definition: Definition, now: number): ActiveJob {
  const { requestId } = job.data as { requestId?: unknown };
  return {
    id: job.id ?? '',
    queue: definition.name,
    sinceMs: Math.max(0, now - (job.processedOn ?? now)),
    requestId: typeof requestId === 'string' ? requestId : undefined,
  };
}

/** Workers finish what they have in hand and take nothing more, until it is resumed. Jobs still come in. */
export async function pauseQueue(queues: Queues, definition: Definition): Promise<void> {
  await queues.raw(definition).pause();
}

export async function resumeQueue(queues: Queues, definition: Definition): Promise<void> {
  await queues.raw(definition).resume();
}

/** The latest failed jobs that were kept. Their data are left out: they may hold a customer's document. */
export async function findFailedJobs(queues: Queues, definition: Definition, limit: number): Promise<FailedJob[]> {
  const jobs = await queues.raw(definition).getJobs(['failed'], 0, limit - 1);
  return jobs.map((job) => ({
    id: job.id ?? '',
    reason: job.failedReason ?? 'unknown',
    failedAt: job.finishedOn ? new Date(job.finishedOn) : undefined,
    attempts: job.attemptsMade,
  }));
}

export type RetryOutcome = 'retried' | 'gone' | 'not failed';

/** Puts one failed job back. `gone`: the queue has no job with that id (any more). */
export async function retryJob(queues: Queues, definition: Definition, id: string): Promise<RetryOutcome> {
  const job = await queues.raw(definition).getJob(id);
  if (!job) return 'gone';
  if (!(await job.isFailed())) return 'not failed';
  try {
    await job.retry('failed');
  } catch (error) {
    // Between the look and the retry somebody else took it away or put it back.
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

// The commands about the queues: state, pause, resume, retry.
import { catalog, type JobDefinition } from '#libs/jobs/catalog.ts';
import { findDefinition, pauseQueue, resumeQueue, retryFailedJobs, retryJob } from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { recorded } from './audited.ts';
import { CommandError } from './connection.ts';

async function listQueues(queues: Queues) {
  return Promise.all(catalog.map((definition) => view(queues, definition)));
}

async function pause(queues: Queues, name: string) {
  const definition = requireQueue(name);
  await recorded('queue.pause', name, async () => {
    await pauseQueue(queues, definition);
    return {};
  });
  return view(queues, definition);
}

async function resume(queues: Queues, name: string) {
  const definition = requireQueue(name);
  await recorded('queue.resume', name, async () => {
    await resumeQueue(queues, definition);
    return {};
  });
  return view(queues, definition);
}

/** Retries failed jobs. @param id one job, or all failed jobs when absent. */
async function retry(queues: Queues, name: string, id: string | undefined) {
  const definition = requireQueue(name);
  if (id === undefined) {
    const { retried } = await recorded('jobs.retry', name, async () => {
      const count = await retryAll(queues, definition);
      return { retried: count, detail: `${count} job(s)` };
    });
    return { queue: name, retried };
  }
  const gone = () => new CommandError(`The job ${id} is gone: it was done or removed`);
  if ((await queues.stateOf(definition, id)) === 'unknown') throw gone();
  await recorded('job.retry', `${name} ${id}`, async () => {
    const outcome = await retryJob(queues, definition, id);
    if (outcome === 'gone') throw gone();
    if (outcome === 'not failed') throw new CommandError(`The job ${id} has not failed; nothing was done`);
    return {};
  });
  return { queue: name, job: id, status: 'waiting' };
}

/** Retries at most the number of failed jobs at the start, because a job may fail again at once. */
async function retryAll(queues: Queues, definition: JobDefinition<unknown>): Promise<number> {
  const { failed } = await queues.counts(definition);
  let done = 0;
  while (done < failed) {
    const more = await retryFailedJobs(queues, definition, Math.min(100, failed - done));
    if (more === 0) break;
    done += more;
  }
  return done;
}

function requireQueue(name: string): JobDefinition<unknown> {
  const definition = findDefinition(name);
  if (!definition) {
    throw new CommandError(`There is no queue ${name}. There are ${catalog.map((each) => each.name).join(', ')}`);
  }
  return definition;
}

async function view(queues: Queues, definition: JobDefinition<unknown>) {
  const queue = queues.raw(definition);
  const [isPaused, counts, ageMs, workers] = await Promise.all([
    queue.isPaused(),
    queues.counts(definition),
    queues.oldestAgeMs(definition),
    queue.getWorkersCount(),
  ]);
  return {
    queue: definition.name,
    state: isPaused ? 'PAUSED' : 'running',
    oldest_seconds: Math.round(ageMs / 100) / 10,
    ...counts,
    workers,
  };
}

/** The commands by their names. */
export const queueCommands = { list: listQueues, pause, resume, retry };

// The actions on a queue and its failed jobs: pause, resume, retry, remove.
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import {
  pauseQueue,
  type RemoveOutcome,
  type RetryOutcome,
  removeFailedJobs,
  removeJob,
  resumeQueue,
  retryJob,
} from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { counted } from '#libs/pages/format.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { jobGone, orUnavailable, requireQueue } from './known-queue.ts';

export async function pause({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const auditedAction = { ...actorOf(visitor), action: 'queue.pause', target: definition.name } as const;
  const { entryId } = await audited(auditedAction, async () => {
    await orUnavailable(pauseQueue(queues, definition));
    return { detail: `${definition.name} is paused. Workers finish their current jobs.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function resume({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const auditedAction = { ...actorOf(visitor), action: 'queue.resume', target: definition.name } as const;
  const { entryId } = await audited(auditedAction, async () => {
    await orUnavailable(resumeQueue(queues, definition));
    return { detail: `${definition.name} is running again.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function retryOne({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const id = await requireJobId(queues, definition, request.params['id']);
  const auditedAction = { ...actorOf(visitor), action: 'job.retry', target: `${definition.name} ${id}` } as const;
  const { entryId } = await audited(auditedAction, async () => {
    requireDone(id, await orUnavailable(retryJob(queues, definition, id)));
    return { detail: `The job ${id} is back in the queue.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function removeOne({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const id = await requireJobId(queues, definition, request.params['id']);
  const auditedAction = { ...actorOf(visitor), action: 'job.remove', target: `${definition.name} ${id}` } as const;
  const { entryId } = await audited(auditedAction, async () => {
    requireDone(id, await orUnavailable(removeJob(queues, definition, id)));
    return { detail: `The job ${id} is removed.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function removeAll({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const auditedAction = { ...actorOf(visitor), action: 'jobs.remove', target: definition.name } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const removed = await orUnavailable(removeFailedJobs(queues, definition));
    return { detail: `${counted(removed, 'failed job is', 'failed jobs are')} removed.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

/** Checks that the job exists, before anything is recorded: a key pasted into the address must not be stored. */
async function requireJobId(queues: Queues, definition: JobDefinition<unknown>, given: unknown): Promise<string> {
  const id = String(given);
  if ((await orUnavailable(queues.stateOf(definition, id))) === 'unknown') throw jobGone(id);
  return id;
}

function requireDone(id: string, outcome: RetryOutcome | RemoveOutcome) {
  if (outcome === 'gone') throw jobGone(id);
  if (outcome === 'not failed') throw new PageError(409, `The job ${id} is no longer failed; nothing was changed`);
}

export async function retryAll({ request, queues, visitor, bulk }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const auditedAction = { ...actorOf(visitor), action: 'jobs.retry', target: definition.name } as const;
  const { runId, entryId } = await audited(auditedAction, async () => {
    const { failed } = await orUnavailable(queues.counts(definition));
    const title = `Retry the failed jobs of ${definition.name}`;
    const wanted = { kind: 'retry-jobs', title, selection: definition.name, total: failed } as const;
    const { run } = await bulk.start({ ...wanted, operator: visitor.name });
    return {
      runId: String(run._id),
      detail: `${counted(failed, 'job goes back to its queue', 'jobs go back to their queue')}.`,
    };
  });
  return { to: `/bulk/${runId}`, entryId };
}

// The actions that pause, resume and retry a queue.
import { pauseQueue, resumeQueue, retryJob } from '#libs/jobs/control.ts';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { DashboardError } from '../views/dashboard-error.ts';
import { counted } from '../views/format.ts';
import { orUnavailable, requireQueue } from './known-queue.ts';

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
  const id = String(request.params['id']);
  const gone = () => new DashboardError(404, `The job ${id} no longer exists: it was completed or removed`);
  // The check comes before the audit log: a key pasted into the address must not be stored.
  if ((await orUnavailable(queues.stateOf(definition, id))) === 'unknown') throw gone();
  const auditedAction = { ...actorOf(visitor), action: 'job.retry', target: `${definition.name} ${id}` } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const outcome = await orUnavailable(retryJob(queues, definition, id));
    if (outcome === 'gone') throw gone();
    if (outcome === 'not failed')
      throw new DashboardError(409, `The job ${id} is no longer failed; nothing was changed`);
    return { detail: `The job ${id} is back in the queue.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function retryAll({ request, queues, visitor, bulk }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const auditedAction = { ...actorOf(visitor), action: 'jobs.retry', target: definition.name } as const;
  const { runId, entryId } = await audited(auditedAction, async () => {
    const { failed } = await orUnavailable(queues.counts(definition));
    const title = `Retry the failed jobs of ${definition.name}`;
    const run = { kind: 'retry-jobs', title, selection: definition.name, total: failed } as const;
    const { _id } = await bulk.start({ ...run, operator: visitor.name });
    return {
      runId: String(_id),
      detail: `${counted(failed, 'job goes back to its queue', 'jobs go back to their queue')}.`,
    };
  });
  return { to: `/bulk/${runId}`, entryId };
}

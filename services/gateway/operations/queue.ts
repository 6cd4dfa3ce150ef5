// One queue: its state, what is in hand, what failed, and pausing, resuming and retrying.
import type { VNode } from 'preact';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import {
  type ActiveJob,
  type FailedJob,
  findDefinition,
  findFailedJobs,
  pauseQueue,
  readWorkers,
  resumeQueue,
  retryJob,
} from '#libs/jobs/control.ts';
import { audited } from '#libs/models/audit-entry.ts';
import { urgencyOf } from './alarms.ts';
import { actorOf } from './bulk.ts';
import { axis, highest, line, perMinute } from './charts.ts';
import type { Done } from './dashboard.ts';
import { ago, count, counted, duration } from './format.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';
import { type QueueNumbers, readQueue } from './numbers.ts';
import { action, badge, live, note, shortId, stat, table } from './parts.ts';
import { Refusal } from './refusal.ts';
import type { Visit, Visitor } from './visit.ts';

const CHART_MINUTES = 6 * 60;
const MINUTE_MS = 60_000;
const FAILED_SHOWN = 50;

export async function queuePage({ request, queues, visitor }: Visit): Promise<Page> {
  const definition = requireQueue(request.params['name']);
  const since = new Date(Date.now() - (CHART_MINUTES + 1) * MINUTE_MS);
  const [numbers, all, failed] = await orUnavailable(
    Promise.all([
      readQueue(queues, definition.name, since),
      readWorkers(queues),
      findFailedJobs(queues, definition, FAILED_SHOWN),
    ]),
  );
  const jobs = [...all.workers.flatMap((worker) => worker.jobs), ...all.orphans];
  const body = html`<div>
    ${live('queue', state(numbers, visitor))}
    ${live('charts', charts(numbers))}
    ${live('active', activeJobs(jobs.filter(({ queue }) => queue === definition.name)))}
    ${live('failed', failedJobs(numbers, failed, visitor))}
  </div>`;
  return { title: definition.name, section: '/', body };
}

function state({ name, isPaused, ageMs, ready, active, delayed, failed }: QueueNumbers, visitor: Visitor): VNode {
  const tone = isPaused ? 'bad' : urgencyOf(name, ageMs);
  const button = isPaused
    ? action({ to: `/queues/${name}/resume`, csrf: visitor.csrf, label: 'Resume', tone: 'main', of: name })
    : action({ to: `/queues/${name}/pause`, csrf: visitor.csrf, label: 'Pause', of: name });
  return html`<div class=${`card ${tone ?? ''}`}>
    ${isPaused ? note('bad', html`<strong>PAUSED.</strong> Jobs come in and wait; no worker takes one until it is resumed.`) : null}
    <p class="figure"><strong>${ready === 0 ? '0 s' : duration(ageMs)}</strong> oldest waiting</p>
    <dl class="stats wide">
      ${stat('State', isPaused ? badge('PAUSED', 'bad') : badge('running', 'good'))} ${stat('Ready', count(ready))}
      ${stat('Active', count(active))} ${stat('Delayed', count(delayed))}
      ${stat('Failed', count(failed), failed > 0 ? { tone: 'bad' } : {})}
    </dl>
    ${visitor.role === 'operator' ? button : null}
  </div>`;
}

function charts({ name, samples }: QueueNumbers): VNode {
  const ready = perMinute(samples, CHART_MINUTES, (sample) => sample?.ready);
  const ages = perMinute(samples, CHART_MINUTES, (sample) => sample?.age_ms);
  return html`<div class="columns">
    <div class="card">
      <h2>Ready</h2>
      ${line({ name: 'main', values: ready }, `Jobs of ${name} that waited, per minute, in the last 6 hours`)}
      ${axis(CHART_MINUTES, `at most ${counted(highest(ready), 'job')}`)}
    </div>
    <div class="card">
      <h2>Oldest waiting</h2>
      ${line({ name: 'main', values: ages }, `How long the oldest job of ${name} had waited, per minute, in the last 6 hours`, 1000)}
      ${axis(CHART_MINUTES, `at most ${duration(highest(ages))}`)}
    </div>
  </div>`;
}

function activeJobs(jobs: ActiveJob[]): VNode {
  const columns = [
    { name: 'Job', cell: ({ id }: ActiveJob) => shortId(id) },
    { name: 'Since', cell: ({ sinceMs }: ActiveJob) => duration(sinceMs), isNumber: true },
    { name: 'Request', cell: ({ requestId }: ActiveJob) => (requestId ? shortId(requestId) : '–') },
  ];
  return html`<div>
    <h2>In hand</h2>
    ${table('Jobs workers have in hand', columns, jobs, 'Nothing is worked on in this moment.')}
  </div>`;
}

function failedJobs({ name, failed }: QueueNumbers, jobs: FailedJob[], visitor: Visitor): VNode {
  const { csrf, role } = visitor;
  const retry = ({ id }: FailedJob) =>
    action({ to: `/queues/${name}/jobs/${encodeURIComponent(id)}/retry`, csrf, label: 'Retry', of: id });
  const columns = [
    { name: 'Failed', cell: ({ failedAt }: FailedJob) => ago(failedAt) },
    { name: 'Job', cell: ({ id }: FailedJob) => shortId(id) },
    { name: 'Reason', cell: ({ reason }: FailedJob) => reason },
    { name: 'Attempts', isNumber: true, cell: ({ attempts }: FailedJob) => count(attempts) },
    ...(role === 'operator' ? [{ name: 'Act', cell: retry }] : []),
  ];
  const label = `Retry all ${count(failed)}`;
  return html`<div>
    <h2>Failed</h2>
    ${failed > 0 && role === 'operator' ? action({ to: `/queues/${name}/retry`, csrf, label }) : null}
    ${table('Failed jobs that were kept', columns, jobs, 'None is kept. Deliveries keep their own record, see Deliveries.')}
  </div>`;
}

export async function pause({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const deed = { ...actorOf(visitor), action: 'queue.pause', target: definition.name } as const;
  const { entryId } = await audited(deed, async () => {
    await orUnavailable(pauseQueue(queues, definition));
    return { detail: `${definition.name} is paused. Workers finish what they have in hand.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function resume({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const deed = { ...actorOf(visitor), action: 'queue.resume', target: definition.name } as const;
  const { entryId } = await audited(deed, async () => {
    await orUnavailable(resumeQueue(queues, definition));
    return { detail: `${definition.name} is running again.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function retryOne({ request, queues, visitor }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const id = String(request.params['id']);
  const deed = { ...actorOf(visitor), action: 'job.retry', target: `${definition.name} ${id}` } as const;
  const { entryId } = await audited(deed, async () => {
    const outcome = await orUnavailable(retryJob(queues, definition, id));
    if (outcome === 'gone') throw new Refusal(404, `The job ${id} is gone: it was done or removed meanwhile.`);
    if (outcome === 'not failed') throw new Refusal(409, `The job ${id} has not failed (any more); nothing was done.`);
    return { detail: `The job ${id} waits for a worker again.` };
  });
  return { to: `/queues/${definition.name}`, entryId };
}

export async function retryAll({ request, queues, visitor, bulk }: Visit): Promise<Done> {
  const definition = requireQueue(request.params['name']);
  const deed = { ...actorOf(visitor), action: 'jobs.retry', target: definition.name } as const;
  const { runId, entryId } = await audited(deed, async () => {
    const { failed } = await orUnavailable(queues.counts(definition));
    const title = `Retry the failed jobs of ${definition.name}`;
    const run = { kind: 'retry-jobs', title, selection: definition.name, total: failed } as const;
    const { _id } = await bulk.start({ ...run, operator: visitor.name });
    return { runId: String(_id), detail: `${counted(failed, 'job')} go back to their queue.` };
  });
  return { to: `/bulk/${runId}`, entryId };
}

function requireQueue(name: unknown): JobDefinition<unknown> {
  const definition = typeof name === 'string' ? findDefinition(name) : undefined;
  if (!definition) throw new Refusal(404, 'There is no such queue.');
  return definition;
}

async function orUnavailable<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error) => {
    if (error instanceof Refusal) throw error;
    throw new Refusal(503, `Redis does not answer (${error instanceof Error ? error.message : error}).`);
  });
}

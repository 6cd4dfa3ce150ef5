// The page of one queue: its state, its jobs in flight, waiting and failed, and buttons to pause, resume, retry and remove.
import type { VNode } from 'preact';
import {
  type ActiveJob,
  type FailedJob,
  findFailedJobs,
  findWaitingJobs,
  pausedWith,
  readWorkers,
  type WaitingJob,
} from '#libs/jobs/control.ts';
import { ago, count, counted, duration } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, badge, live, note, shortId, stat, table } from '#libs/pages/parts.ts';
import { orUnavailable, requireQueue } from '../actions/known-queue.ts';
import { urgencyOf } from '../monitoring/alarms.ts';
import { type QueueNumbers, readQueue } from '../monitoring/numbers.ts';
import type { Visit, Visitor } from '../session/visit.ts';
import { axis, highest, line, perStep, windowSince } from '../views/charts.ts';
import type { Page } from '../views/layout.ts';

const CHART_MINUTES = 6 * 60;
const MINUTE_MS = 60_000;
const FAILED_SHOWN = 50;
const WAITING_SHOWN = 20;

export async function queuePage({ request, queues, visitor }: Visit): Promise<Page> {
  const definition = requireQueue(request.params['name']);
  const since = new Date(Date.now() - (CHART_MINUTES + 1) * MINUTE_MS);
  const [numbers, all, failed, waiting] = await orUnavailable(
    Promise.all([
      readQueue(queues, definition.name, since),
      readWorkers(queues),
      findFailedJobs(queues, definition, FAILED_SHOWN),
      findWaitingJobs(queues, definition, WAITING_SHOWN),
    ]),
  );
  const jobs = [...all.workers.flatMap((worker) => worker.jobs), ...all.orphans];
  const body = html`<div>
    ${live('queue', state(numbers, visitor))}
    ${live('charts', charts(numbers))}
    ${live('active', activeJobs(jobs.filter(({ queue }) => queue === definition.name)))}
    ${live('waiting', waitingJobs(numbers, waiting))}
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
    ${isPaused ? note('bad', html`<strong>PAUSED.</strong> New jobs wait; no worker takes one until it is resumed. ${pausedWith(name).map((other) => html`<code>${other}</code> waits with it: the two are paused and resumed together.`)}`) : null}
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
  const window = windowSince([samples[0]?.at], CHART_MINUTES);
  const ready = perStep(samples, window, (sample) => sample?.ready);
  const ages = perStep(samples, window, (sample) => sample?.age_ms);
  return html`<div class="columns">
    <div class="card">
      <h2>Ready</h2>
      ${line({ name: 'main', values: ready }, `Jobs of ${name} that waited, per minute, in the last 6 hours`)}
      ${axis(window, `at most ${counted(highest(ready), 'job')}`)}
    </div>
    <div class="card">
      <h2>Oldest waiting</h2>
      ${line({ name: 'main', values: ages }, `How long the oldest job of ${name} had waited, per minute, in the last 6 hours`, 1000)}
      ${axis(window, `at most ${duration(highest(ages))}`)}
    </div>
  </div>`;
}

const ACTIVE_SHOWN = 100;

function activeJobs(jobs: ActiveJob[]): VNode {
  const longest = jobs.toSorted((one, other) => other.sinceMs - one.sinceMs).slice(0, ACTIVE_SHOWN);
  const columns = [
    { name: 'Job', cell: ({ id, queue }: ActiveJob) => jobLink(queue, id) },
    { name: 'Since', cell: ({ sinceMs }: ActiveJob) => duration(sinceMs), isNumber: true },
    { name: 'Request', cell: ({ requestId }: ActiveJob) => (requestId ? shortId(requestId) : '–') },
  ];
  return html`<div>
    <h2>Active</h2>
    ${table('Jobs in flight, longest first', columns, longest, 'No job is in flight.')}
    ${jobs.length > longest.length ? html`<p class="quiet">and ${counted(jobs.length - longest.length, 'more', 'more')}</p>` : null}
  </div>`;
}

function waitingJobs({ name, ready, delayed }: QueueNumbers, jobs: WaitingJob[]): VNode {
  const columns = [
    { name: 'Job', cell: ({ id }: WaitingJob) => jobLink(name, id) },
    { name: 'State', cell: ({ dueAt }: WaitingJob) => (dueAt ? badge('delayed') : badge('ready', 'main')) },
    { name: 'Enqueued', cell: ({ enqueuedAt }: WaitingJob) => ago(enqueuedAt) },
    { name: 'Due', cell: ({ dueAt }: WaitingJob) => ago(dueAt) },
  ];
  const more = ready + delayed - jobs.length;
  return html`<div>
    <h2>Waiting</h2>
    ${table('Jobs that wait, the next ones first', columns, jobs, 'No job waits.')}
    ${more > 0 ? html`<p class="quiet">and ${counted(more, 'more', 'more')}</p>` : null}
  </div>`;
}

const jobLink = (queue: string, id: string) =>
  html`<a href=${`/queues/${queue}/jobs/${encodeURIComponent(id)}`}>${shortId(id)}</a>`;

function failedJobs({ name, failed }: QueueNumbers, jobs: FailedJob[], visitor: Visitor): VNode {
  const { csrf, role } = visitor;
  const retry = ({ id }: FailedJob) =>
    action({ to: `/queues/${name}/jobs/${encodeURIComponent(id)}/retry`, csrf, label: 'Retry', of: id });
  const columns = [
    { name: 'Failed', cell: ({ failedAt }: FailedJob) => ago(failedAt) },
    { name: 'Job', cell: ({ id }: FailedJob) => jobLink(name, id) },
    { name: 'Reason', cell: ({ reason }: FailedJob) => reason },
    { name: 'Attempts', isNumber: true, cell: ({ attempts }: FailedJob) => count(attempts) },
    ...(role === 'operator' ? [{ name: 'Act', cell: retry }] : []),
  ];
  return html`<div>
    <h2>Failed</h2>
    ${
      failed > 0 && role === 'operator'
        ? html`<div class="actions">
            ${action({ to: `/queues/${name}/retry`, csrf, label: `Retry all ${count(failed)}` })}
            ${action({ to: `/queues/${name}/remove`, csrf, label: `Remove all ${count(failed)}`, tone: 'quiet' })}
          </div>`
        : null
    }
    ${table('Failed jobs', columns, jobs, 'No failed job. Failed deliveries are on the page Deliveries.')}
  </div>`;
}

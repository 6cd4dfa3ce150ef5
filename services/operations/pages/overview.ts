// The first page. It shows if the system is healthy, and if not, the part that is not.
import type { VNode } from 'preact';
import type { WorkerReading } from '#libs/jobs/control.ts';
import { DUE_COUNTED_MAX } from '#libs/models/billing/scheduler-backlog.ts';
import { bulkStateOf } from '#libs/models/operations/bulk-run.ts';
import { ago, bytes, count, counted, countUpTo, duration } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge, live, note, shortId, stat, table } from '#libs/pages/parts.ts';
import { byVersion } from '#libs/redis/processes.ts';
import type { RedisState } from '#libs/redis/state.ts';
import { alarmsOf, urgencyOf, urgencyOfBackup } from '../monitoring/alarms.ts';
import { chartWindow, type Numbers, type QueueNumbers, readNumbers, shown } from '../monitoring/numbers.ts';
import type { Visit } from '../session/visit.ts';
import { axis, type ChartWindow, highest, line, perStep } from '../views/charts.ts';
import type { Page } from '../views/layout.ts';
import { deliveries, renders, requests } from './overview-traffic.ts';

export async function overviewPage({ queues }: Visit): Promise<Page> {
  const numbers = await readNumbers(queues);
  const body = html`<div>
    ${live('alarms', alarmList(numbers))}
    ${live('queues', queueCards(numbers))}
    <div class="columns">
      ${live('requests', requests(numbers))}
      ${live('renders', renders(numbers))}
      ${live('deliveries', deliveries(numbers))}
    </div>
    ${live('workers', workers(numbers))}
    <div class="columns">
      ${live('stores', stores(numbers))}
      ${live('scheduler', scheduler(numbers))}
    </div>
    <div class="columns">
      ${live('processes', processes(numbers))}
      ${live('backup', backup(numbers))}
    </div>
  </div>`;
  return { title: 'Overview', section: '/', body };
}

function alarmList(numbers: Numbers): VNode {
  const alarms = alarmsOf(numbers);
  const running = (numbers.runs.value ?? []).filter((run) => bulkStateOf(run) === 'running');
  const runs = running.map(
    (run) =>
      html`<div class="note main"><a href=${`/bulk/${String(run._id)}`}>${run.title}: ${count(run.done)} of ${count(run.total)}</a></div>`,
  );
  if (alarms.length === 0) return html`<div>${note('good', 'All is well.')}${runs}</div>`;
  return html`<div>
    ${alarms.map(({ tone, text, href }) => note(tone, href ? html`<a href=${href}>${text}</a>` : text))}${runs}
  </div>`;
}

function queueCards(numbers: Numbers): VNode {
  return html`<div>
    <h2>Queues</h2>
    ${shown(numbers.queues, (all) => html`<div class="cards">${all.map((queue) => queueCard(queue, chartWindow(numbers)))}</div>`)}
  </div>`;
}

function queueCard(queue: QueueNumbers, window: ChartWindow): VNode {
  const { name, isPaused, ageMs, ready, active, delayed, failed, samples } = queue;
  const tone = isPaused ? 'bad' : urgencyOf(name, ageMs);
  const waiting = perStep(samples, window, (sample) => sample?.ready);
  const most = highest(waiting);
  return html`<article class=${`card ${tone ?? ''}`}>
    <h3><a href=${`/queues/${name}`}>${name}</a> ${isPaused ? badge('PAUSED', 'bad') : null}</h3>
    <p class="figure"><strong>${ready === 0 ? '0 s' : duration(ageMs)}</strong> oldest waiting</p>
    <dl class="stats">
      ${stat('Ready', count(ready))} ${stat('Active', count(active))} ${stat('Delayed', count(delayed))}
      ${stat('Failed', count(failed), failed > 0 ? { tone: 'bad' } : {})}
    </dl>
    ${line({ name: 'main', values: waiting }, `Jobs of ${name} that waited, per minute, in the last hour: at most ${most}`)}
    ${axis(window, `at most ${counted(most, 'job')}`)}
  </article>`;
}

function workers({ workers }: Numbers): VNode {
  return html`<div>
    <h2>Workers</h2>
    ${shown(
      workers,
      (all) => html`<div>
        ${table('Workers and their jobs in flight', workerColumns, all.workers, 'No worker is connected.')}
        ${
          all.orphans.length > 0
            ? note(
                'warn',
                `${counted(all.orphans.length, 'job in flight belongs', 'jobs in flight belong')} to no connected worker; another worker takes over shortly.`,
              )
            : null
        }
      </div>`,
    )}
  </div>`;
}

const workerColumns = [
  { name: 'Worker', cell: ({ name }: WorkerReading) => html`<code>${name}</code>` },
  { name: 'Queue', cell: ({ queue }: WorkerReading) => queue },
  { name: 'Address', cell: ({ address }: WorkerReading) => html`<code>${address}</code>` },
  { name: 'Connected', cell: ({ connectedMs }: WorkerReading) => duration(connectedMs), isNumber: true },
  {
    name: 'Busy with',
    cell: ({ jobs }: WorkerReading) =>
      jobs.length === 0
        ? html`<span class="quiet">idle</span>`
        : html`<ul class="jobs">
            ${jobs.slice(0, 8).map((job) => html`<li>${shortId(job.id)} for ${duration(job.sinceMs)}</li>`)}
            ${jobs.length > 8 ? html`<li class="quiet">and ${jobs.length - 8} more</li>` : null}
          </ul>`,
  },
];

function stores({ redis }: Numbers): VNode {
  return html`<div>
    <h2>Redis</h2>
    ${shown(redis, (states) => html`<div class="cards">${states.map(server)}</div>`)}
  </div>`;
}

function server(state: RedisState, _index: number, { length }: readonly RedisState[]): VNode {
  return html`<div class="card">
    ${length > 1 ? html`<h3>${state.name.replace(/^Redis /, '')} ${state.isPrimary ? null : badge('replica')}</h3>` : null}
        <dl class="stats">
          ${stat('Memory', bytes(state.usedBytes), { detail: state.maxBytes > 0 ? `of ${bytes(state.maxBytes)}` : 'no limit set' })}
          ${stat('Policy', state.policy, state.policy === 'noeviction' ? {} : { tone: 'bad', detail: 'must be noeviction' })}
          ${stat('Append-only file', state.isAppendOnly ? 'on' : 'off', state.isAppendOnly ? {} : { tone: 'warn' })}
          ${stat('Version', state.version)} ${stat('Clients', count(state.clients))}
        </dl>
      </div>`;
}

function scheduler({ scheduler: backlog }: Numbers): VNode {
  return html`<div>
    <h2>Scheduler</h2>
    ${shown(
      backlog,
      ({ due, oldestMs }) => html`<div class="card">
        <dl class="stats">
          ${stat('Lag', duration(oldestMs), { detail: 'oldest date without its event or invoice' })}
          ${stat('Due', countUpTo(DUE_COUNTED_MAX, due), { detail: 'overdue and recurring invoices, expired quotes' })}
        </dl>
      </div>`,
    )}
  </div>`;
}

function processes({ processes: reading }: Numbers): VNode {
  return html`<div>
    <h2>Versions</h2>
    ${shown(reading, (all) => {
      if (all.length === 0) return html`<p class="empty">No service is connected to Redis.</p>`;
      const isMixed = byVersion(all).length > 1;
      return html`<div class="card">
        <dl class="stats">
          ${[...Map.groupBy(all, ({ service }) => service)].map(([service, own]) =>
            stat(service, [...new Set(own.map(({ version }) => version))].join(', '), {
              detail: counted(own.length, 'process', 'processes'),
              ...(isMixed ? { tone: 'warn' } : {}),
            }),
          )}
        </dl>
      </div>`;
    })}
  </div>`;
}

function backup({ backup: reading }: Numbers): VNode {
  return html`<div>
    <h2>Backup</h2>
    ${shown(reading, (state) => {
      const tone = urgencyOfBackup(state);
      const { savedAt, documents } = state;
      const detail = documents === undefined ? 'made by another program' : counted(documents, 'record');
      return html`<div class="card">
        <dl class="stats">
          ${stat('Last backup', savedAt ? ago(savedAt) : 'none recorded', { ...(savedAt ? { detail } : {}), ...(tone ? { tone } : {}) })}
        </dl>
      </div>`;
    })}
  </div>`;
}

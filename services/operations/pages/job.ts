// The page of one job: its state and times, the records that it is about, and why it failed. It shows no content of a document.
import type { VNode } from 'preact';
import { findJob, type JobIdField, type JobReading } from '#libs/jobs/control.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, badge, idLine, live, note, stat, type Tone } from '#libs/pages/parts.ts';
import { jobGone, orUnavailable, requireQueue } from '../actions/known-queue.ts';
import type { Visit, Visitor } from '../session/visit.ts';
import type { Page } from '../views/layout.ts';

const TONES: Record<string, Tone> = { failed: 'bad', active: 'main', completed: 'good' };

/** The names of ids in payloads, and the pages of their records. */
const ID_LINES: Record<JobIdField, { name: string; page?: string }> = {
  accountId: { name: 'Account', page: '/accounts/' },
  requestId: { name: 'Request' },
  eventId: { name: 'Event', page: '/deliveries?id=' },
  deliveryId: { name: 'Delivery', page: '/deliveries/' },
  endpointId: { name: 'Endpoint', page: '/endpoints/' },
};

export async function jobPage({ request, queues, visitor }: Visit): Promise<Page> {
  const definition = requireQueue(request.params['name']);
  const id = String(request.params['id']);
  const job = await orUnavailable(findJob(queues, definition, id));
  if (!job) throw jobGone(id);
  const body = html`<div>
    ${live('job', state(job, definition.name, visitor))}
    ${job.stack ? html`<div><h2>Stack of the last failure</h2><pre class="body">${job.stack}</pre></div>` : null}
    <p><a href=${`/queues/${definition.name}`}>All jobs of ${definition.name}</a></p>
  </div>`;
  return { title: `Job of ${definition.name}`, section: '/', body };
}

function state(job: JobReading, queue: string, { role, csrf }: Visitor): VNode {
  const path = `/queues/${queue}/jobs/${encodeURIComponent(job.id)}`;
  const ids = Object.entries(job.ids) as [JobIdField, string][];
  return html`<div class=${`card ${job.state === 'failed' ? 'bad' : ''}`}>
    ${job.reason ? note('bad', job.reason) : null}
    <dl class="stats wide">
      ${stat('State', badge(job.state, TONES[job.state]))} ${stat('Enqueued', ago(job.enqueuedAt))}
      ${stat('Taken', ago(job.startedAt))} ${stat('Ended', ago(job.endedAt))} ${stat('Attempts', count(job.attempts))}
    </dl>
    <dl class="ids">
      ${idLine('Job', job.id)}
      ${ids.map(([field, id]) => {
        const { name, page } = ID_LINES[field];
        return idLine(name, id, page && `${page}${encodeURIComponent(id)}`);
      })}
      ${job.worker ? idLine('Worker', job.worker) : null}
    </dl>
    ${
      job.state === 'failed' && role === 'operator'
        ? html`<div class="actions">
            ${action({ to: `${path}/retry`, csrf, label: 'Retry', tone: 'main', of: job.id })}
            ${action({ to: `${path}/remove`, csrf, label: 'Remove', of: job.id })}
          </div>`
        : null
    }
  </div>`;
}

// The page of one delivery: why it waits, its attempts, the body that was sent, and the button that sends it again.
import type { VNode } from 'preact';
import type { Attempt, DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { ago, count, duration, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, type Column, deliveryBadge, headerLines, idLine, stat, table } from '#libs/pages/parts.ts';
import { findEndpoint } from '#libs/webhooks/own-endpoint.ts';
import { findDelivery, replayOwnDelivery } from '#libs/webhooks/send-again.ts';
import { whyWaiting } from '#libs/webhooks/why-waiting.ts';
import { ENDPOINTS, EVENTS, type Page } from '../layout.ts';
import type { Done } from '../outcome.ts';
import { change, idOf, may, noSuchDelivery, type Visit } from '../visit.ts';
import { responseOf } from './attempts.ts';
import { jsonText } from './json-text.ts';

export async function deliveryPage({ visitor, request }: Visit): Promise<Page> {
  const { accountId, session } = visitor;
  const delivery = await findDelivery({ accountId }, idOf(request));
  if (!delivery) throw noSuchDelivery();
  const endpoint = await findEndpoint({ accountId }, String(delivery.endpoint_id));
  const path = `${ENDPOINTS}/deliveries/${String(delivery._id)}`;
  const mayReplay = may(visitor, 'webhooks:write') && endpoint?.enabled;
  const body = html`<div>
    <div class="card">
      <p class="url">${endpoint ? html`<a href=${`${ENDPOINTS}/endpoints/${String(endpoint._id)}`}>${endpoint.url}</a>` : 'The endpoint was deleted.'}</p>
      <p>${whyWaiting(delivery, endpoint ?? undefined)}</p>
      <dl class="stats wide">
        ${stat('State', deliveryBadge(delivery))}
        ${stat('Event', html`<a href=${`${EVENTS}/${delivery.event_type}`}><code>${delivery.event_type}</code></a>`)}
        ${stat('Created', ago(delivery.created_at))} ${stat('Next attempt', ago(delivery.next_at))}
      </dl>
      <dl class="ids">
        ${idLine('Delivery', delivery._id)} ${idLine('webhook-id', delivery.event_id)}
        ${delivery.request_id ? idLine('Request', delivery.request_id) : null}
      </dl>
      ${mayReplay ? action({ to: `${path}/replay`, csrf: session.csrf, label: 'Send it again', tone: 'main' }) : null}
    </div>
    <h2>Attempts</h2>
    ${table('Attempts, newest first', COLUMNS, delivery.attempts.toReversed(), 'No attempt yet.')}
    <h2>Body</h2>
    ${may(visitor, 'events:read') ? await bodyOf(accountId, delivery) : html`<p class="empty">The API key of this link lacks the events:read scope, so the body is not shown.</p>`}
  </div>`;
  return { title: 'Delivery', section: ENDPOINTS, body };
}

export async function replay(visit: Visit): Promise<Done> {
  const id = idOf(visit.request);
  await change(visit, 'webhooks:write', ({ accountId }) => replayOwnDelivery(accountId, id, noSuchDelivery));
  visit.nudge();
  return { to: `${ENDPOINTS}/deliveries/${id}`, message: 'replayed' };
}

const COLUMNS: Column<Attempt>[] = [
  { name: 'At (UTC)', cell: ({ at }) => moment(at) },
  { name: 'Response', cell: (attempt) => responseOf(attempt) },
  { name: 'Took', isNumber: true, cell: ({ duration_ms }) => (duration_ms == null ? '–' : duration(duration_ms)) },
  { name: 'Head of the response', cell: ({ response_headers }) => headerLines(response_headers) },
];

async function bodyOf(accountId: string, { event_id }: DeliveryRecord): Promise<VNode> {
  const own = { _id: event_id, account_id: accountId };
  const event = await Event.findOne(own, { body: 1 }).lean<{ body: string }>();
  if (!event) return html`<p class="empty">The event is no longer kept.</p>`;
  return html`<div>
    <p class="quiet">${count(event.body.length)} characters, shown in lines. The signature is over the bytes as they were sent.</p>
    ${jsonText(event.body)}
  </div>`;
}

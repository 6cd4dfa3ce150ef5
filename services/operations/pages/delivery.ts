// The page of one delivery with its attempts, and the button that replays it.
import type { VNode } from 'preact';
import { deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { acrossAccounts, isId, type StoredId } from '#libs/models/tenant.ts';
import { type Attempt, Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { replayDelivery } from '#libs/models/webhooks/replay-deliveries.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count, duration, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, deliveryBadge, headerLines, idLine, stat, table } from '#libs/pages/parts.ts';
import { whyWaiting } from '#libs/webhooks/why-waiting.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import type { Page } from '../views/layout.ts';
import { replayButton } from './deliveries.ts';

export async function deliveryPage({ request, visitor, queues }: Visit): Promise<Page> {
  const delivery = await requireDelivery(request.params['id']);
  const isOperator = visitor.role === 'operator';
  const [endpoint, event, isPaused] = await Promise.all([
    readEndpointOf(delivery),
    isOperator ? readEventBody(delivery.event_id) : undefined,
    arePaused(queues),
  ]);
  const attempts = delivery.attempts.toReversed();
  const columns = [
    { name: 'At (UTC)', cell: ({ at }: Attempt) => moment(at) },
    {
      name: 'Outcome',
      cell: (attempt: Attempt) =>
        attempt.error_class ? badge(attempt.error_class, 'bad') : badge('delivered', 'good'),
    },
    { name: 'Status', isNumber: true, cell: (attempt: Attempt) => attempt.response_status ?? '–' },
    {
      name: 'Took',
      isNumber: true,
      cell: (attempt: Attempt) => (attempt.duration_ms == null ? '–' : duration(attempt.duration_ms)),
    },
    { name: 'Head of the response', cell: ({ response_headers }: Attempt) => headerLines(response_headers) },
  ];
  const body = html`<div>
    <div class="card">
      <p class="url">${endpoint?.url ?? 'The endpoint was deleted.'}</p>
      <p>${whyWaiting(delivery, endpoint, { isPaused })}</p>
      <dl class="stats wide">
        ${stat('State', deliveryBadge(delivery))} ${stat('Event', html`<code>${delivery.event_type}</code>`)}
        ${stat('Created', ago(delivery.created_at))} ${stat('Next attempt', ago(delivery.next_at))}
        ${stat('Attempts of the schedule', count(delivery.attempts_made))}
      </dl>
      <dl class="ids">
        ${idLine('Delivery', delivery._id)} ${idLine('Event', delivery.event_id, `/deliveries?id=${String(delivery.event_id)}`)}
        ${idLine('Endpoint', delivery.endpoint_id, `/endpoints/${String(delivery.endpoint_id)}`)}
        ${idLine('Account', delivery.account_id, `/accounts/${String(delivery.account_id)}`)}
        ${delivery.request_id ? idLine('Request', delivery.request_id) : null}
      </dl>
      ${visitor.role === 'operator' ? replayButton(delivery, visitor, 'Replay') : null}
    </div>
    <h2>Attempts</h2>
    ${table('Attempts, newest first', columns, attempts, 'No attempt yet.')}
    ${isOperator ? bodyOf(event) : null}
  </div>`;
  return { title: 'Delivery', section: '/deliveries', body };
}

/** Shows the start of the body. It names people, so viewers do not get it. */
function bodyOf(body: string | undefined): VNode {
  const shown = body && body.length > BODY_SHOWN ? `${body.slice(0, BODY_SHOWN)} …` : body;
  return html`<div>
    <h2>Request body</h2>
    ${
      body
        ? html`<details><summary>${count(body.length)} characters of JSON</summary><pre class="body" tabindex="0">${shown}</pre></details>`
        : html`<p class="empty">The event is older than the retention of the feed.</p>`
    }
  </div>`;
}

/** The characters of a body that are shown. */
const BODY_SHOWN = 4_000;

/** True when an operator has paused the attempts. Unknown while Redis is unavailable. */
async function arePaused(queues: Queues): Promise<boolean> {
  return queues
    .raw(deliverWebhook)
    .isPaused()
    .catch(() => false);
}

type EndpointOf = Pick<WebhookEndpointRecord, 'url' | 'enabled' | 'disabled_reason'>;

async function readEndpointOf({ endpoint_id }: DeliveryRecord): Promise<EndpointOf | undefined> {
  // Operators see all accounts.
  const endpoint = await WebhookEndpoint.findOne({ _id: endpoint_id })
    .setOptions(acrossAccounts)
    .select({ url: 1, enabled: 1, disabled_reason: 1 })
    .lean<EndpointOf>();
  return endpoint ?? undefined;
}

async function readEventBody(id: StoredId): Promise<string | undefined> {
  const event = await Event.findOne({ _id: id })
    .setOptions(acrossAccounts)
    .select({ body: 1 })
    .lean<{ body: string }>();
  return event?.body;
}

export async function replayOne({ request, visitor, nudge }: Visit): Promise<Done> {
  const delivery = await requireDelivery(request.params['id']);
  const id = String(delivery._id);
  const auditedAction = { ...actorOf(visitor), action: 'delivery.replay', target: id } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const replayed = await replayDelivery(String(delivery.account_id), id);
    if (!replayed) throw new PageError(404, 'The delivery no longer exists');
    return { detail: `The delivery of ${delivery.event_type} is sent again.` };
  });
  nudge();
  return { to: `/deliveries/${id}`, entryId };
}

async function requireDelivery(id: unknown): Promise<DeliveryRecord> {
  // Operators see all accounts.
  const delivery = isId(id)
    ? await Delivery.findOne({ _id: id }).setOptions(acrossAccounts).lean<DeliveryRecord>()
    : null;
  if (!delivery) throw new PageError(404, 'No such delivery. It may be older than the retention of the log.');
  return delivery;
}

// The page of one delivery with its attempts, and the button that replays it.
import type { VNode } from 'preact';
import { deliverWebhook } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { acrossAccounts, isId, type StoredId } from '#libs/models/tenant.ts';
import { type Attempt, Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { replayDelivery } from '#libs/models/webhooks/replay-deliveries.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count, counted, duration, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, idLine, stat, table } from '#libs/pages/parts.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { whyDisabled } from '../views/endpoint-state.ts';
import type { Page } from '../views/layout.ts';
import { deliveryBadge, replayButton } from './deliveries.ts';

export async function deliveryPage({ request, visitor, queues }: Visit): Promise<Page> {
  const delivery = await requireDelivery(request.params['id']);
  const isOperator = visitor.role === 'operator';
  const [about, event, isPaused] = await Promise.all([
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
    { name: 'Head of the response', cell: headOf },
  ];
  const body = html`<div>
    <div class="card">
      <p class="url">${about.url ?? 'The endpoint was deleted.'}</p>
      <p>${whyOf(delivery, { ...about, isPaused })}</p>
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

/** Shows the kept headers, which are masked where they may be credentials, so that viewers see them, too. */
function headOf({ response_headers }: Attempt): VNode | string {
  if (!response_headers?.length) return '–';
  const lines = response_headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
  return html`<details>
    <summary>${counted(response_headers.length, 'header')}</summary>
    <pre class="body" tabindex="0">${lines}</pre>
  </details>`;
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

/** Returns in one sentence what the delivery waits for, or how it ended. */
function whyOf(
  delivery: DeliveryRecord,
  { url, isEnabled, reason, isPaused }: EndpointOf & { isPaused: boolean },
): string {
  const { status, deferrals, lease_until, next_at, due_at, attempts } = delivery;
  const last = attempts.at(-1);
  if (status === 'delivered') return 'The receiver took it.';
  if (status === 'held') return `It is suspended. ${whyDisabled(reason)}; enabling the endpoint sends it.`;
  if (status === 'dead')
    return `No attempt is left, or the endpoint was deleted${last?.error_class ? `; the last one ended with ${last.error_class}` : ''}.`;
  if (lease_until && lease_until > new Date())
    return 'An attempt is being made, or its process ended and another one takes over.';
  if (url === undefined) return 'The endpoint was deleted, and the delivery is about to be given up.';
  if (!isEnabled) return 'The endpoint is disabled, and the delivery is about to be suspended.';
  const at = next_at ?? due_at;
  const isLater = at && at > new Date();
  if (isLater && deferrals > 0)
    return 'The circuit breaker of the endpoint is open after failures: the delivery waits for a probe to succeed.';
  if (isLater) return `It waits for its next attempt${last?.error_class ? ` after ${last.error_class}` : ''}.`;
  if (isPaused) return 'It is due, and its queue is paused.';
  return 'It is due, and waits for a free worker or for its share among other endpoints.';
}

interface EndpointOf {
  /** Absent when the endpoint was deleted. */
  url?: string | undefined;
  isEnabled: boolean;
  reason?: string | null | undefined;
}

/** True when an operator has paused the attempts. Unknown while Redis is unavailable. */
async function arePaused(queues: Queues): Promise<boolean> {
  return queues
    .raw(deliverWebhook)
    .isPaused()
    .catch(() => false);
}

async function readEndpointOf({ endpoint_id }: DeliveryRecord): Promise<EndpointOf> {
  // Operators see all accounts.
  const endpoint = await WebhookEndpoint.findOne({ _id: endpoint_id })
    .setOptions(acrossAccounts)
    .select({ url: 1, enabled: 1, disabled_reason: 1 })
    .lean<{ url: string; enabled: boolean; disabled_reason?: string | null }>();
  return { url: endpoint?.url, isEnabled: endpoint?.enabled ?? false, reason: endpoint?.disabled_reason };
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

// Search in deliveries, one delivery with its attempts, and sending one again.
import type { VNode } from 'preact';
import { audited } from '#libs/models/audit-entry.ts';
import { DELIVERY_STATUSES, Delivery, type DeliveryRecord, replayDelivery } from '#libs/models/delivery.ts';
import { countDeliveries, searchDeliveries } from '#libs/models/delivery-search.ts';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import { actorOf } from './bulk.ts';
import type { Done } from './dashboard.ts';
import { deliverySearchOf, PAGE_SIZE, pageNumberOf, paramsOf, sliceOf } from './filters.ts';
import { ago, count, counted, duration, moment } from './format.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';
import { action, badge, choiceField, pager, shortId, stat, type Tone, table, textField, timeField } from './parts.ts';
import { Refusal } from './refusal.ts';
import type { Visit, Visitor } from './visit.ts';

const COUNTED_MAX = 10_000;

export async function deliveriesPage({ request, visitor }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const search = deliverySearchOf(params);
  const number = pageNumberOf(params);
  const [found, total] = await Promise.all([
    searchDeliveries(search, sliceOf(number)),
    countDeliveries(search, COUNTED_MAX),
  ]);
  const rows = found.slice(0, PAGE_SIZE);
  params.delete('page');
  const body = html`<div>
    ${filters(params)}
    <div class="results">
      <p>${total === COUNTED_MAX ? `${count(total)} or more deliveries match.` : `${counted(total, 'delivery', 'deliveries')} match${total === 1 ? 'es' : ''}.`}</p>
      ${
        visitor.role === 'operator' && total > 0
          ? html`<a class="button" href=${`/deliveries/replay?${params}`}>Replay all that match…</a>`
          : null
      }
    </div>
    ${table('Deliveries, newest first', columnsFor(visitor), rows, 'No delivery matches. Fewer filters or a longer time may find it.')}
    ${pager('/deliveries', params, { number, hasNext: found.length > PAGE_SIZE })}
  </div>`;
  return { title: 'Deliveries', section: '/deliveries', body };
}

function filters(params: URLSearchParams): VNode {
  const value = (name: string) => params.get(name) ?? '';
  const single = DELIVERY_STATUSES.map((status) => ({ value: status as string, label: status as string }));
  const statuses = [{ value: '', label: 'any' }, ...single, { value: 'dead,held', label: 'dead or held' }];
  return html`<form class="filters" method="get" action="/deliveries">
    ${textField('id', 'Id', value('id'), 'of a delivery, event, endpoint, account or request')}
    ${choiceField('status', 'State', value('status'), statuses)}
    ${textField('endpoint', 'Endpoint', value('endpoint'), 'id')}
    ${textField('event', 'Event', value('event'), 'invoice.paid')}
    ${textField('cause', 'Cause', value('cause'), 'timeout, status 500')}
    ${timeField('from', 'From (UTC)', value('from'))} ${timeField('to', 'To (UTC)', value('to'))}
    <div class="buttons"><button class="main">Search</button> <a href="/deliveries">Clear</a></div>
  </form>`;
}

const TONES: Record<string, Tone> = { delivered: 'good', dead: 'bad', held: 'warn', pending: 'main' };

export function deliveryBadge(delivery: Pick<DeliveryRecord, 'status' | 'attempts_made'>): VNode {
  const isRetrying = delivery.status === 'pending' && delivery.attempts_made > 0;
  return badge(isRetrying ? 'retrying' : delivery.status, isRetrying ? 'warn' : (TONES[delivery.status] ?? 'quiet'));
}

export function columnsFor(visitor: Visitor) {
  return [
    { name: 'Created (UTC)', cell: ({ created_at }: DeliveryRecord) => moment(created_at) },
    { name: 'State', cell: (delivery: DeliveryRecord) => deliveryBadge(delivery) },
    { name: 'Event', cell: ({ event_type }: DeliveryRecord) => html`<code>${event_type}</code>` },
    {
      name: 'Endpoint',
      cell: ({ endpoint_id }: DeliveryRecord) =>
        html`<a href=${`/endpoints/${endpoint_id}`}>${shortId(String(endpoint_id))}</a>`,
    },
    { name: 'Attempts', isNumber: true, cell: ({ attempts }: DeliveryRecord) => count(attempts.length) },
    { name: 'Last answer', cell: (delivery: DeliveryRecord) => lastAnswer(delivery) },
    {
      name: 'Delivery',
      cell: ({ _id }: DeliveryRecord) => html`<a href=${`/deliveries/${_id}`}>${shortId(String(_id))}</a>`,
    },
    ...(visitor.role === 'operator'
      ? [{ name: 'Act', cell: (delivery: DeliveryRecord) => replayButton(delivery, visitor, 'Replay') }]
      : []),
  ];
}

function lastAnswer({ attempts }: DeliveryRecord) {
  const last = attempts.at(-1);
  if (!last) return html`<span class="quiet">none yet</span>`;
  return last.error_class
    ? `${last.error_class}${last.response_status ? ` ${last.response_status}` : ''}`
    : `${last.response_status}`;
}

function replayButton({ _id, event_type }: DeliveryRecord, visitor: Visitor, label: string) {
  return action({ to: `/deliveries/${_id}/replay`, csrf: visitor.csrf, label, of: `${event_type} ${_id}` });
}

export async function deliveryPage({ request, visitor }: Visit): Promise<Page> {
  const delivery = await requireDelivery(request.params['id']);
  const attempts = delivery.attempts.toReversed();
  const columns = [
    { name: 'At (UTC)', cell: ({ at }: (typeof attempts)[number]) => moment(at) },
    {
      name: 'Outcome',
      cell: (attempt: (typeof attempts)[number]) =>
        attempt.error_class ? badge(attempt.error_class, 'bad') : badge('delivered', 'good'),
    },
    { name: 'Status', isNumber: true, cell: (attempt: (typeof attempts)[number]) => attempt.response_status ?? '–' },
    {
      name: 'Took',
      isNumber: true,
      cell: (attempt: (typeof attempts)[number]) => (attempt.duration_ms == null ? '–' : duration(attempt.duration_ms)),
    },
  ];
  const body = html`<div>
    <div class="card">
      <dl class="stats wide">
        ${stat('State', deliveryBadge(delivery))} ${stat('Event', html`<code>${delivery.event_type}</code>`)}
        ${stat('Created', ago(delivery.created_at))} ${stat('Next attempt', ago(delivery.next_at))}
        ${stat('Attempts of the schedule', count(delivery.attempts_made))}
      </dl>
      <dl class="ids">
        ${idLine('Delivery', delivery._id)} ${idLine('Event', delivery.event_id, `/deliveries?id=${delivery.event_id}`)}
        ${idLine('Endpoint', delivery.endpoint_id, `/endpoints/${delivery.endpoint_id}`)}
        ${idLine('Account', delivery.account_id, `/deliveries?id=${delivery.account_id}`)}
        ${delivery.request_id ? idLine('Request', delivery.request_id) : null}
      </dl>
      ${visitor.role === 'operator' ? replayButton(delivery, visitor, 'Send it again') : null}
    </div>
    <h2>Attempts</h2>
    ${table('Attempts, newest first', columns, attempts, 'Nothing was sent yet.')}
  </div>`;
  return { title: 'Delivery', section: '/deliveries', body };
}

export function idLine(name: string, id: unknown, href?: string): VNode {
  const code = html`<code>${String(id)}</code>`;
  return html`<div><dt>${name}</dt><dd>${href ? html`<a href=${href}>${code}</a>` : code}</dd></div>`;
}

export async function replayOne({ request, visitor, nudge }: Visit): Promise<Done> {
  const delivery = await requireDelivery(request.params['id']);
  const id = String(delivery._id);
  const deed = { ...actorOf(visitor), action: 'delivery.replay', target: id } as const;
  const { entryId } = await audited(deed, async () => {
    const replayed = await replayDelivery(String(delivery.account_id), id);
    if (!replayed) throw new Refusal(404, 'The delivery is gone.');
    return { detail: `The delivery of ${delivery.event_type} goes out again.` };
  });
  nudge();
  return { to: `/deliveries/${id}`, entryId };
}

async function requireDelivery(id: unknown): Promise<DeliveryRecord> {
  // An operator looks at all accounts.
  const delivery = isId(id)
    ? await Delivery.findOne({ _id: id }).setOptions(acrossAccounts).lean<DeliveryRecord>()
    : null;
  if (!delivery) throw new Refusal(404, 'There is no such delivery. It may be older than the log is kept.');
  return delivery;
}

// The page that searches for deliveries.
import type { VNode } from 'preact';
import { DELIVERY_STATUSES, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { count, countedUpTo, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, choiceField, deliveryBadge, pager, shortId, table, textField, timeField } from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf, withoutPage } from '#libs/pages/query.ts';
import type { Visit, Visitor } from '../session/visit.ts';
import { countDeliveries, searchDeliveries } from '../store/delivery-search.ts';
import { type EndpointNames, readEndpointNames } from '../store/endpoint-names.ts';
import { outcomeText } from '../views/endpoint-state.ts';
import { deliverySearchOf } from '../views/filters.ts';
import type { Page } from '../views/layout.ts';
import { readMatches } from '../views/matches.ts';
import { underForm } from '../views/search-form.ts';

const COUNTED_MAX = 10_000;

export async function deliveriesPage({ request, visitor }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const shown = await underForm(filters(params), () => matches(params, visitor));
  return { title: 'Deliveries', section: '/deliveries', ...shown };
}

async function matches(given: URLSearchParams, visitor: Visitor): Promise<VNode> {
  const search = deliverySearchOf(given);
  const number = pageNumberOf(given);
  const { rows, total, hasNext } = await readMatches(number, {
    search: (slice) => searchDeliveries(search, slice),
    count: () => countDeliveries(search, COUNTED_MAX),
  });
  const params = withoutPage(given);
  return html`<div>
    <div class="results">
      <p>${countedUpTo(COUNTED_MAX, total, 'delivery matches', 'deliveries match')}.</p>
      ${
        visitor.role === 'operator' && total > 0
          ? html`<a class="button" href=${`/deliveries/replay?${params}`}>Replay all matches…</a>`
          : null
      }
    </div>
    ${table('Deliveries, newest first', columnsFor(visitor, await readEndpointNames(rows)), rows, 'No delivery matches. Fewer filters or a longer time may find it.')}
    ${pager('/deliveries', params, { number, hasNext })}
  </div>`;
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

export function columnsFor(visitor: Visitor, { urls, accounts }: EndpointNames) {
  return [
    { name: 'Created (UTC)', cell: ({ created_at }: DeliveryRecord) => moment(created_at) },
    { name: 'State', cell: deliveryBadge },
    { name: 'Event', cell: ({ event_type }: DeliveryRecord) => html`<code>${event_type}</code>` },
    {
      name: 'Endpoint',
      cell: ({ endpoint_id, account_id }: DeliveryRecord) => {
        const url = urls.get(String(endpoint_id));
        return html`<span>
          ${url === undefined ? shortId(String(endpoint_id)) : html`<a class="url" href=${`/endpoints/${String(endpoint_id)}`}>${url}</a>`}
          <small class="quiet"> ${accounts.get(String(account_id)) ?? null}</small>
        </span>`;
      },
    },
    { name: 'Attempts', isNumber: true, cell: ({ attempts }: DeliveryRecord) => count(attempts.length) },
    { name: 'Last answer', cell: (delivery: DeliveryRecord) => lastAnswer(delivery) },
    {
      name: 'Delivery',
      cell: ({ _id }: DeliveryRecord) => html`<a href=${`/deliveries/${String(_id)}`}>${shortId(String(_id))}</a>`,
    },
    ...(visitor.role === 'operator'
      ? [{ name: 'Act', cell: (delivery: DeliveryRecord) => replayButton(delivery, visitor, 'Replay') }]
      : []),
  ];
}

function lastAnswer({ attempts }: DeliveryRecord) {
  const last = attempts.at(-1);
  if (!last) return html`<span class="quiet">none yet</span>`;
  return outcomeText(last);
}

export function replayButton({ _id, event_type }: DeliveryRecord, visitor: Visitor, label: string) {
  return action({
    to: `/deliveries/${String(_id)}/replay`,
    csrf: visitor.csrf,
    label,
    of: `${event_type} ${String(_id)}`,
  });
}

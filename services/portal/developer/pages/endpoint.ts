// The page of one endpoint: its state, what can be done with it, and its deliveries.
import type { VNode } from 'preact';
import { DELIVERY_STATUSES, type DeliveryRecord, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { EVENT_TYPES } from '#libs/models/webhooks/event-types.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import {
  action,
  badge,
  type Column,
  choiceField,
  deliveryBadge,
  idLine,
  note,
  pager,
  stat,
  table,
} from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf, shownOf, sliceOf, statusesOf, textOf } from '#libs/pages/query.ts';
import { requireEndpoint } from '#libs/webhooks/own-endpoint.ts';
import { SEARCHED_MAX, searchDeliveries } from '../../store/delivery-search.ts';
import { COUNTED_LATEST, type EndpointFigures, readFigures } from '../../store/endpoint-figures.ts';
import { ENDPOINTS, type Page } from '../layout.ts';
import { idOf, may, noSuchEndpoint, type Visit, type Visitor } from '../visit.ts';
import { responseOf } from './attempts.ts';
import { endpointForm, type FormAgain } from './endpoint-form.ts';
import { endpointBadge, successOf } from './endpoints.ts';

/** Shows the page. @param again the form that was rejected. */
export async function endpointPage({ visitor, request }: Visit, again?: FormAgain): Promise<Page> {
  const { accountId } = visitor;
  const id = idOf(request);
  const endpoint = await requireEndpoint({ accountId }, { id, missing: noSuchEndpoint });
  const [figures, deliveries] = await Promise.all([
    readFigures(accountId, id),
    deliveriesOf(visitor, id, paramsOf(request)),
  ]);
  const body = html`<div>
    ${state(endpoint, figures)} ${may(visitor, 'webhooks:write') ? buttons(endpoint, visitor, again) : null}
    <h2 id="deliveries">Deliveries</h2>
    ${deliveries}
  </div>`;
  return { title: 'Endpoint', section: ENDPOINTS, body, untrue: endpoint.enabled ? 'disabled' : 'enabled' };
}

const REASONS: Readonly<Record<string, string>> = {
  gone: 'It is disabled, because its receiver responded with 410.',
  failing: 'It is disabled, because all attempts of five days failed.',
};

function state(endpoint: WebhookEndpointRecord, figures: EndpointFigures): VNode {
  const { url, enabled, description, disabled_reason, events, failing_since, _id } = endpoint;
  return html`<div class="card">
    <p class="url">${url}</p>
    ${description ? html`<p class="quiet">${description}</p>` : null}
    ${enabled ? null : note('warn', `${REASONS[disabled_reason ?? ''] ?? 'It is disabled.'} Deliveries are held until you enable it.`)}
    <dl class="stats wide">
      ${stat('State', endpointBadge(endpoint))} ${stat('Failing since', ago(failing_since))}
      ${stat('Delivered', successOf(figures), { detail: `of the latest ${COUNTED_LATEST}` })}
      ${stat('Last response', figures.last ? responseOf(figures.last) : '–')}
    </dl>
    <p>${events.map((event) => html`${badge(event)} `)}</p>
    <dl class="ids">${idLine('Endpoint', _id)}</dl>
  </div>`;
}

function buttons(endpoint: WebhookEndpointRecord, { session: { csrf } }: Visitor, again?: FormAgain): VNode {
  const path = `${ENDPOINTS}/endpoints/${String(endpoint._id)}`;
  const { enabled, url, events, description, updated_at } = endpoint;
  const { fields = { url, events: events.join('\n'), description: description ?? '' } } = again ?? {};
  const seen = updated_at.toISOString();
  return html`<div>
    <div class="buttons">
      ${enabled ? action({ to: `${path}/ping`, csrf, label: 'Send a ping', tone: 'main' }) : null}
      ${enabled ? action({ to: `${path}/disable`, csrf, label: 'Disable' }) : action({ to: `${path}/enable`, csrf, label: 'Enable', tone: 'main' })}
    </div>
    <details open=${again !== undefined}>
      <summary>Change it</summary>
      ${endpointForm({ to: `${path}/change`, csrf, label: 'Save', fields, again })}
    </details>
    <details>
      <summary>Replace its secret</summary>
      <div class="card">
        <p>A new secret signs from now on, and the present one beside it for 24 hours.</p>
        ${action({ to: `${path}/rotate-secret`, csrf, label: 'Make a new secret', fields: { seen } })}
      </div>
    </details>
    <details>
      <summary>Delete it</summary>
      <div class="card">
        <p>Deliveries that wait are given up. This cannot be undone.</p>
        ${action({ to: `${path}/delete`, csrf, label: 'Delete the endpoint' })}
      </div>
    </details>
  </div>`;
}

async function deliveriesOf({ accountId }: Visitor, endpointId: string, params: URLSearchParams): Promise<VNode> {
  const [status] = statusesOf<DeliveryStatus>(params, DELIVERY_STATUSES) ?? [];
  const eventType = textOf(params, 'event');
  const number = pageNumberOf(params);
  const { rows, hasNext } = shownOf(
    await searchDeliveries({ accountId, endpointId, status, eventType }, sliceOf(number)),
  );
  params.delete('done');
  const path = `${ENDPOINTS}/endpoints/${endpointId}`;
  const any = { value: '', label: 'any' };
  const same = (value: string) => ({ value, label: value });
  return html`<div>
    <form class="filters" method="get" action=${`${path}#deliveries`}>
      ${choiceField('status', 'State', status ?? '', [any, ...DELIVERY_STATUSES.map(same)])}
      ${choiceField('event', 'Event', eventType ?? '', [any, ...EVENT_TYPES.map(same)])}
      <div class="buttons"><button>Search</button> <a href=${`${path}#deliveries`}>Clear</a></div>
    </form>
    ${eventType ? html`<p class="quiet">Searched: the latest ${SEARCHED_MAX} deliveries.</p>` : null}
    ${table('Deliveries, newest first', COLUMNS, rows, status || eventType ? 'No delivery matches.' : 'No delivery yet. Send a ping to try the endpoint.')}
    ${pager(path, params, { number, hasNext })}
  </div>`;
}

const COLUMNS: Column<DeliveryRecord>[] = [
  {
    name: 'Event',
    cell: ({ _id, event_type }) =>
      html`<a href=${`${ENDPOINTS}/deliveries/${String(_id)}`}><code>${event_type}</code></a>`,
  },
  { name: 'State', cell: (delivery) => deliveryBadge(delivery) },
  {
    name: 'Last response',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last ? responseOf(last) : '–';
    },
  },
  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => String(attempts.length) },
  { name: 'Created (UTC)', cell: ({ created_at }) => moment(created_at) },
];

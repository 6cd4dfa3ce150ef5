// The page of one webhook endpoint: its state, its latest deliveries, and the replay of those that it missed.
import type { VNode } from 'preact';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import type { DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, choiceField, idLine, live, note, stat, table, timeField } from '#libs/pages/parts.ts';
import { timeText } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { searchDeliveries } from '../store/delivery-search.ts';
import { readEndpointNames } from '../store/endpoint-names.ts';
import type { Page } from '../views/layout.ts';
import { columnsFor } from './deliveries.ts';

const LATEST = 20;
const DAY_MS = 24 * 3_600_000;

export async function endpointPage({ request, visitor }: Visit): Promise<Page> {
  const endpoint = await requireEndpoint(request.params['id']);
  const id = String(endpoint._id);
  const names = await readEndpointNames([{ endpoint_id: endpoint._id, account_id: endpoint.account_id }]);
  const columns = columnsFor(visitor, names).filter(({ name }) => name !== 'Endpoint');
  const latest = await searchDeliveries({ endpointId: id }, { skip: 0, limit: LATEST });
  const body = html`<div>
    ${live('endpoint', state(endpoint, names.accounts.get(String(endpoint.account_id))))}
    ${visitor.role === 'operator' ? replayForm(id) : null}
    <h2>Latest deliveries</h2>
    ${live('latest', table<DeliveryRecord>('The latest deliveries of this endpoint', columns, latest, 'No delivery yet.'))}
    <p><a href=${`/deliveries?endpoint=${id}`}>All deliveries of this endpoint</a></p>
  </div>`;
  return { title: 'Endpoint', section: '/endpoints', body };
}

function state(endpoint: WebhookEndpointRecord, accountName = '–'): VNode {
  return html`<div class="card">
    <p class="url">${endpoint.url}</p>
    ${endpoint.enabled ? null : note('warn', `It is disabled (${endpoint.disabled_reason ?? 'manual'}): its deliveries are suspended until its account enables it.`)}
    <dl class="stats wide">
      ${stat('State', endpoint.enabled ? badge('enabled', 'good') : badge('disabled', 'warn'))}
      ${stat('Failing since', ago(endpoint.failing_since))} ${stat('Failures in a row', count(endpoint.failures ?? 0))}
      ${stat('Account', accountName)} ${stat('Events', endpoint.events.join(', '))}
    </dl>
    <dl class="ids">
      ${idLine('Endpoint', endpoint._id)} ${idLine('Account', endpoint.account_id, `/accounts/${String(endpoint.account_id)}`)}
    </dl>
  </div>`;
}

function replayForm(id: string): VNode {
  const choices = [
    { value: 'dead,held', label: 'dead or held' },
    { value: 'dead,held,delivered', label: 'all, also delivered ones' },
  ];
  return html`<form class="filters" method="get" action="/deliveries/replay">
    <input type="hidden" name="endpoint" value=${id} />
    ${timeField('from', 'Replay since (UTC)', timeText(new Date(Date.now() - DAY_MS)))}
    ${choiceField('status', 'Which', 'dead,held', choices)}
    <div class="buttons"><button>Count matches…</button></div>
  </form>`;
}

async function requireEndpoint(id: unknown): Promise<WebhookEndpointRecord> {
  // Operators see all accounts.
  const endpoint = isId(id)
    ? await WebhookEndpoint.findOne({ _id: id }).setOptions(acrossAccounts).lean<WebhookEndpointRecord>()
    : null;
  if (!endpoint) throw new PageError(404, 'No such endpoint; it may have been deleted');
  return endpoint;
}

// The page of one webhook endpoint: its state, what operators can do with it, its latest deliveries, and the replay of
// those that it missed.
import type { VNode } from 'preact';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import type { DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { action, badge, choiceField, idLine, live, note, stat, table, timeField } from '#libs/pages/parts.ts';
import { timeText } from '#libs/pages/query.ts';
import { whyDisabled } from '#libs/webhooks/why-waiting.ts';
import type { Visit, Visitor } from '../session/visit.ts';
import { type DeliveryRate, readDeliveryRates } from '../store/delivery-rates.ts';
import { searchDeliveries } from '../store/delivery-search.ts';
import { readEndpointNames } from '../store/endpoint-names.ts';
import { endpointBadge, lastFailure, rateText } from '../views/endpoint-state.ts';
import type { Page } from '../views/layout.ts';
import { columnsFor } from './deliveries.ts';

const LATEST = 20;
const DAY_MS = 24 * 3_600_000;

export async function endpointPage({ request, visitor }: Visit): Promise<Page> {
  const endpoint = await requireEndpoint(request.params['id']);
  const id = String(endpoint._id);
  const names = await readEndpointNames([{ endpoint_id: endpoint._id, account_id: endpoint.account_id }]);
  const columns = columnsFor(visitor, names).filter(({ name }) => name !== 'Endpoint');
  const [latest, rates] = await Promise.all([
    searchDeliveries({ endpointId: id }, { skip: 0, limit: LATEST }),
    readDeliveryRates([endpoint]),
  ]);
  const accountName = names.accounts.get(String(endpoint.account_id)) ?? '–';
  const body = html`<div>
    ${live('endpoint', state(endpoint, { accountName, rate: rates.get(id), visitor }))}
    ${visitor.role === 'operator' ? replayForm(id) : null}
    <h2>Latest deliveries</h2>
    ${live('latest', table<DeliveryRecord>('The latest deliveries of this endpoint', columns, latest, 'No delivery yet.'))}
    <p><a href=${`/deliveries?endpoint=${id}`}>All deliveries of this endpoint</a></p>
  </div>`;
  return { title: 'Endpoint', section: '/endpoints', body };
}

function state(
  endpoint: WebhookEndpointRecord,
  { accountName, rate, visitor }: { accountName: string; rate: DeliveryRate | undefined; visitor: Visitor },
): VNode {
  return html`<div class="card">
    <p class="url">${endpoint.url}</p>
    ${endpoint.enabled ? null : note('warn', `${whyDisabled(endpoint.disabled_reason)}: its deliveries are suspended until its account or an operator enables it.`)}
    <dl class="stats wide">
      ${stat('State', endpoint.enabled ? endpointBadge(endpoint) : badge('disabled', 'warn'))} ${stat('Delivered in the last day', rate ? rateText(rate) : '–')}
      ${stat('Failing since', ago(endpoint.failing_since))} ${stat('Failures in a row', count(endpoint.failures ?? 0))}
      ${stat('Last failure', lastFailure(endpoint))}
      ${stat('Account', accountName)} ${stat('Events', endpoint.events.join(', '))}
    </dl>
    <dl class="ids">
      ${idLine('Endpoint', endpoint._id)} ${idLine('Account', endpoint.account_id, `/accounts/${String(endpoint.account_id)}`)}
    </dl>
    ${visitor.role === 'operator' ? buttons(endpoint, visitor) : null}
  </div>`;
}

function buttons({ _id, url, enabled }: WebhookEndpointRecord, { csrf }: Visitor): VNode {
  const button = (path: string, label: string) =>
    action({ to: `/endpoints/${String(_id)}/${path}`, csrf, label, of: url });
  return html`<div class="actions">
    ${enabled ? [button('ping', 'Ping'), button('disable', 'Disable')] : button('enable', 'Enable')}
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

export async function requireEndpoint(id: unknown): Promise<WebhookEndpointRecord> {
  // Operators see all accounts.
  const endpoint = isId(id)
    ? await WebhookEndpoint.findOne({ _id: id }).setOptions(acrossAccounts).lean<WebhookEndpointRecord>()
    : null;
  if (!endpoint) throw new PageError(404, 'No such endpoint; it may have been deleted');
  return endpoint;
}

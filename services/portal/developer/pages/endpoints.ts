// The page that lists the endpoints of the account, and the form that adds one.
import type { VNode } from 'preact';
import { ENDPOINTS_MAX, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge, type Column, table } from '#libs/pages/parts.ts';
import { findEndpointPage } from '#libs/webhooks/webhook-pages.ts';
import { COUNTED_LATEST, type EndpointFigures, readFigures } from '../../store/endpoint-figures.ts';
import { ENDPOINTS, type Page } from '../layout.ts';
import { may, type Visit } from '../visit.ts';
import { responseOf } from './attempts.ts';
import { endpointForm, type FormAgain } from './endpoint-form.ts';

interface Row {
  endpoint: WebhookEndpointRecord;
  figures: EndpointFigures;
}

const COLUMNS: Column<Row>[] = [
  {
    name: 'URL',
    cell: ({ endpoint }) =>
      html`<span><a class="url" href=${`${ENDPOINTS}/endpoints/${String(endpoint._id)}`}>${endpoint.url}</a>
        ${endpoint.description ? html`<small> ${endpoint.description}</small>` : null}</span>`,
  },
  { name: 'State', cell: ({ endpoint }) => endpointBadge(endpoint) },
  { name: 'Delivered', isNumber: true, cell: ({ figures }) => successOf(figures) },
  { name: 'Last response', cell: ({ figures: { last } }) => (last ? responseOf(last) : '–') },
  { name: 'Last attempt', cell: ({ figures: { last } }) => (last ? ago(last.at) : '–') },
  {
    name: 'Events',
    cell: ({ endpoint: { events } }) => events.slice(0, 3).join(', ') + (events.length > 3 ? ' …' : ''),
  },
];

/** Shows the list. @param again the form that was rejected. */
export async function endpointsPage({ visitor }: Visit, again?: FormAgain): Promise<Page> {
  const { accountId, session } = visitor;
  const { records: endpoints } = await findEndpointPage(accountId, { limit: ENDPOINTS_MAX, offset: 0 });
  const rows = await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, figures: await readFigures(accountId, String(endpoint._id)) })),
  );
  const mayAdd = may(visitor, 'webhooks:write') && endpoints.length < ENDPOINTS_MAX;
  const { fields = { url: '', events: '*', description: '' } } = again ?? {};
  const seen = endpoints[0] ? String(endpoints[0]._id) : '';
  const frame = { to: `${ENDPOINTS}/endpoints`, csrf: session.csrf, label: 'Add the endpoint', seen };
  const form = () => endpointForm({ ...frame, fields, again });
  const body = html`<div>
    ${table(`Endpoints, newest first. Delivered: of the latest ${COUNTED_LATEST} deliveries that were tried`, COLUMNS, rows, 'No endpoint yet. Events go to an address of yours as soon as you add it.')}
    ${rows.length > 0 ? html`<p class="quiet">Delivered: of the latest ${COUNTED_LATEST} deliveries that were tried.</p>` : null}
    ${mayAdd || again ? html`<h2>Add an endpoint</h2>${form()}` : null}
  </div>`;
  return { title: 'Endpoints', section: ENDPOINTS, body };
}

/** Shows whether the endpoint works. */
export function endpointBadge({ enabled, disabled_reason, failing_since }: WebhookEndpointRecord): VNode {
  if (!enabled)
    return badge(`disabled${disabled_reason && disabled_reason !== 'manual' ? ` (${disabled_reason})` : ''}`, 'warn');
  return failing_since ? badge('failing', 'bad') : badge('enabled', 'good');
}

export function successOf({ delivered, tried }: EndpointFigures): string {
  return tried === 0 ? '–' : `${Math.floor((delivered / tried) * 100)} %`;
}

// The page that lists webhook endpoints: those that fail, those that are disabled, or all.
import type { VNode } from 'preact';
import { acrossAccounts, type StoredId } from '#libs/models/tenant.ts';
import { FAILING, WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, choiceField, pager, table } from '#libs/pages/parts.ts';
import { PAGE_SIZE, pageNumberOf, paramsOf, sliceOf, textOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { isFailing } from '../store/account-search.ts';
import { SEARCH_LIMIT_MS } from '../store/delivery-search.ts';
import { readEndpointNames } from '../store/endpoint-names.ts';
import type { Page } from '../views/layout.ts';

const SECTION = '/endpoints';

type Listed = Pick<
  WebhookEndpointRecord,
  'account_id' | 'url' | 'enabled' | 'disabled_reason' | 'failures' | 'failing_since' | 'events'
> & { _id: StoredId };

/** The lists by state. Each is read along an index. */
const LISTS = {
  failing: { filter: FAILING, sort: { failures: -1 } },
  all: { filter: {}, sort: { _id: -1 } },
} as const;

export async function endpointsPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const number = pageNumberOf(params);
  const state = textOf(params, 'state') ?? 'failing';
  if (!Object.hasOwn(LISTS, state))
    throw new PageError(400, `Unknown state ${state}. Known states: ${Object.keys(LISTS).join(', ')}.`);
  const { filter, sort } = LISTS[state as keyof typeof LISTS];
  const { skip, limit } = sliceOf(number);
  const found = await WebhookEndpoint.find(filter)
    .setOptions(acrossAccounts)
    .select({ account_id: 1, url: 1, enabled: 1, disabled_reason: 1, failures: 1, failing_since: 1, events: 1 })
    .sort(sort)
    .skip(skip)
    .limit(limit)
    .maxTimeMS(SEARCH_LIMIT_MS)
    .lean<Listed[]>();
  const rows = found.slice(0, PAGE_SIZE);
  const names = await readEndpointNames(rows.map(({ _id, account_id }) => ({ endpoint_id: _id, account_id })));
  const columns = [
    {
      name: 'URL',
      cell: ({ _id, url }: Listed) => html`<a class="url" href=${`/endpoints/${String(_id)}`}>${url}</a>`,
    },
    {
      name: 'Account',
      cell: ({ account_id }: Listed) =>
        html`<a href=${`/accounts/${String(account_id)}`}>${names.accounts.get(String(account_id)) ?? '–'}</a>`,
    },
    { name: 'State', cell: endpointBadge },
    { name: 'Failures in a row', isNumber: true, cell: ({ failures }: Listed) => (failures ? count(failures) : '–') },
    { name: 'Failing since', cell: ({ failing_since }: Listed) => ago(failing_since) },
    { name: 'Events', cell: ({ events }: Listed) => events.slice(0, 3).join(', ') + (events.length > 3 ? ' …' : '') },
  ];
  params.delete('page');
  const body = html`<div>
    <form class="filters" method="get" action="/endpoints">
      ${choiceField('state', 'State', state, [
        { value: 'failing', label: 'failing' },
        { value: 'all', label: 'all' },
      ])}
      <div class="buttons"><button class="main">Show</button></div>
    </form>
    ${table('Webhook endpoints', columns, rows, state === 'failing' ? 'No endpoint fails.' : 'No endpoint is registered.')}
    ${pager(SECTION, params, { number, hasNext: found.length > PAGE_SIZE })}
  </div>`;
  return { title: 'Endpoints', section: SECTION, body };
}

/** Shows whether the endpoint works. */
export function endpointBadge(endpoint: Pick<Listed, 'enabled' | 'disabled_reason' | 'failures'>): VNode {
  if (!endpoint.enabled) return badge(`disabled (${endpoint.disabled_reason ?? 'manual'})`, 'warn');
  return isFailing(endpoint) ? badge('failing', 'bad') : badge('enabled', 'good');
}

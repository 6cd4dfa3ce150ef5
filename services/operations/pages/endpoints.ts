// The page that lists webhook endpoints: those that fail and those that are disabled, or all.
import type { VNode } from 'preact';
import { acrossAccounts, type StoredId } from '#libs/models/tenant.ts';
import {
  DISABLED,
  FAILING,
  WebhookEndpoint,
  type WebhookEndpointRecord,
} from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { type Column, choiceField, pager, table } from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf, shownOf, sliceOf, textOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { readDeliveryRates } from '../store/delivery-rates.ts';
import { SEARCH_LIMIT_MS } from '../store/delivery-search.ts';
import { readEndpointNames } from '../store/endpoint-names.ts';
import { endpointBadge, lastFailure, rateText } from '../views/endpoint-state.ts';
import type { Page } from '../views/layout.ts';
import { underForm } from '../views/search-form.ts';

const SECTION = '/endpoints';

const FIELDS = [
  'account_id',
  'url',
  'enabled',
  'disabled_reason',
  'failures',
  'failing_since',
  'last_failure',
  'updated_at',
] as const;

type Listed = Pick<WebhookEndpointRecord, (typeof FIELDS)[number]> & { _id: StoredId };

/** The lists by state. Each is read along an index. */
const LISTS = {
  failing: {
    title: 'Failing',
    caption: 'Endpoints that fail, the worst first',
    filter: FAILING,
    sort: { failures: -1 },
    empty: 'No endpoint fails.',
  },
  disabled: {
    title: 'Disabled',
    caption: 'Disabled endpoints, the latest first',
    filter: DISABLED,
    sort: { updated_at: -1 },
    empty: 'No endpoint is disabled.',
  },
  all: {
    title: 'All',
    caption: 'Endpoints, the newest first',
    filter: {},
    sort: { _id: -1 },
    empty: 'No endpoint is registered.',
  },
} as const;

type State = keyof typeof LISTS;

/** The lists of the page that names no state, and the most endpoints of each. */
const PROBLEMS = ['failing', 'disabled'] as const satisfies State[];
const PROBLEMS_SHOWN = 25;

export async function endpointsPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const form = html`<form class="filters" method="get" action="/endpoints">
    ${choiceField('state', 'State', params.get('state') ?? '', [
      { value: '', label: 'failing or disabled' },
      { value: 'failing', label: 'failing' },
      { value: 'disabled', label: 'disabled' },
      { value: 'all', label: 'all' },
    ])}
    <div class="buttons"><button class="main">Show</button></div>
  </form>`;
  return { title: 'Endpoints', section: SECTION, ...(await underForm(form, () => listsOf(params))) };
}

async function listsOf(params: URLSearchParams): Promise<VNode | VNode[]> {
  const state = textOf(params, 'state');
  if (state === undefined) return Promise.all(PROBLEMS.map(firstOf));
  if (Object.hasOwn(LISTS, state)) return pageOf(state as State, params);
  throw new PageError(400, `Unknown state ${state}. Known states: ${Object.keys(LISTS).join(', ')}.`);
}

async function firstOf(state: (typeof PROBLEMS)[number]): Promise<VNode> {
  const { title, caption, empty } = LISTS[state];
  const found = await findListed(state, { skip: 0, limit: PROBLEMS_SHOWN + 1 });
  const rows = found.slice(0, PROBLEMS_SHOWN);
  return html`<section>
    <h2>${title}</h2>
    ${table(caption, await columnsFor(rows), rows, empty)}
    ${found.length > PROBLEMS_SHOWN ? html`<p><a href=${`${SECTION}?state=${state}`}>All that are ${state}</a></p>` : null}
  </section>`;
}

async function pageOf(state: State, params: URLSearchParams): Promise<VNode> {
  const { caption, empty } = LISTS[state];
  const number = pageNumberOf(params);
  const { rows, hasNext } = shownOf(await findListed(state, sliceOf(number)));
  return html`<section>
    ${table(caption, await columnsFor(rows), rows, empty)}
    ${pager(SECTION, params, { number, hasNext })}
  </section>`;
}

async function findListed(state: State, { skip, limit }: { skip: number; limit: number }): Promise<Listed[]> {
  const { filter, sort } = LISTS[state];
  return WebhookEndpoint.find(filter)
    .setOptions(acrossAccounts)
    .select([...FIELDS])
    .sort(sort)
    .skip(skip)
    .limit(limit)
    .maxTimeMS(SEARCH_LIMIT_MS)
    .lean<Listed[]>();
}

async function columnsFor(rows: readonly Listed[]): Promise<Column<Listed>[]> {
  const [names, rates] = await Promise.all([
    readEndpointNames(rows.map(({ _id, account_id }) => ({ endpoint_id: _id, account_id }))),
    readDeliveryRates(rows),
  ]);
  return [
    {
      name: 'URL',
      cell: ({ _id, url }) => html`<a class="url" href=${`/endpoints/${String(_id)}`}>${url}</a>`,
    },
    {
      name: 'Account',
      cell: ({ account_id }) =>
        html`<a href=${`/accounts/${String(account_id)}`}>${names.accounts.get(String(account_id)) ?? '–'}</a>`,
    },
    { name: 'State', cell: endpointBadge },
    {
      name: 'Delivered in the last day',
      isNumber: true,
      cell: ({ _id }) => rateText(rates.get(String(_id)) ?? { delivered: 0, undelivered: 0 }),
    },
    { name: 'Last failure', cell: lastFailure },
    { name: 'Failures in a row', isNumber: true, cell: ({ failures }) => (failures ? count(failures) : '–') },
    { name: 'Failing since', cell: ({ failing_since }) => (failing_since ? ago(failing_since) : '–') },
    { name: 'Changed', cell: ({ updated_at }) => ago(updated_at) },
  ];
}

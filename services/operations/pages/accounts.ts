// The pages of accounts: a list to search, and one account with its keys, endpoints and what it keeps.
import type { VNode } from 'preact';
import type { ApiKeyRecord } from '#libs/models/accounts/api-key.ts';
import { isId } from '#libs/models/tenant.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, bytes, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, type Column, idLine, live, pager, stat, table, textField } from '#libs/pages/parts.ts';
import { PAGE_SIZE, pageNumberOf, paramsOf, sliceOf, textOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { type AccountRow, isFailing, readAccountDetails, searchAccounts } from '../store/account-search.ts';
import { endpointBadge } from '../views/endpoint-state.ts';
import type { Page } from '../views/layout.ts';

const SECTION = '/accounts';

const COLUMNS: Column<AccountRow>[] = [
  { name: 'Account', cell: ({ id, name }) => html`<a href=${`/accounts/${id}`}>${name}</a>` },
  { name: 'Mode', cell: ({ mode }) => (mode === 'test' ? badge('test', 'quiet') : mode) },
  { name: 'Records', isNumber: true, cell: ({ recordBytes }) => bytes(recordBytes) },
  { name: 'Endpoints', isNumber: true, cell: ({ endpoints }) => count(endpoints) },
  {
    name: 'Failing',
    cell: ({ failingEndpoints }) => (failingEndpoints > 0 ? badge(`${failingEndpoints} failing`, 'bad') : '–'),
  },
];

export async function accountsPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const number = pageNumberOf(params);
  const found = await searchAccounts(textOf(params, 'name'), sliceOf(number));
  params.delete('page');
  const body = html`<div>
    <form class="filters" method="get" action="/accounts">
      ${textField('name', 'Name or id', params.get('name') ?? '', 'the beginning of a name')}
      <div class="buttons"><button class="main">Search</button> <a href="/accounts">Clear</a></div>
    </form>
    ${table('Accounts', COLUMNS, found.slice(0, PAGE_SIZE), 'No account matches.')}
    ${pager(SECTION, params, { number, hasNext: found.length > PAGE_SIZE })}
  </div>`;
  return { title: 'Accounts', section: SECTION, body };
}

export async function accountPage({ request }: Visit): Promise<Page> {
  const { id } = request.params;
  const details = isId(id) ? await readAccountDetails(id) : undefined;
  if (!details) throw new PageError(404, 'No such account');
  const { account, keys, endpoints, recordBytes, fileBytes } = details;
  const failing = endpoints.filter(isFailing).length;
  const body = html`<div>
    ${live(
      'account',
      html`<div class="card">
        <dl class="stats wide">
          ${stat('Mode', account.mode === 'test' ? badge('test', 'quiet') : account.mode)}
          ${stat('Records, events and originals', bytes(recordBytes))} ${stat('Files of batches', bytes(fileBytes))}
          ${stat('Endpoints', count(endpoints.length), failing > 0 ? { detail: `${failing} failing`, tone: 'bad' } : {})}
          ${stat('Made', ago(account.created_at))}
        </dl>
        <dl class="ids">
          ${idLine('Account', account._id)}
        </dl>
        <p><a href=${`/deliveries?id=${id}`}>Its deliveries</a> · <a href=${`/renders?id=${id}`}>its documents</a></p>
      </div>`,
    )}
    <h2>Endpoints</h2>
    ${table('The webhook endpoints of this account', endpointColumns, endpoints, 'It has no endpoint.')}
    <h2>Keys</h2>
    ${table('The API keys of this account, newest first', keyColumns, keys, 'It has no key.')}
  </div>`;
  return { title: account.name, section: SECTION, body };
}

const endpointColumns: Column<WebhookEndpointRecord>[] = [
  { name: 'URL', cell: ({ _id, url }) => html`<a class="url" href=${`/endpoints/${String(_id)}`}>${url}</a>` },
  { name: 'State', cell: endpointBadge },
  { name: 'Failures in a row', isNumber: true, cell: ({ failures }) => (failures ? count(failures) : '–') },
  { name: 'Failing since', cell: ({ failing_since }) => ago(failing_since) },
];

const keyColumns: Column<ApiKeyRecord>[] = [
  { name: 'Key', cell: ({ start }) => html`<code>${start}…</code>` },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'State', cell: keyBadge },
  { name: 'Scopes', isNumber: true, cell: ({ scopes }) => (scopes.includes('*') ? 'all' : count(scopes.length)) },
  { name: 'Last used', cell: ({ last_used_at }) => ago(last_used_at) },
  { name: 'Expires', cell: ({ expires_at }) => ago(expires_at) },
];

function keyBadge({ revoked_at, expires_at }: ApiKeyRecord): VNode {
  if (revoked_at) return badge('revoked', 'quiet');
  return expires_at && expires_at < new Date() ? badge('expired', 'quiet') : badge('usable', 'good');
}

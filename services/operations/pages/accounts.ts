// The pages of accounts: a list to search, and one account with its use of limits, its failures, endpoints and keys.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { VNode } from 'preact';
import { type ApiKeyRecord, KEYS_MAX } from '#libs/models/accounts/api-key.ts';
import { BATCHES_KEPT_MAX, BATCHES_RUNNING_MAX } from '#libs/models/documents/document-batch.ts';
import { isId } from '#libs/models/tenant.ts';
import { ENDPOINTS_MAX, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, bytes, count, counted, countedUpTo, countUpTo, share } from '#libs/pages/format.ts';
import { type Children, html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, type Column, idLine, live, meter, pager, stat, table, textField } from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf, shownOf, sliceOf, textOf } from '#libs/pages/query.ts';
import type { AccountLimits, Visit } from '../session/visit.ts';
import {
  type AccountDetails,
  type AccountRow,
  isFailing,
  readAccountDetails,
  searchAccounts,
} from '../store/account-search.ts';
import { type AccountUsage, DEAD_COUNTED_MAX, readAccountUsage } from '../store/account-usage.ts';
import { axis, bars, highest, perStep, windowSince } from '../views/charts.ts';
import { endpointBadge } from '../views/endpoint-state.ts';
import type { Page } from '../views/layout.ts';
import { underForm } from '../views/search-form.ts';

const CHART_MINUTES = 60;
const SECTION = '/accounts';

const COLUMNS: Column<AccountRow>[] = [
  { name: 'Account', cell: ({ id, name }) => html`<a href=${`/accounts/${id}`}>${name}</a>` },
  { name: 'Mode', cell: ({ mode }) => (mode === 'test' ? badge('test', 'quiet') : mode) },
  { name: 'Made', cell: ({ createdAt }) => ago(createdAt) },
  { name: 'Records', isNumber: true, cell: ({ recordBytes }) => bytes(recordBytes) },
  { name: 'Endpoints', isNumber: true, cell: ({ endpoints }) => count(endpoints) },
  {
    name: 'Failing',
    cell: ({ failingEndpoints }) => (failingEndpoints > 0 ? badge(`${failingEndpoints} failing`, 'bad') : '–'),
  },
];

export async function accountsPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const form = html`<form class="filters" method="get" action="/accounts">
    ${textField('name', 'Name or id', params.get('name') ?? '', 'the beginning of a name')}
    <div class="buttons"><button class="main">Search</button> <a href="/accounts">Clear</a></div>
  </form>`;
  return { title: 'Accounts', section: SECTION, ...(await underForm(form, () => matches(params))) };
}

async function matches(params: URLSearchParams): Promise<VNode> {
  const number = pageNumberOf(params);
  const { rows, hasNext } = shownOf(await searchAccounts(textOf(params, 'name'), sliceOf(number)));
  return html`<div>
    ${table('Accounts', COLUMNS, rows, 'No account matches.')}
    ${pager(SECTION, params, { number, hasNext })}
  </div>`;
}

export async function accountPage({ request, limits }: Visit): Promise<Page> {
  const { id } = request.params;
  const details = isId(id) ? await readAccountDetails(id) : undefined;
  if (!details) throw new PageError(404, 'No such account');
  const { account, keys, endpoints } = details;
  const usage = await readAccountUsage(
    String(account._id),
    endpoints.map(({ _id }) => _id),
  );
  const body = html`<div>
    ${live('account', summary(details, usage))}
    <div class="columns">
      ${live('usage', useOfLimits(details, usage, limits))}
      ${live('documents', documents(usage, String(account._id)))}
    </div>
    ${live('failing', whatFails(details, usage))}
    <h2>Endpoints</h2>
    ${live('endpoints', table('The webhook endpoints of this account', endpointColumns(usage), endpoints, 'It has no endpoint.'))}
    <h2>Keys</h2>
    ${live('keys', table('The API keys of this account, newest first', keyColumns, keys, 'It has no key.'))}
  </div>`;
  return { title: account.name, section: SECTION, body };
}

function summary({ account, mailServer }: AccountDetails, { records }: AccountUsage): VNode {
  const id = String(account._id);
  return html`<div class="card">
    <dl class="stats wide">
      ${stat('Mode', account.mode === 'test' ? badge('test', 'quiet') : account.mode)} ${stat('Made', ago(account.created_at))}
      ${stat('Time zone', account.time_zone)}
      ${records?.map(({ kind, count: number }) => stat(nameOf(kind), count(number)))}
    </dl>
    <dl class="ids">
      ${idLine('Account', id)}
    </dl>
    <p>${mailServer ? html`Mail leaves by its own server <code>${mailServer.host}:${mailServer.port}</code> as <code>${mailServer.from}</code>` : 'Mail leaves by the server of the installation'}</p>
    <p><a href=${`/deliveries?id=${id}`}>Its deliveries</a> · <a href=${`/renders?id=${id}`}>its documents</a> · <a href=${`/mail?account=${id}`}>its mail</a></p>
  </div>`;
}

/** Writes a kind of records: `credit_notes` is `Credit notes`. */
function nameOf(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

interface Use {
  name: string;
  used: number;
  /** Undefined where there is no limit. */
  max: number | undefined;
  write: (value: number) => string;
}

/** The shares of a limit from which on its use is a warning, and an alarm. */
const WARN_SHARE = 0.8;
const ALARM_SHARE = 0.95;

function useOfLimits(details: AccountDetails, usage: AccountUsage, limits: AccountLimits): VNode {
  const uses: Use[] = [
    { name: 'Records, events and originals', used: usage.recordBytes, max: limits.recordBytes, write: bytes },
    { name: 'Files of batches', used: usage.fileBytes, max: limits.fileBytes, write: bytes },
    { name: 'Documents in the last minute', used: usage.documentsNow, max: limits.documentsPerMinute, write: count },
    { name: 'Usable keys', used: details.usableKeys, max: KEYS_MAX, write: count },
    { name: 'Endpoints', used: details.endpoints.length, max: ENDPOINTS_MAX, write: count },
    { name: 'Unfinished batches', used: usage.batches.unfinished, max: BATCHES_RUNNING_MAX, write: count },
    { name: 'Kept batches', used: usage.batches.kept, max: BATCHES_KEPT_MAX, write: count },
  ];
  return html`<div>
    <h2>Use of limits</h2>
    <div class="card uses">${uses.map(useLine)}</div>
  </div>`;
}

function useLine({ name, used, max, write }: Use): VNode {
  const part = max ? used / max : 0;
  const tone = part >= ALARM_SHARE ? 'bad' : part >= WARN_SHARE ? 'warn' : 'main';
  const text = max ? `${write(used)} of ${write(max)} (${share(used, max)})` : `${write(used)}, no limit`;
  return html`<div class="use">
    <p><span>${name}</span> <span class=${tone}>${text}</span></p>
    ${max ? meter(part, tone, `${name}: ${text}`) : null}
  </div>`;
}

function documents({ documents: minutes }: AccountUsage, id: string): VNode {
  const window = windowSince([minutes[0]?.at], CHART_MINUTES);
  const done = perStep(minutes, window, (minute) => minute?.done ?? 0);
  const failed = perStep(minutes, window, (minute) => minute?.failed ?? 0);
  const [all, lost] = [sumBy(minutes, ({ done }) => done), sumBy(minutes, ({ failed }) => failed)];
  return html`<div>
    <h2><a href=${`/renders?id=${id}`}>Documents</a></h2>
    <div class="card">
      <dl class="stats">
        ${stat('Rendered', count(all), { detail: 'last hour' })}
        ${stat('Not rendered', count(lost), { detail: 'last hour', ...(lost > 0 ? { tone: 'bad' } : {}) })}
      </dl>
      ${bars(
        [
          { name: 'good', values: done },
          { name: 'bad', values: failed },
        ],
        `Documents of the account per minute in the last hour: ${all} rendered, ${lost} not`,
      )}
      ${axis(window, `at most ${count(highest(done.map((value, index) => value + (failed[index] ?? 0))))} per minute`)}
    </div>
  </div>`;
}

interface Trouble {
  what: string;
  detail: Children;
  number: Children;
  href?: string;
}

function whatFails({ account, endpoints }: AccountDetails, usage: AccountUsage): VNode {
  const id = String(account._id);
  const troubles: Trouble[] = [
    ...endpoints.filter(isFailing).map(({ _id, url, failures, failing_since }) => ({
      what: 'Endpoint fails',
      detail: html`<span class="url">${url}, ${ago(failing_since)}</span>`,
      number: counted(failures ?? 0, 'time in a row', 'times in a row'),
      href: `/endpoints/${String(_id)}`,
    })),
    ...endpoints.flatMap(({ _id, url }) => {
      const { dead = 0 } = usage.undelivered.get(String(_id)) ?? {};
      if (dead === 0) return [];
      const href = `/deliveries?${new URLSearchParams({ endpoint: String(_id), status: 'dead' })}`;
      const number = countedUpTo(DEAD_COUNTED_MAX, dead, 'delivery', 'deliveries');
      return [{ what: 'Dead deliveries', detail: html`<span class="url">${url}</span>`, number, href }];
    }),
    ...usage.renderFailures.map(({ status, errorClass, count: number, lastAt }) => ({
      what: `Document ${status}`,
      detail: html`<span>${errorClass || 'no cause'}, ${ago(lastAt)}</span>`,
      number: counted(number, 'document'),
      href: `/renders?${new URLSearchParams({ id, status, ...(errorClass ? { cause: errorClass } : {}) })}`,
    })),
    ...usage.setAside.map(({ round, record_id, error, tried_at }) => ({
      what: 'Set aside',
      detail: html`<span>${round}: <code>${String(record_id)}</code> ${error ?? ''}, ${ago(tried_at)}</span>`,
      number: '1 record',
    })),
  ];
  const columns: Column<Trouble>[] = [
    { name: 'What', cell: ({ what, href }) => (href ? html`<a href=${href}>${what}</a>` : what) },
    { name: 'Where or why', cell: ({ detail }) => detail },
    { name: 'How many', isNumber: true, cell: ({ number }) => number },
  ];
  return html`<div>
    <h2>What fails <small>documents of the last day, deliveries that are kept</small></h2>
    ${table('What fails in this account', columns, troubles, 'Nothing fails.')}
  </div>`;
}

const endpointColumns = ({ undelivered }: AccountUsage): Column<WebhookEndpointRecord>[] => [
  { name: 'URL', cell: ({ _id, url }) => html`<a class="url" href=${`/endpoints/${String(_id)}`}>${url}</a>` },
  { name: 'State', cell: endpointBadge },
  { name: 'Failures in a row', isNumber: true, cell: ({ failures }) => (failures ? count(failures) : '–') },
  { name: 'Failing since', cell: ({ failing_since }) => (failing_since ? ago(failing_since) : '–') },
  { name: 'Dead', isNumber: true, cell: ({ _id }) => upToDead(undelivered.get(String(_id))?.dead) },
  { name: 'Held', isNumber: true, cell: ({ _id }) => upToDead(undelivered.get(String(_id))?.held) },
];

const upToDead = (number = 0) => (number > 0 ? countUpTo(DEAD_COUNTED_MAX, number) : '–');

/** The scopes of a key that are written out. */
const SCOPES_NAMED = 3;

const keyColumns: Column<ApiKeyRecord>[] = [
  { name: 'Key', cell: ({ start }) => html`<code>${start}…</code>` },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'State', cell: keyBadge },
  { name: 'Scopes', cell: scopesOf },
  { name: 'Made', cell: ({ created_at }) => ago(created_at) },
  { name: 'Last used', cell: ({ last_used_at }) => (last_used_at ? ago(last_used_at) : 'never') },
  {
    name: 'Ends',
    cell: ({ revoked_at, expires_at }) => ((revoked_at ?? expires_at) ? ago(revoked_at ?? expires_at) : 'never'),
  },
];

function scopesOf({ scopes }: ApiKeyRecord): VNode | string {
  if (scopes.includes('*')) return 'all';
  const more = scopes.length - SCOPES_NAMED;
  return html`<span title=${scopes.join(', ')}>${scopes.slice(0, SCOPES_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}</span>`;
}

function keyBadge({ revoked_at, expires_at }: ApiKeyRecord): VNode {
  if (revoked_at) return badge('revoked', 'quiet');
  return expires_at && expires_at < new Date() ? badge('expired', 'quiet') : badge('usable', 'good');
}

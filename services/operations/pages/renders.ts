// The page that searches for rendered documents: the time of each, and the reasons of failures.
import type { VNode } from 'preact';
import { RENDER_STATUSES, type RenderRecord } from '#libs/models/documents/render-record.ts';
import { bytes, countedUpTo, duration, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge, choiceField, pager, shortId, type Tone, table, textField, timeField } from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { readAccountNames } from '../store/endpoint-names.ts';
import { countRenders, searchRenders } from '../store/render-search.ts';
import { renderSearchOf } from '../views/filters.ts';
import type { Page } from '../views/layout.ts';
import { readMatches } from '../views/matches.ts';
import { underForm } from '../views/search-form.ts';

const COUNTED_MAX = 10_000;
const TONES: Record<string, Tone> = {
  done: 'good',
  refused: 'quiet',
  failed: 'bad',
  expired: 'bad',
  cancelled: 'quiet',
};

export async function rendersPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const shown = await underForm(filters(params), () => matches(params));
  return { title: 'Renders', section: '/renders', ...shown };
}

async function matches(params: URLSearchParams): Promise<VNode> {
  const search = renderSearchOf(params);
  const number = pageNumberOf(params);
  const { rows, total, hasNext } = await readMatches(number, {
    search: (slice) => searchRenders(search, slice),
    count: () => countRenders(search, COUNTED_MAX),
  });
  const names = await readAccountNames(rows);
  return html`<div>
    <div class="results">
      <p>${countedUpTo(COUNTED_MAX, total, 'document matches', 'documents match')}.</p>
    </div>
    ${table('Rendered documents, newest first', columnsFor(names), rows, 'No document matches. Records are kept for 30 days.')}
    ${pager('/renders', params, { number, hasNext })}
  </div>`;
}

function filters(params: URLSearchParams): VNode {
  const value = (name: string) => params.get(name) ?? '';
  const single = RENDER_STATUSES.map((status) => ({ value: status as string, label: status as string }));
  const statuses = [{ value: '', label: 'any' }, ...single, { value: 'failed,expired', label: 'failed or expired' }];
  return html`<form class="filters" method="get" action="/renders">
    ${textField('id', 'Id', value('id'), 'of an account or request')}
    ${choiceField('status', 'State', value('status'), statuses)}
    ${textField('cause', 'Cause', value('cause'))}
    ${textField('seconds', 'At least seconds', value('seconds'), '2.5')}
    ${timeField('from', 'From (UTC)', value('from'))} ${timeField('to', 'To (UTC)', value('to'))}
    <div class="buttons"><button class="main">Search</button> <a href="/renders">Clear</a></div>
  </form>`;
}

const columnsFor = (names: ReadonlyMap<string, string>) => [
  { name: 'Asked (UTC)', cell: ({ created_at }: RenderRecord) => moment(created_at) },
  { name: 'State', cell: ({ status }: RenderRecord) => badge(status, TONES[status] ?? 'quiet') },
  { name: 'Document', cell: ({ title }: RenderRecord) => title ?? '–' },
  { name: 'Took', isNumber: true, cell: ({ duration_ms }: RenderRecord) => duration(duration_ms) },
  {
    name: 'Size',
    isNumber: true,
    cell: ({ size_bytes }: RenderRecord) => (size_bytes == null ? '–' : bytes(size_bytes)),
  },
  {
    name: 'Cause or warnings',
    cell: ({ error_class, warnings }: RenderRecord) => error_class ?? (warnings?.length ? warnings.join(', ') : '–'),
  },
  {
    name: 'Account',
    cell: ({ account_id }: RenderRecord) =>
      html`<a href=${`/accounts/${String(account_id)}`}>${names.get(String(account_id)) ?? shortId(String(account_id))}</a>`,
  },
  { name: 'Request', cell: ({ request_id }: RenderRecord) => shortId(request_id) },
];

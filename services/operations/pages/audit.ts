// The page of the audit log: logins, rejected logins, and every action of an operator.
import type { VNode } from 'preact';
import { AUDIT_ACTIONS, AUDIT_OUTCOMES, AuditEntry, type AuditRecord } from '#libs/models/operations/audit-entry.ts';
import { operatorName } from '#libs/models/operations/operator.ts';
import { moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge, choiceField, pager, type Tone, table, textField, timeField } from '#libs/pages/parts.ts';
import { pageNumberOf, paramsOf, shownOf, sliceOf, textOf, timeOf } from '#libs/pages/query.ts';
import type { Visit } from '../session/visit.ts';
import { SEARCH_LIMIT_MS } from '../store/delivery-search.ts';
import { oneOf } from '../views/filters.ts';
import type { Page } from '../views/layout.ts';
import { underForm } from '../views/search-form.ts';

const TONES: Record<string, Tone> = { done: 'good', refused: 'warn', failed: 'bad', begun: 'bad' };

export async function auditPage({ request }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const value = (name: string) => params.get(name) ?? '';
  const choices = (all: readonly string[]) => [
    { value: '', label: 'any' },
    ...all.map((each) => ({ value: each, label: each })),
  ];
  const form = html`<form class="filters" method="get" action="/audit">
    ${textField('operator', 'Operator', value('operator'))}
    ${choiceField('action', 'Action', value('action'), choices(AUDIT_ACTIONS))}
    ${choiceField('outcome', 'Outcome', value('outcome'), choices(AUDIT_OUTCOMES))}
    ${timeField('from', 'From (UTC)', value('from'))} ${timeField('to', 'To (UTC)', value('to'))}
    <div class="buttons"><button class="main">Search</button> <a href="/audit">Clear</a></div>
  </form>`;
  return { title: 'Audit', section: '/audit', ...(await underForm(form, () => matches(params))) };
}

async function matches(params: URLSearchParams): Promise<VNode> {
  const number = pageNumberOf(params);
  const { skip, limit } = sliceOf(number);
  const found = await AuditEntry.find(filterOf(params))
    .maxTimeMS(SEARCH_LIMIT_MS)
    .sort({ at: -1, _id: -1 })
    .skip(skip)
    .limit(limit)
    .lean<AuditRecord[]>();
  const { rows, hasNext } = shownOf(found);
  return html`<div>
    ${table('Audit log, newest first', columns, rows, 'Nothing matches.')}
    ${pager('/audit', params, { number, hasNext })}
  </div>`;
}

function filterOf(params: URLSearchParams) {
  const operator = textOf(params, 'operator');
  const action = oneOf(params, 'action', AUDIT_ACTIONS);
  const outcome = oneOf(params, 'outcome', AUDIT_OUTCOMES);
  const [from, to] = [timeOf(params, 'from'), timeOf(params, 'to')];
  return {
    ...(operator ? { operator: operatorName(operator) } : {}),
    ...(action ? { action } : {}),
    ...(outcome ? { outcome } : {}),
    ...(from || to ? { at: { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) } } : {}),
  };
}

const columns = [
  { name: 'At (UTC)', cell: ({ at }: AuditRecord) => moment(at) },
  { name: 'Operator', cell: ({ operator }: AuditRecord) => operator },
  { name: 'Action', cell: ({ action }: AuditRecord) => html`<code>${action}</code>` },
  { name: 'Outcome', cell: ({ outcome }: AuditRecord) => badge(outcome, TONES[outcome] ?? 'quiet') },
  { name: 'On', cell: ({ target }: AuditRecord) => (target ? html`<span class="url">${target}</span>` : '–') },
  { name: 'Detail', cell: ({ detail }: AuditRecord) => detail ?? '–' },
  { name: 'Address', cell: ({ address }: AuditRecord) => html`<code>${address ?? '–'}</code>` },
];

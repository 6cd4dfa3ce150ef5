// The catalogue of event types, and the page of one type with an example and its schema.

import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { type Column, table, textField } from '#libs/pages/parts.ts';
import { paramsOf, textOf } from '#libs/pages/query.ts';
import { type CatalogueEntry, eventCatalogue } from '#libs/responses/event-catalogue.ts';
import { EVENTS, type Page } from '../layout.ts';
import type { Visit } from '../visit.ts';
import { jsonText } from './json-text.ts';

const COLUMNS: Column<CatalogueEntry>[] = [
  { name: 'Type', cell: ({ type }) => html`<a href=${`${EVENTS}/${type}`}><code>${type}</code></a>` },
  { name: 'When', cell: ({ description }) => html`<span>${inCode(description)}</span>` },
];

/** Shows the catalogue, which is the same for every account and public in the reference of the API. */
export async function eventTypesPage({ request }: Visit): Promise<Page> {
  const wanted = textOf(paramsOf(request), 'q')?.toLowerCase() ?? '';
  const found = eventCatalogue().filter((entry) => `${entry.type} ${entry.description}`.toLowerCase().includes(wanted));
  const body = html`<div>
    <form class="filters" method="get" action=${EVENTS}>
      ${textField('q', 'Type or word', wanted, 'invoice, paid')}
      <div class="buttons"><button>Search</button> <a href=${EVENTS}>Clear</a></div>
    </form>
    ${table('Event types', COLUMNS, found, 'No type matches.')}
  </div>`;
  return { title: 'Event types', section: EVENTS, body };
}

export async function eventTypePage({ request }: Visit): Promise<Page> {
  const entry = eventCatalogue().find(({ type }) => type === request.params['type']);
  if (!entry) throw new PageError(404, 'No such event type');
  const body = html`<div>
    <p>${inCode(entry.description)}</p>
    <h2>Example</h2>
    ${jsonText(JSON.stringify(entry.example))}
    <h2>JSON Schema</h2>
    ${jsonText(JSON.stringify(entry.schema))}
    <p><a href=${EVENTS}>All event types</a></p>
  </div>`;
  return { title: entry.type, section: EVENTS, body };
}

/** Shows text between backticks as code. */
function inCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

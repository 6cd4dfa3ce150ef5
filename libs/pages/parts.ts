// The building blocks of pages: notes, badges, tables, filters, buttons with their forms.
import type { VNode } from 'preact';
import { counted } from './format.ts';
import { type Children, html } from './html.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'main';

export function badge(text: string, tone: Tone = 'quiet'): VNode {
  return html`<span class=${`badge ${tone}`}>${text}</span>`;
}

const DELIVERY_TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  dead: 'bad',
  held: 'warn',
  pending: 'main',
};

/** Shows the state of a delivery. A pending one is `retrying` after its first attempt. */
export function deliveryBadge({ status, attempts_made }: { status: string; attempts_made: number }): VNode {
  const isRetrying = status === 'pending' && attempts_made > 0;
  return badge(isRetrying ? 'retrying' : status, isRetrying ? 'warn' : DELIVERY_TONES[status]);
}

/** Shows a message box. Screen readers announce `bad` at once. */
export function note(tone: Tone, content: Children): VNode {
  return html`<div class=${`note ${tone}`} role=${tone === 'bad' ? 'alert' : null}>${content}</div>`;
}

/** The id of the note about a form that is shown again. A page has one such note. */
const PROBLEM_ID = 'problem';

/** Shows the problem of a form that is shown again. Its wrong fields refer to it, see faultOf. */
export function formProblem(content: Children): VNode {
  return html`<div id=${PROBLEM_ID} tabindex="-1" autofocus>${note('bad', content)}</div>`;
}

/** Returns the attributes of a field that tie it to the problem of its form. @param wrong the names of the wrong fields. */
export function faultOf(name: string, wrong: readonly string[] = []): Record<string, string> {
  return wrong.includes(name) ? { 'aria-invalid': 'true', 'aria-describedby': PROBLEM_ID } : {};
}

/** Shows a section that the page refreshes by itself. @param id stays the same over refreshes. */
export function live(id: string, content: Children): VNode {
  return html`<section id=${id} data-live>${content}</section>`;
}

/** Shows a number with its name. @param detail small text below it. */
export function stat(name: string, value: Children, options: { detail?: Children; tone?: Tone } = {}): VNode {
  return html`<div class=${`stat ${options.tone ?? ''}`}>
    <dt>${name}</dt>
    <dd>${value}${options.detail ? html`<small>${options.detail}</small>` : null}</dd>
  </div>`;
}

/** Shows a share as a bar. @param label a sentence for screen readers. */
export function meter(share: number, tone: Tone, label: string): VNode {
  const width = Math.max(share > 0 ? 0.5 : 0, Math.min(100, share * 100));
  return html`<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="ground" width="100" height="4" />
    <rect class=${tone} width=${Math.round(width * 10) / 10} height="4" />
  </svg>`;
}

export interface Column<Row> {
  name: string;
  cell: (row: Row) => Children;
  /** True for numbers, which are aligned right so that they can be compared. */
  isNumber?: boolean;
}

/** The content of an empty cell. */
const NOTHING = '–';

/** Shows a table. On a phone each row becomes a card whose lines carry the columns' names. */
export function table<Row>(caption: string, columns: Column<Row>[], rows: readonly Row[], empty: Children): VNode {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<div class="table">
    <table>
      <caption>${caption}</caption>
      <thead>
        <tr>${columns.map(({ name, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : null}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr>
            ${columns.map(({ name, cell, isNumber }) => {
              const content = cell(row);
              // On a phone an empty line is left out.
              const kind = content === NOTHING || content == null ? 'nothing' : null;
              return html`<td data-name=${name} class=${isNumber ? `number ${kind ?? ''}` : kind}><div>${content}</div></td>`;
            })}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Shows a button that changes something: a form of its own, with the session's token. */
export function action(options: {
  to: string;
  csrf: string;
  label: string;
  tone?: Tone;
  fields?: Record<string, string>;
  /** The object of the action. It tells equal buttons apart for screen readers. */
  of?: string;
}): VNode {
  return html`<form method="post" action=${options.to} class="action">
    <input type="hidden" name="csrf" value=${options.csrf} />
    ${Object.entries(options.fields ?? {}).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    <button class=${options.tone ?? null} aria-label=${options.of ? `${options.label}: ${options.of}` : null}>${options.label}</button>
  </form>`;
}

export interface Choice {
  value: string;
  label: string;
}

export function textField(name: string, label: string, value: string, placeholder = ''): VNode {
  return html`<label>${label}<input name=${name} value=${value} placeholder=${placeholder} autocomplete="off" spellcheck=${false} /></label>`;
}

/** Shows a field for a time in UTC. */
export function timeField(name: string, label: string, value: string): VNode {
  return html`<label>${label}<input type="datetime-local" name=${name} value=${value} /></label>`;
}

/** Shows a choice. A value from a link that is not among the choices stays selected until another one is chosen. */
export function choiceField(name: string, label: string, value: string, choices: Choice[]): VNode {
  const isKnown = value === '' || choices.some((choice) => choice.value === value);
  return html`<label>${label}<select name=${name}>
    ${(isKnown ? choices : [...choices, { value, label: value.replaceAll(',', ', ') }]).map((choice) => html`<option value=${choice.value} selected=${choice.value === value}>${choice.label}</option>`)}
  </select></label>`;
}

/** Shows links to the earlier and later pages of a list. @param query of the page that is shown. */
export function pager(path: string, query: URLSearchParams, page: { number: number; hasNext: boolean }): VNode | null {
  if (page.number === 1 && !page.hasNext) return null;
  const to = (number: number) => {
    const target = new URLSearchParams(query);
    target.set('page', String(number));
    return `${path}?${target}`;
  };
  return html`<nav class="pager" aria-label="Pages">
    ${page.number > 1 ? html`<a rel="prev" href=${to(page.number - 1)}>← Newer</a>` : html`<span></span>`}
    <span>Page ${page.number}</span>
    ${page.hasNext ? html`<a rel="next" href=${to(page.number + 1)}>Older →</a>` : html`<span></span>`}
  </nav>`;
}

/** Shows the end of an id, which differs. The whole id is the tooltip. */
export function shortId(id: string): VNode {
  return html`<code title=${id}>${id.length > 14 ? `…${id.slice(-12)}` : id}</code>`;
}

/** Shows an id in full, in the form to copy. */
export function idLine(name: string, id: unknown, href?: string): VNode {
  const code = html`<code>${String(id)}</code>`;
  return html`<div><dt>${name}</dt><dd>${href ? html`<a href=${href}>${code}</a>` : code}</dd></div>`;
}

/** Shows headers folded, because they are long. A dash where there are none. */
export function headerLines(headers: readonly { name: string; value: string }[] | null | undefined): VNode | string {
  if (!headers?.length) return '–';
  const lines = headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
  return html`<details>
    <summary>${counted(headers.length, 'header')}</summary>
    <pre class="body" tabindex="0">${lines}</pre>
  </details>`;
}

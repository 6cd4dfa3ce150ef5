// Shows the form of a search with what the search finds, or with the reason why it cannot be made.
import type { VNode } from 'preact';
import { type Children, html } from '#libs/pages/html.ts';
import { formProblem } from '#libs/pages/parts.ts';
import type { Page } from './layout.ts';
import { problemOf } from './problem.ts';

/** The search has a mistake, or takes too long. */
const OF_SEARCH: ReadonlySet<number> = new Set([400, 422]);

/** Returns a page with the results below the form. A search that cannot be made leaves the form with what was typed. */
export async function underForm(form: VNode, find: () => Promise<Children>): Promise<Pick<Page, 'body' | 'status'>> {
  try {
    const found = await find();
    return { body: html`<div>${form} ${found}</div>` };
  } catch (error) {
    const { status, message } = problemOf(error);
    if (!OF_SEARCH.has(status)) throw error;
    return { status, body: html`<div>${formProblem(message)} ${form}</div>` };
  }
}

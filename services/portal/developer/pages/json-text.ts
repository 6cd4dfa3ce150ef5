// JSON as a person reads it.
import type { VNode } from 'preact';
import { html } from '#libs/pages/html.ts';

/** The characters that are shown. */
const SHOWN = 50_000;

/** Shows JSON in lines. A text that is no JSON is shown as it is. */
export function jsonText(json: string): VNode {
  const text = inLines(json);
  const rest = text.length - SHOWN;
  return html`<pre class="body" tabindex="0">${text.slice(0, SHOWN)}${rest > 0 ? `\n… ${rest} characters more` : null}</pre>`;
}

function inLines(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

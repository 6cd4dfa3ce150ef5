// Texts of several lines, such as addresses.
import type { VNode } from 'preact';
import { html } from '#libs/pages/html.ts';

/** Each line has a direction of its own: a telephone number after an Arabic name is read from the left. */
export function linesOfText(text: string): VNode[] {
  return text.split('\n').map((line) => html`<span class="line" dir="auto">${line}</span>`);
}

// Pages as trees of elements: text becomes text and attributes become attributes, so stored text can never become markup.
import { html as template } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** The content between tags. */
export type Children = ComponentChildren;

/**
 * Makes a tree from a template with one root element. Entities such as `&amp;` are not decoded in it, so write the
 * character.
 */
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode {
  // htm returns an array only for a template with several roots.
  return template(strings, ...values) as VNode;
}

export function renderPage(page: VNode): string {
  return `<!doctype html>${renderToString(page)}`;
}

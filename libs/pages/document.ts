// The document around every page: its head, with the style sheet and the icon.
import type { VNode } from 'preact';
import type { Assets } from './assets.ts';
import { html } from './html.ts';

export interface DocumentOptions {
  title: string;
  assets: Assets<'style.css' | 'icon.svg'>;
  /** The path of the one script. Pages work without it. */
  script?: string | undefined;
  /** The element `body`. */
  body: VNode;
}

/** Makes a document that no search engine lists. */
export function documentOf({ title, assets, script, body }: DocumentOptions): VNode {
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <link rel="icon" href=${assets.pathOf('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href=${assets.pathOf('style.css')} />
      ${script ? html`<script src=${script} defer></script>` : null}
    </head>
    ${body}
  </html>`;
}

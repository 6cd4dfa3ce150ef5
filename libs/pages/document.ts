// The document around every page: its head, with the style sheet and the icon.
import type { VNode } from 'preact';
import type { Assets } from './assets.ts';
import { html } from './html.ts';

export interface DocumentOptions<Style extends string = 'style.css'> {
  title: string;
  assets: Assets<Style | 'icon.svg'>;
  /** The style sheet, the shared one unless given. */
  style?: Style;
  /** The language of the words, English unless given. */
  language?: string;
  direction?: 'ltr' | 'rtl';
  /** More elements of the head. */
  head?: VNode;
  /** The path of the one script. Pages work without it. */
  script?: string | undefined;
  /** The element `body`. */
  body: VNode;
}

/** Makes a document that no search engine lists. */
export function documentOf<Style extends string = 'style.css'>(options: DocumentOptions<Style>): VNode {
  const { title, assets, style = 'style.css' as Style, language = 'en', direction, head, script, body } = options;
  return html`<html lang=${language} dir=${direction ?? null}>
    <head>
      <meta charset="utf-8" />
      <title>${title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <link rel="icon" href=${assets.pathOf('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href=${assets.pathOf(style)} />
      ${head ?? null} ${script ? html`<script src=${script} defer></script>` : null}
    </head>
    ${body}
  </html>`;
}

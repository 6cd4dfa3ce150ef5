// The frame around every page of the portal.
import { assetsOf } from '#libs/pages/assets.ts';
import { documentOf } from '#libs/pages/document.ts';
import { html, renderPage } from '#libs/pages/html.ts';

const assets = assetsOf({});

/** Returns a page that has nothing but a heading and a sentence. */
export function notePage(title: string, text: string): string {
  const body = html`<body class="login"><main><h1>${title}</h1><p>${text}</p></main></body>`;
  return renderPage(documentOf({ title, assets, body }));
}

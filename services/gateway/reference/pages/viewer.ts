// The page of the viewer: a bar with links to the guides, and two scripts of this origin. It loads nothing from another one.
import { BUNDLE_PATH } from '../scalar/bundle.ts';
import { guideLinks } from './guides.ts';
import { html, Markup } from './html.ts';
import { barStyle } from './style.ts';

/**
 * No inline script and no `eval`. The viewer writes style elements and attributes, which no hash can name. It shows files in
 * `blob:` addresses, and calls nothing but this origin.
 */
export const VIEWER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  'frame-src blob:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Services of Scalar (fonts, proxy, client, agent, telemetry) are off, and a key that is typed in lives as long as the page. */
const configuration = {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'direct',
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  hideModels: true,
  defaultOpenFirstTag: false,
  featuredClients: ['shell/curl', 'node/fetch', 'python/requests', 'go/native', 'php/curl'],
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
};

export const viewerStart = `Scalar.createApiReference('#reference', ${JSON.stringify(configuration, null, 2)});\n`;

export function viewerPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Billhook API</title>
<link rel="icon" href="data:,">
<style>${new Markup(barStyle)}</style>
</head>
<body>
<header class="bar">${guideLinks()}</header>
<main id="reference"></main>
<noscript><p>The reference needs JavaScript. <a href="/openapi.json">The OpenAPI document</a> has the same.</p></noscript>
<script src="${BUNDLE_PATH}"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`.text;
}

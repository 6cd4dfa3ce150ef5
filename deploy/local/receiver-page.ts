// The page of the demo receiver: deliveries, newest first, and whether their signatures verify.
import { createHash } from 'node:crypto';
import { escape as escapeHtml } from 'es-toolkit/string/escape';

export interface Delivery {
  receivedAt: string;
  verified: boolean;
  problem?: string; // why it is not verified
  headers: Record<string, string>; // the three of Standard Webhooks
  body: unknown; // parsed where it is JSON, else the text
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 56rem; padding: 0 1rem; }
article { border: 1px solid #8886; border-radius: .5rem; margin: 1rem 0; padding: .75rem 1rem; }
h2 { font-size: 1.05rem; margin: 0; }
.yes { color: #1a7f37; } .no { color: #cf222e; }
pre { overflow-x: auto; font-size: .85rem; margin: .5rem 0 0; }
`;

// Allows only the page's own style, so that a delivery's text stays text even if an escape were forgotten.
export const CONTENT_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const REFRESH_SECONDS = 2;

export function pageOf(deliveries: Delivery[]): string {
  const list = deliveries.map(articleOf).join('\n') || '<p>Nothing yet. Create a client and look again.</p>';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<title>Webhooks received (${deliveries.length})</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Webhooks received</h1>
${list}
</body>
</html>
`;
}

function articleOf({ receivedAt, verified, problem, headers, body }: Delivery): string {
  const type = typeof body === 'object' && body !== null && 'type' in body ? String(body.type) : 'not an event';
  const verdict = verified
    ? '<span class="yes">signature verified</span>'
    : `<span class="no">not verified: ${escapeHtml(problem ?? '')}</span>`;
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `<article>
<h2>${escapeHtml(type)} · ${verdict}</h2>
<time>${escapeHtml(receivedAt)}</time>
<pre>${escapeHtml(sent.join('\n'))}

${escapeHtml(JSON.stringify(body, null, 2))}</pre>
</article>`;
}

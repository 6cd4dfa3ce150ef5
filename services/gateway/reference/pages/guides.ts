// The guides for users of the API, as pages and as the Markdown that they are written in.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import sanitizeHtml from 'sanitize-html';
import { html, Markup } from './html.ts';
import { guideStyle } from './style.ts';

interface Guide {
  /** The name in the navigation bar. */
  title: string;
  about: string;
}

export const guides = {
  behaviour: { title: 'Use the API', about: 'first calls, statuses, retries, lists, money, states, keys' },
  errors: { title: 'Errors', about: 'every code with its text and what to do; texts in another language' },
  'getting-paid': { title: 'Getting paid', about: 'bill time, expenses and quotes; payments, credit notes, taxes' },
  'e-invoices': { title: 'E-invoices', about: 'XRechnung, Peppol and EN 16931: what to fill in, and the file' },
  documents: { title: 'Documents', about: 'invoices, quotes, credit notes and receipts as PDF' },
  mail: { title: 'Mail', about: 'send documents by mail, and see what became of each message' },
  webhooks: { title: 'Webhooks', about: 'receive events, check signatures, replay' },
} as const satisfies Record<string, Guide>;

export type GuideName = keyof typeof guides;

export const guideNames = Object.keys(guides) as GuideName[];

/** A guide runs and loads nothing; its style is named by its hash. */
export const GUIDE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(guideStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: 'h1 h2 h3 h4 p br hr blockquote pre code ul ol li strong em del a table thead tbody tr th td'.split(' '),
  allowedAttributes: { a: ['href'], h1: ['id'], h2: ['id'], h3: ['id'], h4: ['id'], ol: ['start'] },
  allowedSchemes: ['http', 'https'],
  allowProtocolRelative: false,
};

const markdown = new Marked({
  gfm: true,
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = targetOf(href);
      return target === undefined ? text : `<a href="${target}">${text}</a>`;
    },
    // Pictures are in the repository only.
    image: () => '',
  },
});

export function guideText(name: GuideName): string {
  return readFileSync(new URL(`../../../../docs/${name}.md`, import.meta.url), 'utf8');
}

export function guidePage(name: GuideName): string {
  const text = new Markup(sanitizeHtml(markdown.parse(guideText(name), { async: false }), ALLOWED));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${guides[name].title} · Billhook API</title>
<link rel="alternate" type="text/markdown" href="/docs/guides/${name}.md">
<style>${new Markup(guideStyle)}</style>
</head>
<body>
<header class="bar">${guideLinks()}</header>
<main>
${text}
</main>
</body>
</html>
`.text;
}

/** The links of the bar: the reference, the guides and the document. */
export function guideLinks(): Markup {
  const links = guideNames.map((name) => html`<a href="/docs/guides/${name}">${guides[name].title}</a>\n`);
  return html`<a href="/docs">Billhook API</a>\n${links}<a href="/openapi.json">OpenAPI</a>`;
}

/** Returns where a link of a guide leads; nothing for pages and files that only the repository has. */
function targetOf(href: string): string | undefined {
  if (/^(#|https?:)/.test(href)) return href;
  const [, name = '', fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return Object.hasOwn(guides, name) ? `/docs/guides/${name}${fragment}` : undefined;
}

/** Returns the anchor that GitHub gives a heading, so that one link works in both places. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

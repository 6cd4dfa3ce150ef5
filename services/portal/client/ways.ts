// The ways to pay what is due now: accounts, codes to scan and links.

import type { VNode } from 'preact';
import encodeQR from 'qr';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { html } from '#libs/pages/html.ts';
import type { PageLocale } from './locale.ts';
import { linesOfText } from './pages/lines-of-text.ts';

interface WayToPay {
  /** The lines of an account, or an instruction. Empty for a link. */
  text: string;
  /** The text of a code that a banking app scans. */
  code?: string | undefined;
  link?: { label: string; url: string };
}

/** Shows the ways to pay. Null when nothing is due or the account names none. */
export function waysToPay(document: PrintableDocument, isDue: boolean, locale: PageLocale): VNode | null {
  const { bankDetails, transferCode } = document;
  const ways: WayToPay[] = isDue && bankDetails ? [{ text: bankDetails, code: transferCode }] : [];
  if (ways.length === 0) return null;
  return html`<section class="card">
    <h2>${locale.labels.invoice.bankDetails}</h2>
    ${ways.map((way) => wayOf(way, document.number, locale))}
  </section>`;
}

function wayOf({ text, code, link }: WayToPay, number: string, { labels }: PageLocale): VNode {
  const { receipt, scanToPay } = labels.invoice;
  return html`<div class="way">
    <div>
      ${text ? html`<p>${linesOfText(text)}</p>` : null}
      ${text ? html`<dl><dt>${receipt.reference}</dt><dd dir="auto">${number}</dd></dl>` : null}
      ${link ? html`<p><a class="button main" href=${link.url} rel="noreferrer noopener">${link.label}</a></p>` : null}
    </div>
    ${code ? html`<p class="code"><img alt="" src=${svgUri(encodeQR(code, 'svg', { ecc: 'medium', border: 4 }))} />${scanToPay}</p>` : null}
  </div>`;
}

/** Returns the code as an image, so that no part of it can become markup of the page. */
function svgUri(svg: string): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

// The ways to pay what is due now: accounts, codes to scan and links.

import type { VNode } from 'preact';
import { codeImage } from '#libs/documents/code-image.ts';
import { swissCodeImage } from '#libs/documents/swiss-code-image.ts';
import { html } from '#libs/pages/html.ts';
import { referenceOf, type WayToPay } from '#libs/rules/paying/ways-to-pay.ts';
import type { PageLocale } from './locale.ts';
import { linesOfText } from './pages/lines-of-text.ts';

/** Shows the ways to pay. Null when there are none. @param number of the invoice, which is the reference unless a way has its own. */
export function waysCard(ways: readonly WayToPay[], number: string, locale: PageLocale): VNode | null {
  if (ways.length === 0) return null;
  return html`<section class="card">
    <h2>${locale.labels.invoice.bankDetails}</h2>
    ${ways.map((way) => wayOf(way, number, locale))}
  </section>`;
}

function wayOf({ text, link, ...way }: WayToPay, number: string, { labels }: PageLocale): VNode {
  const { receipt, scanToPay } = labels.invoice;
  const reference = referenceOf(way, number);
  const code = imageOf(way);
  return html`<div class="way">
    <div>
      ${text ? html`<p>${linesOfText(text)}</p>` : null}
      ${text ? html`<dl><dt>${receipt.reference}</dt><dd dir="auto">${reference}</dd></dl>` : null}
      ${link ? html`<p><a class="button main" href=${link.url} rel="noreferrer noopener">${link.label}</a></p>` : null}
    </div>
    ${code ? html`<p class="code"><img alt="" src=${code} />${scanToPay}</p>` : null}
  </div>`;
}

/** The quiet zone of the standard. */
const SWISS_EDGE_MM = 5;

function imageOf({ code, swissBill }: Pick<WayToPay, 'code' | 'swissBill'>): string | undefined {
  if (swissBill) return swissCodeImage(swissBill, SWISS_EDGE_MM);
  return code && codeImage(code);
}

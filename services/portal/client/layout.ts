// The frame around every page of a client: the look of the issuer, and the scripts that report a visit and draw a signature.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Response } from 'express';
import { paletteOf } from '#libs/documents/colour.ts';
import { assetsOf } from '#libs/pages/assets.ts';
import { documentOf } from '#libs/pages/document.ts';
import { type Children, html, renderPage } from '#libs/pages/html.ts';
import { badge, note, type Tone } from '#libs/pages/parts.ts';
import { CHECKOUT, isPayableByStripe } from '../stripe/checkout-page.ts';
import { logoAddress } from './send-logo.ts';
import { isOfDocument, issuerOf, type Visit } from './visit.ts';

export interface Page {
  title: string;
  body: Children;
  status?: number;
  /** True for a page whose look counts as a visit. */
  isCounted?: boolean;
  /** True for a page with a field to draw in. */
  isDrawnOn?: boolean;
}

export const clientAssets = assetsOf({ 'client.css': join(import.meta.dirname, 'assets', 'client.css') });

/** Scripts are in the page itself, and the policy of the page names their hashes: nothing else runs. */
const scriptOf = (name: string) => readFileSync(join(import.meta.dirname, 'assets', name), 'utf8').trim();
const REPORT_VISIT = scriptOf('opened.js');
const DRAW = scriptOf('draw.js');
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The brand colour where the account has none, as on documents. */
const STANDARD_BRAND = '#2f4a43';
/** An image in a data URI. Browsers run no script in one that an `img` element shows. */
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z\d+/=]+$/i;

/** Sends a page, with a policy that allows its style and its script alone. */
export function sendPage(response: Response, page: Page, visit: Visit, message?: { tone: Tone; text: string }) {
  const isCounted = page.isCounted === true && !visit.isPreview;
  const { brand, style } = lookOf(visit);
  const scripts = [...(isCounted ? [REPORT_VISIT] : []), ...(page.isDrawnOn ? [DRAW] : [])];
  response
    .set('Content-Security-Policy', policyOf({ style, scripts, formsTo: formsTo(visit) }))
    .status(page.status ?? 200);
  const { words, language, direction } = visit.locale;
  const body = html`<body data-csrf=${isCounted ? visit.csrf : null}>
    <div class="bar" aria-hidden="true"></div>
    <main>
      ${visit.isPreview ? note('quiet', words.preview) : null} ${message ? note(message.tone, message.text) : null}
      ${brand} ${page.body}
    </main>
    ${scripts.map((text) => html`<script dangerouslySetInnerHTML=${{ __html: text }}></script>`)}
  </body>`;
  const title = `${page.title} · ${issuerName(visit)}`;
  const head = html`<style dangerouslySetInnerHTML=${{ __html: style }}></style>`;
  response.send(
    renderPage(documentOf({ title, assets: clientAssets, style: 'client.css', language, direction, head, body })),
  );
}

/** Browsers ask the policy about the redirect of a form, too. */
function formsTo(visit: Visit): string {
  return isOfDocument(visit) && isPayableByStripe(visit) ? ` ${CHECKOUT}` : '';
}

function policyOf({ style, scripts, formsTo }: { style: string; scripts: readonly string[]; formsTo: string }): string {
  return [
    "default-src 'none'",
    `style-src 'self' ${hashOf(style)}`,
    "img-src 'self' data:",
    ...(scripts.length > 0 ? [`script-src ${scripts.map(hashOf).join(' ')}`, "connect-src 'self'"] : []),
    `form-action 'self'${formsTo}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** Returns the name that the document comes from. */
function issuerName(visit: Visit): string {
  const { company, name } = issuerOf(visit);
  return company || name;
}

function lookOf(visit: Visit) {
  const { brand, inkOnLight, inkOnDark } = paletteOf(issuerOf(visit).brand_color ?? STANDARD_BRAND);
  // Colours are made by paletteOf, so the style has no text of others.
  const style = `:root{--brand:${brand};--main:light-dark(${inkOnLight},${inkOnDark})}`;
  return {
    style,
    brand: html`<p class="issuer">
      ${logoOf(visit) ?? html`<span dir="auto">${issuerName(visit)}</span>`} ${visit.account.mode === 'test' ? badge(visit.locale.labels.invoice.testMark) : null}
    </p>`,
  };
}

/** Returns the logo. The portal serves one behind an address itself, so that the page asks no other host. */
function logoOf(visit: Visit) {
  const { logo_url } = issuerOf(visit);
  const name = issuerName(visit);
  // It has two pixels for each of CSS, see decode-image.ts. A `src` besides would count as one with one.
  if (logoAddress(visit)) return html`<img class="fetched" srcset=${`${visit.base}/logo 2x`} alt=${name} />`;
  return logo_url && INLINE_IMAGE.test(logo_url) ? html`<img src=${logo_url} alt=${name} />` : undefined;
}

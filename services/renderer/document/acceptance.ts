// The page with the client's acceptance of a quote: what was typed and drawn, when, and what names the signed evidence.
import type { PrintableAcceptance } from '#libs/jobs/printable-document.ts';
import type { InlineImage } from '../images/fetch-image.ts';
import type { DocumentLocale } from './document-locale.ts';
import { plainer } from './locale.ts';
import type { Fact } from './summary.ts';
import { printable } from './texts.ts';

export interface AcceptanceView {
  facts: Fact[];
  /** The signature that was drawn. */
  signature: InlineImage | undefined;
  /** The description of the drawn signature for screen readers. */
  alt: string;
}

export function acceptanceView(
  { name, at, timeZone, orderNumber, quoteHash, keyId }: PrintableAcceptance,
  signature: InlineImage | undefined,
  { labels, language }: DocumentLocale,
): AcceptanceView {
  const order = printable(orderNumber);
  const format = { dateStyle: 'long', timeStyle: 'long', timeZone, calendar: 'gregory' } as const;
  return {
    facts: [
      { label: labels.name, value: name },
      { label: labels.signedOn, value: plainer(new Intl.DateTimeFormat(language, format).format(at)) },
      ...(order ? [{ label: labels.poNumber, value: order }] : []),
      { label: labels.acceptance.quoteHash, value: quoteHash },
      { label: labels.acceptance.key, value: keyId },
    ],
    signature,
    alt: `${labels.signature}: ${name}`,
  };
}

// The self-test of a new page. It prints a sample in each style, which also warms Chromium, fonts and template up for
// the first document.
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { documentView } from '../document/document-view.ts';
import type { Render } from '../document/template.ts';
import type { WarmPage } from './warm-page.ts';

const STYLES: Record<PdfDocument['fontStyle'], string[]> = {
  elegant: ['CormorantGaramond', 'SourceSerif4'],
  modern: ['IBMPlexSans-Regular', 'IBMPlexSans-SemiBold'],
  classic: ['EBGaramond-Regular', 'EBGaramond-Italic'],
};

const sample: Omit<PdfDocument, 'fontStyle'> = {
  title: 'Invoice',
  number: 'INV-0000',
  date: '2026-01-01',
  clientName: 'Client',
  clientEmail: 'client@example.com',
  partnerName: 'Issuer',
  partnerEmail: 'issuer@example.com',
  amount: 120,
  lineItems: [{ description: 'Sample', qty: 1, rate: 100 }],
  taxRate: 20,
  currencySymbol: '$',
  textScale: 1,
  showBanner: true,
  layoutType: 'standard',
  isQuote: false,
  requiresSignature: false,
};

/** Prints the samples. @throws when a document would lack its fonts, because blank sheets must never reach a client. */
export async function selfTest(page: WarmPage, render: Render): Promise<void> {
  for (const fontStyle of Object.keys(STYLES) as PdfDocument['fontStyle'][]) {
    const { view } = documentView(
      { ...sample, fontStyle },
      { logo: undefined, banner: undefined, bodyHtml: undefined },
    );
    const pdf = await page.print(render(view), {});
    const missing = STYLES[fontStyle].filter((name) => !pdf.includes(name));
    if (missing.length > 0) {
      throw new Error(`The page does not print ${missing.join(', ')}, but ${[...facesIn(pdf)].join(', ')}`);
    }
  }
}

function facesIn(pdf: Buffer): Set<string> {
  return new Set(
    Array.from(pdf.toString('latin1').matchAll(/\/FontName \/(?:[A-Z]{6}\+)?([\w-]+)/g), ([, name = '']) => name),
  );
}

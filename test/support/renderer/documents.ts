// Documents to print: complete and small, so that a test shows only what it is about.
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';

type Given = Partial<PdfDocument>;

/** Two lines of 100 and 20 % tax: 240. */
export function anInvoice(given: Given = {}): PdfDocument {
  return {
    title: 'Invoice',
    number: 'INV-0042',
    date: '2026-11-21',
    dueDate: '2026-12-05',
    clientName: 'Ada Lovelace',
    clientEmail: 'ada@client.example',
    partnerName: 'Grace Hopper',
    partnerEmail: 'grace@issuer.example',
    amount: 240,
    lineItems: [
      { description: 'Design', qty: 1, rate: 100 },
      { description: 'Build', qty: '2', rate: '50.00' },
    ],
    taxRate: 20,
    currencySymbol: '$',
    fontStyle: 'elegant',
    textScale: 1,
    showBanner: true,
    layoutType: 'standard',
    isQuote: false,
    requiresSignature: false,
    ...given,
  };
}

export function aQuote(given: Given = {}): PdfDocument {
  const { dueDate: _dueDate, ...invoice } = anInvoice();
  return { ...invoice, title: 'Quote', number: 'QUO-0007', isQuote: true, expiryDate: '2026-12-21', ...given };
}

/** Returns a stored invoice as it is printed: one line of 1234.50 with 20 % tax. */
export function aRecord(given: Partial<PrintableDocument> = {}): PrintableDocument {
  return anInvoice({
    lineItems: [{ description: 'Work', qty: '1', rate: '1234.5', discount: '0', amount: 1234.5 }],
    subtotal: 1234.5,
    taxAmount: 246.9,
    amount: 1481.4,
    locale: 'en-GB',
    currency: 'EUR',
    madeAt: Date.UTC(2026, 10, 21, 9, 30),
    ...given,
  } as Partial<PrintableDocument>);
}

export const STYLES = ['elegant', 'modern', 'classic'] as const;
export const LAYOUTS = ['standard', 'overlay'] as const;

// Documents to print: complete and small, so that a test shows only what it is about.
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import type {
  PrintableCurrencyStatement,
  PrintableDocument,
  PrintableMovement,
} from '#libs/jobs/printable-document.ts';

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

/** Returns a statement of account for November 2026, with the sums of its rows. It opens with 119, and all of it is not due yet. */
export function aCurrencyStatement(
  currency: string,
  rows: readonly (Partial<PrintableMovement> & { amount: number })[],
): PrintableCurrencyStatement {
  const opening = 119;
  let balance = opening;
  const movements = rows.map(({ amount, ...row }, index) => {
    balance += amount;
    const number = `${amount > 0 ? 'INV' : 'PAY'}-${String(index + 1).padStart(4, '0')}`;
    const kind = amount > 0 ? ('invoice' as const) : ('payment' as const);
    return { date: '2026-11-12', kind, number, amount, balance, ...row };
  });
  const sumOf = (sign: 1 | -1) => movements.reduce((sum, { amount }) => sum + Math.max(0, sign * amount), 0);
  return {
    currency,
    opening,
    debits: sumOf(1),
    credits: sumOf(-1),
    closing: balance,
    due: Math.max(0, balance),
    ageing: { not_due: Math.max(0, balance), d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 },
    credit: Math.max(0, -balance),
    rows: movements,
  };
}

export function aStatement(
  statements: PrintableCurrencyStatement[],
  given: Partial<PrintableDocument> = {},
): PrintableDocument {
  const { dueDate: _none, ...document } = anInvoice({
    number: 'statement-2026-11-01-2026-11-26',
    amount: 0,
    taxRate: 0,
  });
  return {
    ...document,
    lineItems: [],
    subtotal: 0,
    taxAmount: 0,
    locale: 'en-GB',
    currency: statements[0]?.currency ?? 'EUR',
    madeAt: Date.UTC(2026, 10, 26),
    statement: { from: '2026-11-01', to: '2026-11-26', statements },
    ...given,
  };
}

export const STYLES = ['elegant', 'modern', 'classic'] as const;
export const LAYOUTS = ['standard', 'overlay'] as const;

// Invoices and credit notes as they are stored, one for each trap that writers of e-invoices fall into.
import fc from 'fast-check';
import type { EAttachment } from '#libs/e-invoice/terms.ts';
import type { CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import type { Parties } from '#libs/models/billing/parties.ts';
import { ATTACHED_TYPES } from '#libs/models/documents/attachments.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import type { GivenCharges } from '#libs/rules/documents/document-charges.ts';
import { invoiceMoney } from '#libs/rules/documents/document-money.ts';
import { type LineExtras, lineItem } from '#libs/rules/documents/line-item.ts';
import type { TaxCategory } from '#libs/rules/taxes/tax-groups.ts';

const ACCOUNT = '0192e0a0-0000-7000-8000-000000000001';

export const issuer: Parties['issuer'] = {
  name: 'Ada Lovelace',
  company: 'Studio North',
  legal_name: 'Studio North GmbH',
  email: 'hello@studio-north.example',
  phone: '+49 30 1234567',
  legal_id: { value: 'HRB 12345' },
  vat_id: 'DE136695976',
  tax_number: '27/123/45678',
  legal_note: 'Amtsgericht Charlottenburg HRB 12345 B',
  electronic_address: { scheme: '9930', value: 'DE136695976' },
  postal_address: { line1: 'Musterstraße 1', postal_code: '10115', city: 'Berlin', country: 'DE' },
  payment_options: [{ type: 'bank_transfer', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' }],
  locale: 'de-DE',
};
export const client: Parties['client'] = {
  id: ACCOUNT,
  name: 'Charles Babbage',
  email: 'charles@engines.example',
  company_name: 'Analytical Engines AG',
  vat_id: 'DE811569869',
  electronic_address: { scheme: '9930', value: 'DE811569869' },
  postal_address: { line1: 'Am Ring 7', line2: 'Aufgang B', postal_code: '80331', city: 'München', country: 'DE' },
  buyer_reference: '04011000-12345-34',
};
const belgian: Parties['client'] = {
  ...client,
  company_name: 'Moteurs SA',
  vat_id: 'BE0428759497',
  electronic_address: { scheme: '0208', value: '0428759497' },
  postal_address: { line1: 'Rue 1', postal_code: '1000', city: 'Bruxelles', country: 'BE' },
};
const american: Parties['client'] = {
  id: ACCOUNT,
  name: 'Engines Inc.',
  email: 'ap@engines.example',
  electronic_address: { scheme: '0088', value: '4012345000009' },
  postal_address: { line1: '1 Main St', postal_code: '10001', city: 'New York', region: 'NY', country: 'US' },
  buyer_reference: 'AP-7',
};

type CaseLine = { description?: string; qty: string; rate: string; discount?: string } & LineExtras;

interface Given {
  currency?: string;
  tax_rate?: number;
  tax_category?: TaxCategory;
  prices_include_tax?: boolean;
  amount?: number;
  lines?: CaseLine[] | null;
  charges?: GivenCharges;
  note?: string;
  fields?: Partial<InvoiceRecord>;
  parties?: Partial<Parties>;
  total_rounding?: number;
}

export interface Case {
  attachments?: EAttachment[];
  kind: 'invoice' | 'credit_note';
  record: InvoiceRecord | CreditNoteRecord;
  parties: Parties;
}

function stored({ lines = WORK, charges, parties, fields, total_rounding, tax_rate = 19, ...given }: Given) {
  const currency = given.currency ?? 'EUR';
  const money = invoiceMoney({
    ...given,
    currency,
    tax_rate,
    charges,
    issuer: { locale: 'de-DE', tax_exemption_note: given.note, total_rounding, currency },
    line_items: lines?.map((line) => lineItem({ description: 'Work', discount: '0', ...line })) ?? null,
  });
  const record = {
    ...newRecord(ACCOUNT),
    number: 42,
    ...money,
    description: 'October',
    issue_date: '2026-11-21',
    ...fields,
  };
  return { record, parties: { issuer, client, ...parties } };
}

const invoice = (given: Given = {}): Case => {
  const { record, parties } = stored(given);
  return { kind: 'invoice', parties, record: { due_date: '2026-12-21', ...record } as unknown as InvoiceRecord };
};

const creditNote = (given: Given = {}): Case => {
  const { record, parties } = stored(given);
  const credited = {
    issued_on: '2026-11-25',
    invoice_number: 'INV-0042',
    invoice_issued_on: '2026-11-21',
    settle: 'credit',
  };
  return { kind: 'credit_note', parties, record: { ...record, ...credited } as unknown as CreditNoteRecord };
};

const line = (qty: string, rate: string, discount = '0', own: LineExtras = {}) => ({ qty, rate, discount, ...own });
const WORK: CaseLine[] = [
  { description: 'Design\nWireframes for three pages', qty: '12', rate: '95', unit: 'hour' },
  { description: 'Hosting', qty: '1', rate: '49.9', discount: '10', unit: 'MON' },
];
const without = (...fields: (keyof Parties['issuer'])[]): Parties['issuer'] =>
  Object.fromEntries(Object.entries(issuer).filter(([name]) => !fields.includes(name as never))) as never;
const MIXED = [line('1', '100'), line('3', '33.33', '0', { tax_rate: 7 }), line('1', '10', '0', { tax_category: 'E' })];

const OWN_TAX: LineExtras[] = [{}, { tax_rate: 7 }, { tax_rate: 2.6 }, { tax_category: 'E' }];

/** Returns an invoice of random lines, discount and shipping, in prices with or without tax. */
export const randomCase: fc.Arbitrary<Case> = fc
  .record({
    currency: fc.constantFrom('EUR', 'JPY', 'CHF'),
    prices_include_tax: fc.boolean(),
    lines: fc.array(
      fc
        .record({
          qty: fc.integer({ min: 1, max: 99_999 }),
          rate: fc.integer({ min: 0, max: 9_999_999 }),
          discount: fc.constantFrom('0', '10', '33.33', '99.9'),
          own: fc.constantFrom(...OWN_TAX),
        })
        .map(({ qty, rate, discount, own }) => line(String(qty / 1_000), String(rate / 1_000), discount, own)),
      { minLength: 1, maxLength: 12 },
    ),
    charges: fc.constantFrom<GivenCharges[]>(
      {},
      { discount_percent: 7.5 },
      { discount_percent: 33.33, shipping_amount: 5 },
      { shipping_amount: 12, shipping_tax_rate: 7 },
    ),
  })
  .map(invoice);

const attachment = ([ending, mediaType]: [string, string]): EAttachment => ({
  id: `hours.${ending}`,
  description: 'Hours of October',
  fileName: `hours für Ä (1).${ending}`,
  mediaType,
  bytes: Buffer.from('date,hours'),
});

export const cases: Readonly<Record<string, Case>> = {
  plain: invoice(),
  'all references': invoice({
    fields: {
      order_reference: 'PO-77',
      contract_reference: 'C-1',
      buyer_reference: 'B-1',
      notes: 'Thanks',
      terms: 'Net 30',
    },
  }),
  'a period': invoice({ fields: { service_period: { from: '2026-10-01', to: '2026-10-31' } } }),
  'a corrected invoice': invoice({
    fields: { corrects: storedId(ACCOUNT), corrects_number: 'INV-0041', corrects_issued_on: '2026-11-02' },
  }),
  'a final invoice after two parts': invoice({
    lines: [...WORK, line('1', '-300'), line('1', '-200')],
    fields: {
      quote_deducted: [
        { invoice_id: storedId(ACCOUNT), number: 'INV-0039', issued_on: '2026-09-30', amount: 30_000 },
        { invoice_id: storedId(ACCOUNT), number: 'INV-0040', issued_on: '2026-10-31', amount: 20_000 },
      ],
    },
  }),
  'a final invoice that corrects one': invoice({
    lines: [...WORK, line('1', '-300')],
    fields: {
      corrects: storedId(ACCOUNT),
      corrects_number: 'INV-0041',
      corrects_issued_on: '2026-11-02',
      quote_deducted: [{ invoice_id: storedId(ACCOUNT), number: 'INV-0039', amount: 30_000 }],
    },
  }),
  'files of every type': { ...invoice(), attachments: Object.entries(ATTACHED_TYPES).map(attachment) },
  'discounts for early payment': invoice({
    fields: {
      early_payment_discounts: [
        { days: 7, percent: 3 },
        { days: 14, percent: 2.25 },
      ],
    },
  }),
  'a day of supply': invoice({ fields: { service_date: '2026-10-15' } }),
  'without lines': invoice({ lines: null, amount: 1200 }),
  'discounts of a third': invoice({
    lines: [line('3', '33.33', '33.33'), line('1', '100', '33.33'), line('7', '0.07', '33.33')],
  }),
  'a free line': invoice({ lines: [line('3', '33.33', '100'), line('1', '10')] }),
  'everything free': invoice({ lines: [line('3', '33.33', '100')] }),
  'a quantity of zero': invoice({ lines: [line('0', '100'), line('1', '5')] }),
  fractions: invoice({
    lines: [
      line('0.333', '0.005'),
      line('1.005', '1'),
      line('2.675', '100.123456789012', '12.5'),
      line('0.0001', '0.0001'),
    ],
  }),
  'a negative quantity': invoice({ lines: [line('10', '100'), line('-2', '100', '10')] }),
  'a negative price': invoice({ lines: [line('10', '100'), line('3', '-33.33', '33.33')] }),
  'both negative': invoice({ lines: [line('-2', '-100', '5')] }),
  'mixed rates': invoice({ lines: MIXED }),
  'discount of the document': invoice({ lines: MIXED, charges: { discount_percent: 12.5 } }),
  'an amount off': invoice({ lines: MIXED, charges: { discount_amount: 33.33 } }),
  shipping: invoice({ lines: MIXED, charges: { shipping_amount: 4.99 } }),
  'shipping at another rate': invoice({
    charges: { discount_percent: 3, shipping_amount: 12.5, shipping_tax_rate: 7 },
  }),
  'prices with tax': invoice({
    prices_include_tax: true,
    lines: [line('3', '9.99'), line('7', '0.35', '15'), line('1', '100', '0', { tax_rate: 7 })],
  }),
  'a price with tax of almost a billion': invoice({
    prices_include_tax: true,
    tax_rate: 7,
    lines: [line('900000001', '0.0101'), line('-800000003', '0.0101')],
  }),
  'prices with tax, discount, shipping': invoice({
    prices_include_tax: true,
    lines: [line('3', '9.99'), line('1', '100', '0', { tax_rate: 7 })],
    charges: { discount_percent: 7.5, shipping_amount: 4.9 },
  }),
  yen: invoice({ currency: 'JPY', lines: [line('1.5', '333'), line('0.333', '1000'), line('1', '999', '33.33')] }),
  forint: invoice({ currency: 'HUF', lines: [line('1.5', '333.33'), line('3', '1000', '1')] }),
  'dinars with two decimals': invoice({ currency: 'KWD', tax_rate: 10, lines: [line('1', '1.200'), line('2', '5')] }),
  'a rounded total': invoice({ currency: 'CHF', tax_rate: 8.1, total_rounding: 0.05, lines: [line('3', '33.37')] }),
  'five hundred lines': invoice({
    lines: Array.from({ length: 500 }, (_, index) =>
      line(String(index + 1), (index * 0.37).toFixed(2), index % 3 ? '0' : '3.33'),
    ),
  }),
  'zero rated': invoice({ tax_rate: 0, tax_category: 'Z' }),
  'a small business': invoice({
    tax_rate: 0,
    tax_category: 'E',
    note: 'Kein Ausweis von Umsatzsteuer, da Kleinunternehmer gemäß § 19 UStG',
    parties: { issuer: without('vat_id', 'legal_id') },
  }),
  'reverse charge': invoice({ tax_rate: 0, tax_category: 'AE', parties: { client: belgian } }),
  'goods into the Union': invoice({ tax_rate: 0, tax_category: 'K', parties: { client: belgian } }),
  export: invoice({ tax_rate: 0, tax_category: 'G', parties: { client: american } }),
  'outside the scope of tax': invoice({
    tax_rate: 0,
    tax_category: 'O',
    parties: {
      issuer: without('vat_id', 'tax_number'),
      client: { ...american, postal_address: client.postal_address as never },
    },
  }),
  'hostile text': invoice({
    lines: [
      { description: '  <script>&amp;"  ', qty: '1', rate: '1' },
      { description: '\n\n日本語 עברית 🙂 ]]> \t\u0001\uFFFE', qty: '1', rate: '2' },
    ],
    fields: { description: 'a\u2028b & <c> \u0000' },
  }),
  'a long description': invoice({ lines: [{ description: 'x'.repeat(2_000), qty: '1', rate: '1' }] }),
  'credit note': creditNote(),
  'credit note by amount': creditNote({ lines: null, amount: 100 }),
  'credit note of mixed rates': creditNote({
    lines: MIXED,
    charges: { discount_percent: 12.5, shipping_amount: 4.99 },
  }),
  'credit note of prices with tax': creditNote({
    prices_include_tax: true,
    lines: [line('3', '9.99'), line('1', '100', '0', { tax_rate: 7 })],
  }),
};

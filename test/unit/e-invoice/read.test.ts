// Reading e-invoices: all that we write is read again, and what others send cannot harm.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FORMAT_NAMES, type FormatName, formatOf } from '#libs/e-invoice/formats.ts';
import { withinFormat } from '#libs/e-invoice/profiles.ts';
import { Unreadable } from '#libs/e-invoice/read/parse-xml.ts';
import { readEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import type { Adjustment, EInvoice, Party, Seller, Taxed } from '#libs/e-invoice/terms.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { type Case, cases, randomCase } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';
import { runs } from '../../support/form.ts';

const read = (xml: string | Buffer) => readEInvoice(Buffer.from(xml));

/** XML has no way to write these characters, see xml.ts; white space around a text has no meaning in it. */
function written(text: string | undefined | null): string | null {
  const plain = text?.replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}').trim();
  return plain || null;
}

const taxedOf = ({ category, rate }: Taxed) => ({
  category: category ?? null,
  // Outside the scope of tax only the total has a rate.
  rate: category === 'O' ? null : rate,
});
const adjustmentOf = (one: Adjustment & Partial<Taxed>) => ({
  is_charge: one.isCharge,
  amount: one.amount,
  base: one.base ?? null,
  percent: one.percent ?? null,
  reason: one.reason,
  code: one.code ?? null,
  ...(one.rate === undefined ? { category: null, rate: null } : taxedOf(one as Taxed)),
});

function partyOf(party: Party & Partial<Seller>) {
  const { address, legalId, electronicAddress, contact } = party;
  return {
    name: party.name,
    trading_name: party.tradingName ?? null,
    id: party.id ?? null,
    legal_id: legalId ? { value: legalId.value, scheme: legalId.scheme ?? null } : null,
    vat_id: party.vatId ?? null,
    tax_number: party.taxNumber ?? null,
    legal_note: party.legalNote ?? null,
    electronic_address: electronicAddress ?? null,
    address: address
      ? {
          line1: address.line1 ?? null,
          line2: address.line2 ?? null,
          line3: address.line3 ?? null,
          postal_code: address.postal_code ?? null,
          city: address.city ?? null,
          region: address.region ?? null,
          country: address.country,
        }
      : null,
    contact: { name: contact.name ?? null, phone: contact.phone ?? null, email: contact.email ?? null },
  };
}

/** Returns what reading has to give for a document that we wrote. */
function expectedOf(whole: EInvoice, format: FormatName) {
  const { specification, process } = formatOf(format);
  const terms = withinFormat(whole, format);
  const { payment, totals, preceding } = terms;
  return {
    specification,
    process: process ?? null,
    number: terms.number,
    issue_date: terms.issuedOn,
    type_code: terms.type,
    currency_code: terms.currency,
    // UBL has the due day of a credit note beside the way to pay.
    due_date: terms.dueOn ?? null,
    buyer_reference: terms.buyerReference ?? null,
    project_reference: terms.project ?? null,
    contract_reference: terms.contract ?? null,
    order_reference: terms.order ?? null,
    payment_terms: written(terms.paymentTerms),
    notes: [written(terms.note)].filter(Boolean),
    preceding: preceding.map(({ number, issuedOn }) => ({ number, issue_date: issuedOn ?? null })),
    seller: partyOf(terms.seller),
    buyer: partyOf(terms.buyer),
    service_date: terms.deliveredOn ?? null,
    delivery_country: terms.deliveryCountry ?? null,
    service_period: terms.period ?? null,
    payments: payment
      ? [
          {
            means: payment.means,
            reference: payment.reference,
            iban: payment.iban ?? null,
            holder: payment.iban ? (payment.holder ?? null) : null,
            bic: payment.bic ?? null,
          },
        ]
      : [],
    adjustments: terms.adjustments.map(adjustmentOf),
    lines: terms.lines.map((line) => ({
      id: line.id,
      name: written(line.name),
      description: written(line.description),
      quantity: line.quantity,
      unit: line.unit,
      price: line.price,
      net: line.net,
      adjustments: line.adjustment ? [adjustmentOf(line.adjustment)] : [],
      ...taxedOf(line),
    })),
    taxes: terms.taxes.map(({ taxable, tax, reason, code, category, rate }) => ({
      taxable,
      tax,
      reason: reason ?? null,
      code: code ?? null,
      category,
      rate,
    })),
    totals: {
      lines: totals.lines ?? null,
      allowances: totals.allowances ?? null,
      charges: totals.charges ?? null,
      net: totals.net,
      tax: totals.tax,
      gross: totals.gross,
      rounding: totals.rounding ?? null,
      due: totals.due,
    },
    attachments: (terms.attachments ?? []).map(({ id, description, fileName, mediaType, bytes }) => ({
      id,
      description,
      file_name: fileName,
      media_type: mediaType,
      size_bytes: bytes.length,
      url: null,
    })),
  };
}

describe.each(FORMAT_NAMES)('%s', (format) => {
  test.each(Object.entries(cases))('when %s is written, then the same is read', (_name, one) => {
    const terms = termsOfCase(one);
    const { syntax, invoice } = read(writeEInvoice(terms, format));
    expect(syntax).toBe(formatOf(format).syntax);
    expect(invoice).toMatchObject(expectedOf(terms, format));
  });

  test('when a file is attached, then it is listed, in the formats that have attachments', () => {
    const bytes = Buffer.from('%PDF-1.7 hours');
    const attachments = [
      { id: 'INV-0042', description: 'Invoice', fileName: 'INV-0042.pdf', mediaType: 'application/pdf', bytes },
    ];
    const terms = { ...termsOfCase(cases['all references'] as Case), project: 'Website', attachments };
    const { invoice } = read(writeEInvoice(terms, format));
    expect(invoice).toMatchObject(expectedOf(terms, format));
    const hasNone = ['minimum', 'basicwl', 'basic'].includes(formatOf(format).profile ?? '');
    expect(invoice.attachments).toHaveLength(hasNone ? 0 : 1);
  });

  test('when any invoice is written, then the same is read', () => {
    fc.assert(
      fc.property(randomCase, (one) => {
        const terms = termsOfCase(one);
        expect(read(writeEInvoice(terms, format)).invoice).toMatchObject(expectedOf(terms, format));
      }),
      runs(50),
    );
  });
});

const SPACE = 'urn:oasis:names:specification:ubl:schema:xsd:';
const invoice = (content: string, prolog = '') =>
  `${prolog}<Invoice xmlns="${SPACE}Invoice-2" xmlns:c="${SPACE}CommonBasicComponents-2" xmlns:a="${SPACE}CommonAggregateComponents-2">${content}</Invoice>`;

test('when a file has attachments, then they are listed with their size, and not kept', () => {
  const file = Buffer.alloc(100_000, 'x').toString('base64').replaceAll(/.{76}/g, '$&\n');
  const { attachments } = read(
    invoice(
      `<a:AdditionalDocumentReference><c:ID>A1</c:ID><c:DocumentDescription>Hours</c:DocumentDescription><a:Attachment>` +
        `<c:EmbeddedDocumentBinaryObject mimeCode="application/pdf" filename="../../etc/passwd">${file}</c:EmbeddedDocumentBinaryObject></a:Attachment></a:AdditionalDocumentReference>` +
        `<a:AdditionalDocumentReference><c:ID>A2</c:ID><a:Attachment><a:ExternalReference><c:URI>http://127.0.0.1:1/</c:URI></a:ExternalReference></a:Attachment></a:AdditionalDocumentReference>`,
    ),
  ).invoice;
  expect(attachments).toEqual([
    {
      id: 'A1',
      description: 'Hours',
      file_name: '../../etc/passwd',
      media_type: 'application/pdf',
      size_bytes: 100_000,
      url: null,
    },
    { id: 'A2', description: null, file_name: null, media_type: null, size_bytes: null, url: 'http://127.0.0.1:1/' },
  ]);
});

test('when an element is of another namespace, then it is not taken for one of the invoice', () => {
  const { number } = read(invoice('<ID xmlns="urn:evil">1</ID><c:ID>2</c:ID>')).invoice;
  expect(number).toBe('2');
});

test('when a file is in another encoding, then it is read', () => {
  const latin = Buffer.from(invoice('<c:ID>Straße</c:ID>', '<?xml version="1.0" encoding="ISO-8859-1"?>'), 'latin1');
  const wide = Buffer.from(
    `\u{FEFF}${invoice('<c:ID>Straße</c:ID>', '<?xml version="1.0" encoding="UTF-16"?>')}`,
    'utf16le',
  );
  expect([read(latin).invoice.number, read(wide).invoice.number]).toEqual(['Straße', 'Straße']);
});

const LAUGHS = `<!DOCTYPE a [<!ENTITY a "ha">${Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n} "&a${n - 1};&a${n - 1};">`).join('')}]>`;

test.each<[string, string | Buffer, string, RegExp]>([
  ['an entity that grows', invoice('<c:ID>&a29;</c:ID>', LAUGHS), 'e_invoice_document_type', /document type/],
  [
    'a file of the machine',
    invoice('<c:ID>&x;</c:ID>', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    'e_invoice_document_type',
    /./,
  ],
  [
    'a document type elsewhere',
    invoice('', '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd">'),
    'e_invoice_document_type',
    /./,
  ],
  ['a document type without end', `<!DOCTYPE a [${'<!ENTITY x "y">'.repeat(100_000)}`, 'e_invoice_document_type', /./],
  ['an unknown entity', invoice('<c:ID>&nbsp;</c:ID>'), 'e_invoice_not_xml', /entity/],
  ['deep nesting', `${'<a>'.repeat(300_000)}`, 'e_invoice_too_deep', /more than 64/],
  ['many elements', invoice('<c:ID/>'.repeat(150_000)), 'e_invoice_too_many_elements', /100,000/],
  ['a huge attribute', `<a b="${'x'.repeat(3_000_000)}"/>`, 'e_invoice_not_xml', /max buffer length/],
  [
    'many attributes',
    `<a ${Array.from({ length: 200_000 }, (_, n) => `b${n}=""`).join(' ')}/>`,
    'e_invoice_too_many_attributes',
    /64/,
  ],
  ['a huge text', invoice(`<c:ID>${'x'.repeat(3_000_000)}</c:ID>`), 'e_invoice_text_too_long', /100,000/],
  ['a huge name', `<${'a'.repeat(3_000_000)}`, 'e_invoice_not_xml', /max buffer length/],
  ['no XML', 'Dear customer,', 'e_invoice_not_xml', /./],
  ['nothing', '', 'e_invoice_not_xml', /there is no element/],
  ['half of a file', invoice('<c:ID>1</c:ID>').slice(0, -20), 'e_invoice_not_xml', /./],
  ['bytes that are not UTF-8', Buffer.from(invoice('<c:ID>ß</c:ID>'), 'latin1'), 'e_invoice_encoding', /utf-8/],
  ['an encoding that we lack', invoice('', '<?xml version="1.0" encoding="UTF-7"?>'), 'e_invoice_encoding', /utf-7/],
  ['another document', '<html/>', 'e_invoice_syntax_unknown', /html/],
  ['a name of every object', '<a xmlns="constructor"/>', 'e_invoice_syntax_unknown', /./],
])('when a file is %s, then the reason is clear', (_name, xml, code, text) => {
  const attempt = () => read(xml);
  expect(attempt).toThrow(Unreadable);
  try {
    attempt();
  } catch (error) {
    expect((error as Unreadable).problem).toMatchObject({ path: ['file'], code, message: expect.stringMatching(text) });
  }
});

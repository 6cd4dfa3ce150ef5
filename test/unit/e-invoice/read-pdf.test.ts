// PDFs with an invoice inside: ours and those that other programs made are read, hostile ones are refused within their budget.
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { embedXml } from '#libs/e-invoice/embed.ts';
import { FORMAT_NAMES, formatOf } from '#libs/e-invoice/formats.ts';
import { Unreadable } from '#libs/e-invoice/read/parse-xml.ts';
import { readEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { type Case, cases } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { runs } from '../../support/form.ts';

const read = (file: Buffer) => readEInvoice(new Uint8Array(file));
const pages = archiveFile(chromiumPdf(), { author: 'Studio North', language: 'en', isAccessible: false });
const terms = termsOfCase(cases['mixed rates'] as Case);
const XML = writeEInvoice(terms, 'en16931-cii');
const ours = (xml: string | Buffer = XML) => {
  const { embedded } = formatOf('facturx');
  if (!embedded) throw new Error('Factur-X stands in a PDF');
  return embedXml(pages, Buffer.from(xml), embedded);
};
const problemOf = (file: Buffer) => {
  try {
    read(file);
  } catch (error) {
    if (error instanceof Unreadable) return [error.problem.code, error.problem.message];
    throw error;
  }
  return ['read'];
};

test('when we write a PDF with an invoice, then the same is read from it as from its XML', () => {
  for (const format of FORMAT_NAMES) {
    const { embedded } = formatOf(format);
    if (!embedded) continue;
    for (const one of Object.values(cases)) {
      const xml = Buffer.from(writeEInvoice(termsOfCase(one), format));
      const { files, ...fields } = read(embedXml(pages, xml, embedded));
      const { files: none, ...alone } = read(xml);
      expect(fields).toEqual(alone);
      expect(none).toEqual([]);
      expect(files).toMatchObject([{ file_name: embedded.file, size_bytes: xml.length, is_invoice: true }]);
    }
  }
});

// The folder says which program made each file: Mustang 2.26.0, factur-x 7.8 for Python, qpdf, and @cantoo/pdf-lib 2.11.1.
describe('files of other programs', () => {
  const made = (name: string) => readFileSync(new URL(`received/${name}.pdf`, import.meta.url));

  test.each([
    ['mustang', 'cii', ['factur-x.xml']],
    ['factur-x-of-python', 'cii', ['factur-x.xml', 'hours.csv']],
    ['qpdf-object-streams', 'cii', ['factur-x.xml', 'hours.csv']],
    ['qpdf-linearized', 'cii', ['factur-x.xml', 'hours.csv']],
    ['pdf-lib-zugferd-and-others', 'cii', ['ZUGFeRD-invoice.xml', 'notes.xml', 'x.pdf']],
    ['pdf-lib-ubl', 'ubl', ['e-fff.xml', 'other.xml']],
  ])('when %s made the file, then its invoice is read, and all its files are listed', (name, syntax, names) => {
    const { invoice, files, ...rest } = read(made(name));
    expect(rest).toEqual({ syntax });
    expect([invoice.number, invoice.totals.due, invoice.lines.length]).toEqual([terms.number, terms.totals.due, 3]);
    expect(files.map(({ file_name }) => file_name)).toEqual(names);
    expect(files.filter(({ is_invoice }) => is_invoice).map(({ file_name }) => file_name)).toEqual([names[0]]);
  });

  test.each([
    ['encrypted', 'e_invoice_pdf_encrypted'],
    ['reportlab-without-a-file', 'e_invoice_pdf_without_xml'],
    ['pdf-lib-two-invoices', 'e_invoice_pdf_several'],
  ])('when the file is %s.pdf, then the reason is %s', (name, code) => {
    expect(problemOf(made(name))[0]).toBe(code);
  });

  test('when bytes of a file are changed or cut off, then it is read or refused, and nothing else happens', () => {
    const whole = ['qpdf-object-streams', 'mustang'].map(made);
    fc.assert(
      fc.property(
        fc.constantFrom(...whole),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 12 }),
        fc.double({ min: 0.5, max: 1, noNaN: true }),
        (file, changes, part) => {
          const changed = Buffer.from(file.subarray(0, Math.ceil(file.length * part)));
          for (const [at, byte] of changes) changed[at % changed.length] = byte;
          problemOf(changed);
        },
      ),
      runs(300),
    );
  });
});

/** Writes a PDF from its objects, with any trailer and any table. */
function pdfOf(
  objects: readonly (string | Buffer)[],
  { trailer = '/Root 1 0 R', table = Buffer.alloc(0) } = {},
): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let at = parts[0]?.length ?? 0;
  const entries = objects.map((body, index) => {
    const object = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(body), Buffer.from('\nendobj\n')]);
    parts.push(object);
    at += object.length;
    return `${String(at - object.length).padStart(10, '0')} 00000 n \n`;
  });
  const standard = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}trailer\n<<${trailer}>>`;
  return Buffer.concat([
    ...parts,
    table.length > 0 ? table : Buffer.from(standard),
    Buffer.from(`\nstartxref\n${at}\n%%EOF`),
  ]);
}
const stream = (entries: string, bytes: Buffer) =>
  Buffer.concat([Buffer.from(`<<${entries} /Length ${bytes.length}>>\nstream\n`), bytes, Buffer.from('\nendstream')]);
const catalogue = '<</Names <</EmbeddedFiles <</Names [(a) 2 0 R]>>>>>>';
const specification = (name: string) => `<</UF (${name}) /EF <</F 3 0 R>>>>`;
const holding = (file: Buffer) => pdfOf([catalogue, specification('factur-x.xml'), file]);
const MIB = 2 ** 20;
const bomb = (mib: number) => deflateSync(Buffer.alloc(mib * MIB), { level: 9 });
const tree = (kids: string) => `<</Names <</EmbeddedFiles 2 0 R>>>>|<</Kids [${kids}]>>`.split('|');

test('when a small PDF is written by hand, then its invoice is read', () => {
  expect(read(holding(stream('', Buffer.from(XML)))).invoice.number).toBe(terms.number);
  expect(read(Buffer.concat([Buffer.from('From: x\r\n'), holding(stream('', Buffer.from(XML)))])).syntax).toBe('cii');
});

test.each<[string, Buffer, string]>([
  ['an XML that unpacks to 64 MiB', holding(stream('/Filter /FlateDecode', bomb(64))), 'e_invoice_pdf_unpacks'],
  [
    'an XML that is packed twice',
    holding(stream('/Filter [/FlateDecode /FlateDecode]', deflateSync(bomb(100)))),
    'e_invoice_pdf_unpacks',
  ],
  [
    'a table of objects that unpacks to 64 MiB',
    pdfOf([], {
      table: Buffer.concat([
        Buffer.from('1 0 obj\n'),
        stream('/Type /XRef /W [0 1 0] /Size 9 /Filter /FlateDecode', bomb(64)),
      ]),
    }),
    'e_invoice_pdf_unpacks',
  ],
  ['an unknown packing', holding(stream('/Filter /JBIG2Decode', Buffer.from(XML))), 'e_invoice_pdf_broken'],
  ['an XML in another file', holding(stream('/F (/etc/passwd)', Buffer.from(''))), 'e_invoice_pdf_broken'],
  [
    'an XML longer than the file',
    pdfOf([catalogue, specification('factur-x.xml'), '<</Length 99999>>\nstream\n']),
    'e_invoice_pdf_broken',
  ],
  [
    'a length in a circle',
    pdfOf([catalogue, specification('factur-x.xml'), '<</Length 3 0 R>>\nstream\nx\nendstream']),
    'e_invoice_pdf_broken',
  ],
  ['a reference to itself', pdfOf(['1 0 R']), 'e_invoice_pdf_broken'],
  ['a tree of names in a circle', pdfOf(tree('2 0 R 2 0 R')), 'e_invoice_pdf_broken'],
  [
    'a file that stands elsewhere',
    pdfOf([catalogue, '<</UF (factur-x.xml) /FS /URL /F (http://127.0.0.1:1/)>>']),
    'e_invoice_pdf_without_xml',
  ],
  ['tables in a circle', pdfOf([catalogue], { trailer: '/Root 1 0 R /Prev 9' }), 'e_invoice_pdf_broken'],
  ['deep nesting', pdfOf([`${'['.repeat(100_000)}`]), 'e_invoice_pdf_broken'],
  ['no table', Buffer.from('%PDF-1.7\n'), 'e_invoice_pdf_broken'],
  ['only a head', Buffer.from('%PDF-'), 'e_invoice_pdf_broken'],
  ['a place far outside', Buffer.from('%PDF-1.7\nstartxref\n999999999999\n%%EOF'), 'e_invoice_pdf_broken'],
  ['an invoice that is no XML', ours('Dear customer'), 'e_invoice_not_xml'],
  [
    'an invoice with a document type',
    ours(`<!DOCTYPE a SYSTEM "http://127.0.0.1:1/">${XML}`),
    'e_invoice_document_type',
  ],
  ['a PDF inside it', ours(pages), 'e_invoice_encoding'],
])('when a PDF has %s, then it is refused with the reason', (_name, file, code) => {
  const before = process.memoryUsage().arrayBuffers;
  expect(problemOf(file)).toEqual([code, expect.stringMatching(/./)]);
  // The budget, once as chunks and once as a whole.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * MIB);
});

// Factur-X over the API: the original PDF with the XML inside, or an error, never a PDF that only looks like one. The prints are stand-ins here.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { Attachments } from '#libs/models/documents/attachments.ts';
import type { ClaimedBatch } from '#libs/models/documents/batch-clock.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Original } from '#libs/models/documents/original.ts';
import { storedId } from '#libs/models/tenant.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { printSlice } from '../../../services/gateway/documents/print-slice.ts';
import { client as buyer, issuer } from '../../e-invoices/cases.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const description = { author: 'Studio North', language: 'en', isAccessible: false };
const archive = archiveFile(chromiumPdf(), description);
const whole = { bytes: archive, warnings: [] as string[] };
let printer = { next: whole, prints: 0 };
const print = () => {
  printer.prints += 1;
  return Promise.resolve(printer.next);
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ print });
});
afterAll(() => gateway.close());
beforeEach(() => {
  printer = { next: whole, prints: 0 };
});

async function anInvoice(
  ofClient: object = {},
  status = 'Sent',
): Promise<{ account: TestAccount; invoice: AnyRecord }> {
  const account = await gateway.workspace.account();
  const { locale: _locale, ...profile } = issuer;
  await gateway.patch('/api/v1/account', profile, account);
  const { id: _id, ...fields } = buyer;
  const client = await createClient(gateway, { ...fields, ...ofClient }, account);
  const body = { client_id: client.id, due_date: '2099-12-31', currency: 'EUR', tax_rate: 19, status };
  const line_items = [{ description: 'Design', quantity: 12, rate: 95 }];
  return { account, invoice: await create(gateway, '/api/v1/invoices', { ...body, line_items }, account) };
}

const fetchFile = (account: TestAccount, id: unknown, format: string) =>
  gateway.call('GET', `/api/v1/invoices/${String(id)}/e-invoice?format=${format}`, { key: account.key });
const kept = (account: TestAccount) => Original.countDocuments({ account_id: account.id });

test('when Factur-X is fetched twice, then the document is printed once, its original stays in front, and both are kept', async () => {
  const { account, invoice } = await anInvoice();
  const [first, second, xrechnung] = [
    await fetchFile(account, invoice.id, 'facturx'),
    await fetchFile(account, invoice.id, 'facturx'),
    await fetchFile(account, invoice.id, 'facturx-xrechnung'),
  ];

  expect([first.status, first.headers.get('Content-Type')]).toEqual([200, 'application/pdf']);
  expect(first.headers.get('Content-Disposition')).toBe('attachment; filename="INV-0001-facturx.pdf"');
  expect(xrechnung.headers.get('Content-Disposition')).toBe('attachment; filename="INV-0001-xrechnung.pdf"');
  expect(first.headers.get('Repr-Digest')).toMatch(/^sha-256=:/);
  expect(first.body.subarray(0, archive.length)).toEqual(archive);
  expect(second.body).toEqual(first.body);
  expect([printer.prints, await kept(account)]).toEqual([1, 3]);
});

test('when something is missing, then it is 409 before anything is printed', async () => {
  const { account, invoice } = await anInvoice({ buyer_reference: null });
  const reply = await fetchFile(account, invoice.id, 'facturx-xrechnung');

  expect([reply.status, reply.body.code, printer.prints]).toEqual([409, 'e_invoice_incomplete', 0]);
});

test('when the print has another structure than expected, then it is 500, and no e-invoice is kept', async () => {
  const { account, invoice } = await anInvoice();
  printer.next = { bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] };
  const reply = await fetchFile(account, invoice.id, 'facturx');

  expect([reply.status, reply.body.code]).toEqual([500, 'internal_error']);
  expect(await Original.countDocuments({ account_id: account.id, content: /facturx/ })).toBe(0);
});

test('when the print lacks the logo, then the answer says so, and neither file is kept', async () => {
  const { account, invoice } = await anInvoice();
  printer.next = { ...whole, warnings: ['logoUrl: unreachable'] };
  const reply = await fetchFile(account, invoice.id, 'facturx');

  expect([reply.status, reply.headers.get('X-Document-Warnings')]).toEqual([200, 'logoUrl: unreachable']);
  expect([reply.headers.get('Repr-Digest'), await kept(account)]).toEqual([null, 0]);
});

test('when the account wants the PDF in XML, then each syntax has the original inside, a client may differ, and reading lists it', async () => {
  const { account, invoice } = await anInvoice();
  await gateway.patch('/api/v1/account', { e_invoice_pdf: true }, account);
  const pdf = await gateway.call('GET', `/api/v1/invoices/${String(invoice.id)}/pdf`, { key: account.key });
  for (const format of ['xrechnung-ubl', 'en16931-cii']) {
    const { status, body } = await fetchFile(account, invoice.id, format);
    const inside = /BinaryObject mimeCode="application\/pdf" filename="INV-0001.pdf">([^<]+)</.exec(String(body))?.[1];
    expect([status, Buffer.from(String(inside), 'base64').equals(pdf.body)]).toEqual([200, true]);
    const read = await gateway.post('/api/v1/e-invoices/read', { file: body.toString('base64') }, account);
    expect(read.body.data.attachments).toMatchObject([{ file_name: 'INV-0001.pdf', size_bytes: archive.length }]);
  }
  expect(printer.prints).toBe(1);

  const without = await anInvoice({ e_invoice_pdf: false });
  await gateway.patch('/api/v1/account', { e_invoice_pdf: true }, without.account);
  expect(String((await fetchFile(without.account, without.invoice.id, 'xrechnung-ubl')).body)).not.toContain('Binary');
  expect(printer.prints).toBe(1);
});

test('when files are attached to a draft, then each e-invoice has them inside, and they stay once it is sent', async () => {
  const { account, invoice } = await anInvoice({ e_invoice_pdf: true }, 'Draft');
  const path = `/api/v1/invoices/${String(invoice.id)}`;
  const hours = Buffer.from('date,hours\n2026-10-01,8\n');
  const order = Buffer.from('%PDF-1.7 an order');
  const attachments = [
    { name: 'hours.csv', description: 'Hours of October', file: hours.toString('base64') },
    { name: 'INV-0001.pdf', file: order.toString('base64') },
  ];
  const put = (files: object) =>
    gateway.call('PUT', `${path}/attachments`, { key: account.key, body: { attachments: files } });
  const set = await put(attachments);
  await gateway.patch(path, { status: 'Sent' }, account);

  expect([set.status, (await put([])).body.error]).toEqual([
    200,
    'Cannot change attachments after the invoice was sent',
  ]);
  expect((await gateway.get(`${path}/attachments`, account)).body.data).toEqual(set.body.data);
  const file = await gateway.call('GET', `${path}/attachments/1`, { key: account.key });
  expect([file.body, file.headers.get('Content-Type')]).toEqual([hours, 'application/octet-stream']);
  expect(file.headers.get('Content-Disposition')).toBe('attachment; filename="hours.csv"');
  expect((await gateway.call('GET', `${path}/attachments/3`, { key: account.key })).status).toBe(404);

  const given = [
    { file_name: 'hours.csv', description: 'Hours of October', media_type: 'text/csv', size_bytes: hours.length },
    { file_name: 'INV-0001.pdf', media_type: 'application/pdf', size_bytes: order.length },
  ];
  const read = async (format: string) => {
    const { body } = await fetchFile(account, invoice.id, format);
    return (await gateway.post('/api/v1/e-invoices/read', { file: body.toString('base64') }, account)).body.data;
  };
  for (const format of ['xrechnung-ubl', 'en16931-cii']) {
    expect((await read(format)).attachments).toMatchObject([{ file_name: 'original-INV-0001.pdf' }, ...given]);
  }
  const { attachments: inXml, files } = await read('facturx-basic');
  expect([inXml, files.map((one: AnyRecord) => [one['file_name'], one['relationship']])]).toEqual([
    [],
    [
      ['INV-0001.pdf', 'Supplement'],
      ['factur-x.xml', 'Alternative'],
      ['hours.csv', 'Supplement'],
    ],
  ]);
});

test('when files are not what they say, then 400 names every problem, and nothing is stored', async () => {
  const { account, invoice } = await anInvoice({}, 'Draft');
  const path = `/api/v1/invoices/${String(invoice.id)}/attachments`;
  const file = Buffer.from('a,b').toString('base64');
  const large = Buffer.alloc(2 ** 21 + 1, 'x').toString('base64');
  const { status, body } = await gateway.call('PUT', path, {
    key: account.key,
    body: {
      attachments: [
        { name: 'run.exe', file },
        { name: '../a.csv', file: '%' },
        { name: 'a.pdf', file },
        { name: 'A.PDF', file: Buffer.from('%PDF-1.7').toString('base64') },
        { name: 'b.csv', file: large },
        { name: 'c.csv', file: large },
      ],
    },
  });

  expect([status, body.details]).toEqual([
    400,
    {
      'attachments.0.name': [expect.stringContaining('ends with one of pdf, png')],
      'attachments.1.name': [expect.stringContaining('without slashes')],
      'attachments.1.file': ['must be a file in base64'],
      'attachments.2.file': [expect.stringContaining('is not a file of the type application/pdf')],
      'attachments.3.name': [expect.stringContaining('is the name of another file')],
      attachments: ['attachments must have at most 4 MiB together'],
    },
  ]);
  expect((await gateway.get(path, account)).body.data).toEqual({ attachments: [] });
  await gateway.call('PUT', path, { key: account.key, body: { attachments: [{ name: 'a.csv', file }] } });
  await gateway.delete(`/api/v1/invoices/${String(invoice.id)}`, account);
  expect(await Attachments.countDocuments({ account_id: account.id })).toBe(0);
});

test('when the PDF is too large to stand in XML, then it is 409, and Factur-X is made', async () => {
  const { account, invoice } = await anInvoice({ e_invoice_pdf: true });
  // White space between the pages and what is added to them, which changes no place.
  printer.next = { ...whole, bytes: archiveFile(chromiumPdf({ paddingBytes: 4 * 2 ** 20 }), description) };
  const [xml, hybrid] = [
    await fetchFile(account, invoice.id, 'en16931-ubl'),
    await fetchFile(account, invoice.id, 'facturx'),
  ];
  expect([xml.status, xml.body.code, hybrid.status]).toEqual([409, 'e_invoice_pdf_too_large', 200]);
});

test('when a smaller profile is asked for, then the PDF says so, and its XML is the part that the profile has room for', async () => {
  const { account, invoice } = await anInvoice();
  for (const [format, level, relation, lines] of [
    ['facturx-minimum', 'MINIMUM', 'Data', 0],
    ['facturx-basicwl', 'BASIC WL', 'Data', 0],
    ['facturx-basic', 'BASIC', 'Alternative', 1],
    ['facturx-extended', 'EXTENDED', 'Alternative', 1],
  ] as const) {
    const { body } = await fetchFile(account, invoice.id, format);
    const text = body.toString('latin1');
    expect(text).toContain(`<fx:ConformanceLevel>${level}</fx:ConformanceLevel>`);
    expect(text).toContain(`/AFRelationship /${relation}`);
    const read = await gateway.post('/api/v1/e-invoices/read', { file: body.toString('base64') }, account);
    expect([read.body.data.totals.gross, read.body.data.lines.length]).toEqual(['1356.60', lines]);
  }
  const patch = await gateway.patch('/api/v1/account', { e_invoice_format: 'facturx-minimum' }, account);
  expect([patch.status, Object.keys(patch.body.details)]).toEqual([400, ['e_invoice_format']]);
});

test('when a batch asks for Factur-X, then its files are those of single requests, also in the ZIP', async () => {
  const { account, invoice } = await anInvoice();
  const documents = [{ type: 'invoice', id: invoice.id }];
  const { id } = (await gateway.post('/api/v1/documents', { documents, format: 'facturx' }, account)).body.data;
  const mine = { _id: storedId(id), account_id: storedId(account.id) };
  const taken = { lease_id: 'ours', completed_at: new Date() };
  const batch = await DocumentBatch.findOneAndUpdate(mine, taken, { returnDocument: 'after' }).lean<ClaimedBatch>();
  await printSlice(batch as ClaimedBatch, { print, signal: new AbortController().signal });

  const file = await gateway.call('GET', `/api/v1/documents/${id}/files/1`, { key: account.key });
  const single = await fetchFile(account, invoice.id, 'facturx');
  const zip = await gateway.call('GET', `/api/v1/documents/${id}/archive`, { key: account.key });

  expect([file.status, file.headers.get('Content-Type')]).toEqual([200, 'application/pdf']);
  expect(file.body).toEqual(single.body);
  expect(Object.keys(unzipSync(zip.body))).toEqual(['INV-0001-facturx.pdf']);
});

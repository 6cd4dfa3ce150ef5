// Reading received e-invoices over the API: what we write comes back, and hostile files are 400 while the gateway stays small.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FORMAT_NAMES, formatOf } from '#libs/e-invoice/formats.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { type Case, cases } from '../../e-invoices/cases.ts';
import { termsOfCase } from '../../e-invoices/terms-of-case.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const path = '/api/v1/e-invoices/read';
const MIB = 2 ** 20;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const read = (file: string | Buffer) => gateway.post(path, { file: Buffer.from(file).toString('base64') });

test('when a file in any format is sent, then it is read, and nothing is stored', async () => {
  const terms = termsOfCase(cases['mixed rates'] as Case);
  for (const format of FORMAT_NAMES) {
    const { status, body } = await read(writeEInvoice(terms, format));
    expect([status, body.data.number, body.data.totals.due]).toEqual([200, terms.number, terms.totals.due]);
    expect(body.data.lines).toHaveLength(formatOf(format).embedded?.isData ? 0 : 3);
  }
  expect((await gateway.get('/api/v1/invoices')).body.pagination.total).toBe(0);
});

test('when a PDF with an invoice is sent, then its fields and its files are read, and one that cannot be is 400', async () => {
  const file = (name: string) => readFileSync(new URL(`../../unit/e-invoice/received/${name}.pdf`, import.meta.url));
  const { status, body } = await read(file('factur-x-of-python'));
  const refused = await Promise.all(['encrypted', 'reportlab-without-a-file'].map((name) => read(file(name))));

  expect([status, body.data.syntax, body.data.number]).toEqual([200, 'cii', 'INV-0042']);
  expect(body.data.files).toMatchObject([
    { file_name: 'factur-x.xml', is_invoice: true },
    { file_name: 'hours.csv', is_invoice: false },
  ]);
  expect(refused.map(({ status, body }) => [status, body.details.file[0]])).toEqual([
    [400, 'is an encrypted PDF: save it without a password first'],
    [400, 'is a PDF without an e-invoice in it'],
  ]);
});

test('when a file cannot be read, then it is 400 with the reason', async () => {
  const replies = [await read('<html/>'), await read('<!DOCTYPE a><a/>'), await gateway.post(path, { file: 'ß' })];
  replies.push(await gateway.post(path, {}), await read(Buffer.alloc(4 * MIB + 1, ' ')));
  expect(replies.map(({ status, body }) => [status, body.error, body.details.file[0]])).toEqual(
    [
      'is neither UBL nor CII: its root element is html',
      'must not have a document type: entities are not resolved',
      'must be a file in base64',
      'file is required',
      'must have at most 4 MiB',
    ].map((text) => [400, 'Validation failed', text]),
  );
});

test('when a body has 10 MB, then it is 413 before anything is parsed', async () => {
  expect((await read(Buffer.alloc(10 * MIB, '<a>'))).status).toBe(413);
});

test('when hostile files come one after the other, then the gateway keeps none of their memory', async () => {
  const laughs = `<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>&b;</a>`;
  const hostile = [
    laughs,
    '<a>'.repeat(MIB),
    `<a b="${'x'.repeat(3 * MIB)}"/>`,
    `<a>${'<b c="" d=""/>'.repeat(MIB / 4)}`,
    `<a ${Array.from({ length: 200_000 }, (_, n) => `b${n}=""`).join(' ')}/>`,
  ];
  await Promise.all(hostile.map(read));
  const before = process.memoryUsage();
  for (let round = 0; round < 2; round += 1) {
    const replies = await Promise.all(hostile.map(read));
    expect(replies.map(({ status }) => status)).toEqual(hostile.map(() => 400));
  }
  const after = process.memoryUsage();
  // The bodies of one round are 20 MiB in base64; the trees of their elements would be hundreds.
  expect(after.heapUsed - before.heapUsed).toBeLessThan(64 * MIB);
  expect(after.rss - before.rss).toBeLessThan(256 * MIB);
});

test('when other requests come beside a large file, then they are answered before it is read', async () => {
  const order: string[] = [];
  const large = read(`<a>${'<b c="" d=""/>'.repeat(MIB / 4)}`).then(() => order.push('file'));
  await gateway.get('/api/v1/account').then(() => order.push('account'));
  await large;
  expect(order).toEqual(['account', 'file']);
});

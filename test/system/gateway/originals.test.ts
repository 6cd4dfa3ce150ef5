// The original of an issued document: printed once, the same for ever, whatever happens to logo, profile, payments and status.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { Counter } from '#libs/models/counter.ts';
import { Original } from '#libs/models/documents/original.ts';
import { storedId } from '#libs/models/tenant.ts';
import { accept } from '../../support/answers.ts';
import { eventually } from '../../support/eventually.ts';
import type { AnyRecord } from '../../support/records.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

let system: TestSystem;
let client: AnyRecord;
beforeAll(async () => {
  system = await startSystem();
  client = await make('clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
});
afterAll(() => system.close());

async function make(resource: string, body: object): Promise<AnyRecord> {
  const reply = await system.call('POST', `/api/v1/${resource}`, { body });
  if (reply.status !== 201) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

const makeInvoice = (fields: object = {}) =>
  make('invoices', {
    client_id: client.id,
    due_date: '2099-12-31',
    amount: 80,
    description: 'Workshop',
    status: 'Sent',
    ...fields,
  });
const fetchPdf = (path: string, headers: Record<string, string> = {}) =>
  system.call('GET', `/api/v1/${path}`, { headers });
const patch = (path: string, body: object) => system.call('PATCH', `/api/v1/${path}`, { body });
const originalsOf = (record: AnyRecord) =>
  Original.countDocuments({ account_id: system.account.id, document_id: record.id });

describe('the original of an invoice', () => {
  test('when it is fetched by many at once, then all get the same bytes, and one original is kept', async () => {
    const invoice = await makeInvoice();

    const replies = await Promise.all(Array.from({ length: 8 }, () => fetchPdf(`invoices/${invoice.id}/pdf`)));

    const [first] = replies;
    const digest = `sha-256=:${createHash('sha256').update(first?.body).digest('base64')}:`;
    expect(replies.map(({ status, body }) => [status, body.equals(first?.body)])).toEqual(Array(8).fill([200, true]));
    expect(new Set(replies.map(({ headers }) => headers.get('Repr-Digest')))).toEqual(new Set([digest]));
    expect(await originalsOf(invoice)).toBe(1);
  });

  test('when profile, client and payments change, then it stays; a current copy shows what is paid', async () => {
    const invoice = await makeInvoice();
    const before = await fetchPdf(`invoices/${invoice.id}/pdf`);
    await patch('account', { name: 'Renamed', brand_color: '#ff0000', locale: 'de-DE' });
    await patch(`invoices/${invoice.id}`, { status: 'Paid' });

    const after = await fetchPdf(`invoices/${invoice.id}/pdf`);
    const named = await fetchPdf(`invoices/${invoice.id}/pdf?copy=issued`);
    const current = await fetchPdf(`invoices/${invoice.id}/pdf?copy=current`);

    expect(after.body.equals(before.body)).toBe(true);
    expect(named.body.equals(before.body)).toBe(true);
    expect((await readPdf(before.body)).text).not.toMatch(/paid/i);
    expect((await readPdf(current.body)).text).toMatch(/Paid/);
    const known = { 'If-None-Match': String(before.headers.get('ETag')) };
    expect((await fetchPdf(`invoices/${invoice.id}/pdf`, known)).status).toBe(304);
    expect((await fetchPdf(`invoices/${invoice.id}/pdf?copy=current`, known)).status).toBe(200);
    await patch('account', { name: 'Studio', brand_color: null, locale: 'en-US' });
  });

  test('when it is fetched first after it was paid, then it is as it was issued', async () => {
    const invoice = await makeInvoice();
    await patch(`invoices/${invoice.id}`, { status: 'Paid' });

    const { text } = await readPdf((await fetchPdf(`invoices/${invoice.id}/pdf`)).body);

    expect(text).toContain('$80.00');
    expect(text).not.toMatch(/paid/i);
  });

  test('when it may be paid later, then another version is printed, and both are kept', async () => {
    const invoice = await makeInvoice();
    await fetchPdf(`invoices/${invoice.id}/pdf`);
    await patch(`invoices/${invoice.id}`, { due_date: '2098-01-31' });

    const { text } = await readPdf((await fetchPdf(`invoices/${invoice.id}/pdf`)).body);

    expect(text).toContain('2098');
    expect(await originalsOf(invoice)).toBe(2);
  });

  test('when another look is asked for, then a copy is printed, and none is kept', async () => {
    const invoice = await makeInvoice();

    const sizes = await Promise.all(
      ['size=letter', 'style=classic', 'locale=fr-FR', 'time=true', 'banner=false', 'copy=current'].map(
        async (look) => {
          return (await fetchPdf(`invoices/${invoice.id}/pdf?${look}`)).status;
        },
      ),
    );

    expect(sizes).toEqual(Array(6).fill(200));
    expect(await originalsOf(invoice)).toBe(0);
  });

  test('when the original is asked for in another look, or of a draft, then an error says why', async () => {
    const [sent, draft] = [await makeInvoice(), await makeInvoice({ status: 'Draft' })];

    const replies = await Promise.all([
      fetchPdf(`invoices/${sent.id}/pdf?copy=issued&style=modern`),
      fetchPdf(`invoices/${draft.id}/pdf?copy=issued`),
    ]);

    expect(replies.map(({ status, body }) => [status, body])).toMatchObject([
      [400, { error: 'Validation failed', details: { copy: ['copy=issued has only the standard look'] } }],
      [409, { error: 'A draft has no original' }],
    ]);
    expect((await fetchPdf(`invoices/${draft.id}/pdf`)).status).toBe(200);
    expect(await originalsOf(draft)).toBe(0);
  });

  test('when the logo cannot be loaded, then the document is printed and not kept', async () => {
    await patch('account', { logo_url: 'http://127.0.0.1:9/logo.png' });
    const invoice = await makeInvoice();
    await patch('account', { logo_url: null });

    const { headers } = await fetchPdf(`invoices/${invoice.id}/pdf`);

    expect([headers.get('ETag'), headers.get('Repr-Digest')]).toEqual([null, null]);
    expect(headers.get('X-Document-Warnings')).toContain('logoUrl');
    expect(await originalsOf(invoice)).toBe(0);
  });

  test('when the account is over its quota, then the document is printed, and a warning says that it is not kept', async () => {
    const invoice = await makeInvoice();
    const counter = { _id: storedId(system.account.id) as never };
    await Counter.collection.updateOne(counter, { $inc: { stored_bytes: 2 ** 50 } });

    const { status, headers } = await fetchPdf(`invoices/${invoice.id}/pdf`);
    await Counter.collection.updateOne(counter, { $inc: { stored_bytes: -(2 ** 50) } });

    expect([status, headers.get('ETag')]).toEqual([200, null]);
    expect(headers.get('X-Document-Warnings')).toMatch(/^The original is not kept\. Records and events would take/);
    expect(await originalsOf(invoice)).toBe(0);
  });
});

describe('the original of other documents', () => {
  test('when a sent quote changes, then it has another version; when it is deleted, then all are removed', async () => {
    const quote = await make('quotes', { client_id: client.id, amount: 500, status: 'Sent', description: 'Offer' });
    await fetchPdf(`quotes/${quote.id}/pdf`);
    await patch(`quotes/${quote.id}`, { amount: 450 });
    const { text } = await readPdf((await fetchPdf(`quotes/${quote.id}/pdf`)).body);

    expect(text).toContain('$450.00');
    expect(await originalsOf(quote)).toBe(2);
    await patch(`quotes/${quote.id}`, { status: 'Draft' });
    expect((await system.call('DELETE', `/api/v1/quotes/${quote.id}`)).status).toBe(200);
    expect(await originalsOf(quote)).toBe(0);
  });

  test('when the client accepts a quote, then a current copy has the acceptance on a page of its own, and the original stays', async () => {
    const quote = await make('quotes', { client_id: client.id, amount: 500, status: 'Sent', description: 'Offer' });
    const path = `quotes/${quote.id}`;
    const before = await fetchPdf(`${path}/pdf`);
    const drawn = await sharp({ create: { width: 400, height: 160, channels: 3, background: '#ff0000' } })
      .png()
      .toBuffer();
    const given = { name: '</dd><script>Ada</script>', order_number: 'PO <4711>', drawn };
    expect(await accept(system.workspace, system.account.id, quote.id, given)).toBe('done');
    await patch('account', { time_zone: 'Pacific/Kiritimati' });
    const current = await readPdf((await fetchPdf(`${path}/pdf?copy=current`)).body);
    const german = await fetchPdf(`${path}/pdf?locale=de-DE&accessible=true`);
    await patch('account', { time_zone: 'UTC' });

    expect((await fetchPdf(`${path}/pdf`)).body.equals(before.body)).toBe(true);
    expect((await readPdf(before.body)).pages).toHaveLength(1);
    const evidence = (await system.call('GET', `/api/v1/${path}/acceptance`)).body.data;
    const [first, page] = current.pages;
    expect([current.pages.length, first?.text]).toEqual([2, expect.not.stringContaining('Acceptance')]);
    const time = { dateStyle: 'long', timeStyle: 'long', timeZone: 'Pacific/Kiritimati' } as const;
    const at = new Intl.DateTimeFormat('en-US', time).format(new Date(evidence.accepted_at)).replaceAll(/\s/g, ' ');
    const { name, order_number } = given;
    const lines = [
      `Name ${name}`,
      `Date ${at}`,
      `PO number ${order_number}`,
      `SHA-256 of the quote ${evidence.quote_sha256}`,
    ];
    for (const line of ['Acceptance', ...lines, `Key of the evidence ${evidence.key_id}`, 'Signature'])
      expect(page?.text).toContain(line);
    const label = page?.words.find(({ text }) => text === 'Signature');
    expect(await current.colourAt(2, 80, Number(label?.y) + 5)).toEqual([255, 0, 0]);
    expect((await readPdf(german.body)).text).toContain('Annahme');
    expect(german.headers.get('X-Document-Warnings')).toBeNull();
    expect(german.body.toString('latin1')).toContain('/Alt (Unterschrift: </dd><script>Ada</script>)');

    await patch(path, { status: 'Sent' });
    await patch(path, { status: 'Accepted' });
    expect((await readPdf((await fetchPdf(`${path}/pdf?copy=current`)).body)).pages).toHaveLength(1);
  });

  test('when a payment is refunded, then its receipt has another version; a credit note has one', async () => {
    const invoice = await makeInvoice();
    const payment = await make('payments', { client_id: client.id, amount: 80, currency: 'USD', allocations: [] });
    const note = await make(`invoices/${invoice.id}/credit-notes`, { amount: 5, reason: 'goodwill' });
    for (const path of [`payments/${payment.id}`, `credit-notes/${note.id}`]) {
      const first = await fetchPdf(`${path}/pdf`);
      expect((await fetchPdf(`${path}/pdf`)).body.equals(first.body)).toBe(true);
    }
    const refund = await system.call('POST', `/api/v1/payments/${payment.id}/refunds`, { body: { amount: 10 } });
    expect(refund.status).toBe(201);
    await fetchPdf(`payments/${payment.id}/pdf`);

    expect([await originalsOf(payment), await originalsOf(note)]).toEqual([2, 1]);
  });

  test('when a batch prints sent invoices in the standard look, then its files are the originals', async () => {
    const invoice = await makeInvoice();
    const original = await fetchPdf(`invoices/${invoice.id}/pdf`);
    const draft = await makeInvoice({ status: 'Draft' });
    const documents = [invoice, draft].map(({ id }) => ({ type: 'invoice', id }));
    const taken = await system.call('POST', '/api/v1/documents', { body: { documents } });
    const batch = await eventually(async () => {
      const { data } = (await system.call('GET', `/api/v1/documents/${taken.body.data.id}`)).body;
      return data.status === 'done' && data;
    });

    const files = await Promise.all(batch.documents.map(({ url }: AnyRecord) => system.call('GET', url)));

    expect(files[0].body.equals(original.body)).toBe(true);
    expect(await originalsOf(draft)).toBe(0);
  });
});

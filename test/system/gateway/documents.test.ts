// Stored invoices and quotes as PDF: the amounts of the API, the parties of the day they were sent, and 304 for a known version.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { untilForgotten } from '#libs/models/accounts/key-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { type AnyRecord, UNKNOWN_ID } from '../../support/records.ts';
import { type ReadPdf, readPdf } from '../../support/renderer/read-pdf.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

let system: TestSystem;
let client: AnyRecord;
beforeAll(async () => {
  system = await startSystem();
  await profile(german);
  client = await make('clients', { name: 'Ada Lovelace', email: 'ada@client.example', company_name: 'Rechenwerke AG' });
});
afterAll(() => system.close());

const german = {
  name: 'Grace Hopper',
  company: 'Studio Nord',
  email: 'grace@nord.example',
  address: 'Lindenstraße 12\n10969 Berlin',
  tax_id: 'DE123456789',
  bank_details: 'IBAN DE02 1203 0000 0000 2020 51',
  locale: 'de-DE',
};

const LINES = [
  { description: 'Gestaltung', quantity: 2.5, rate: 1200.5, discount: 10 },
  { description: 'Satz', quantity: 3, rate: 33.333 },
];

async function profile(changes: object) {
  expect((await system.call('PATCH', '/api/v1/account', { body: changes })).status).toBe(200);
}

async function make(resource: string, body: object): Promise<AnyRecord> {
  const reply = await system.call('POST', `/api/v1/${resource}`, { body });
  if (reply.status !== 201) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

const makeInvoice = (fields: object = {}) =>
  make('invoices', { client_id: client.id, due_date: '2026-12-31', currency: 'EUR', line_items: LINES, ...fields });

const makeQuote = (fields: object = {}) =>
  make('quotes', { client_id: client.id, amount: 500, currency: 'EUR', ...fields });

const fetchPdf = (path: string, headers: Record<string, string> = {}) =>
  system.call('GET', `/api/v1/${path}`, { headers });

async function read(path: string): Promise<ReadPdf> {
  const reply = await fetchPdf(path);
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return readPdf(reply.body);
}

const euros = (amount: number) =>
  new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(amount).replaceAll('\u00a0', ' ');

describe('what is printed', () => {
  test('when a statement of account is read as JSON and as a PDF, then its amounts are the same', async () => {
    const owing = await make('clients', { name: 'Kim', email: 'kim@client.example' });
    await makeInvoice({ client_id: owing.id, status: 'Sent', order_reference: 'PO-77' });
    await make('payments', { client_id: owing.id, amount: 1_000, currency: 'EUR', reference: 'RF18' });
    const today = (await system.call('GET', `/api/v1/clients/${owing.id}/balance`)).body.data.as_of;
    const query = `client_id=${owing.id}&from=${today}&to=${today}`;
    const { statements } = (await system.call('GET', `/api/v1/reports/statement?${query}`)).body.data;
    const { text } = await read(`reports/statement/pdf?${query}`);

    expect(statements).toMatchObject([{ debits: 2801.13, credits: 1000, closing_balance: 1801.13 }]);
    const [{ opening_balance, debits, credits, closing_balance, rows, due }] = statements;
    for (const { document, debit, credit: paid, balance, text: reference } of rows)
      expect(text).toContain(`${document.number} ${reference} ${euros(debit || paid)} ${euros(balance)}`);
    expect(text).toContain(`Anfangssaldo ${euros(opening_balance)}`);
    expect(text).toContain(`Endsaldo ${euros(debits)} ${euros(credits)} ${euros(closing_balance)}`);
    expect(text).toContain(`Noch nicht fällig ${euros(due)}`);
  });

  test('when an invoice is read in the list, alone and as a PDF, then its amounts are the same', async () => {
    const invoice = await makeInvoice({ tax_rate: 19 });
    const alone = (await system.call('GET', `/api/v1/invoices/${invoice.id}`)).body.data;
    const listed = (await system.call('GET', '/api/v1/invoices')).body.data.find(
      ({ id }: AnyRecord) => id === invoice.id,
    );
    const { text } = await read(`invoices/${invoice.id}/pdf`);

    // 2.5 × 1200.50 − 10 % = 2701.125 → 2701.13; 3 × 33.333 = 99.999 → 100.00; 19 % of 2801.13 = 532.2147.
    expect([alone.subtotal, alone.tax_amount, alone.total]).toEqual([2801.13, 532.21, 3333.34]);
    expect([listed.subtotal, listed.tax_amount, listed.total]).toEqual([2801.13, 532.21, 3333.34]);
    expect(text).toContain(`Zwischensumme ${euros(alone.subtotal)}`);
    expect(text).toContain(`MwSt. (19 %) ${euros(alone.tax_amount)}`);
    expect(text).toContain(`Gesamtbetrag ${euros(alone.total)}`);
    expect(text).toMatch(/2,5 1\.200,50 € 10 % 2\.701,13 €/);
    expect(text).toMatch(/3 33,333 € 100,00 €/);
  });

  test('when a draft is printed, then it is marked as a draft, with profile and client as they are now', async () => {
    const { id, invoice_number } = await makeInvoice();
    const { text, info } = await read(`invoices/${id}/pdf`);

    expect(text).toContain(`Rechnung ${invoice_number} Entwurf`);
    for (const part of ['Studio Nord', 'Grace Hopper', 'Lindenstraße 12', 'USt-IdNr. DE123456789', 'Rechenwerke AG']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('Bankverbindung IBAN DE02 1203 0000 0000 2020 51');
    expect(text).toContain('Zahlbar bis 31. Dezember 2026');
    expect(info).toMatchObject({ Title: `Rechnung ${invoice_number}`, Author: 'Studio Nord', Language: 'de-DE' });
  });

  test('when profile and client change after it was sent, then the PDF does not change', async () => {
    const own = await make('clients', { name: 'Before', email: 'before@client.example' });
    const { id } = await makeInvoice({ client_id: own.id, status: 'Sent' });
    const before = await fetchPdf(`invoices/${id}/pdf`);
    await profile({ company: 'Renamed', locale: 'fr-FR', time_zone: 'Pacific/Kiritimati' });
    await system.call('PATCH', `/api/v1/clients/${own.id}`, { body: { name: 'After' } });

    const after = await fetchPdf(`invoices/${id}/pdf`);
    const { text } = await readPdf(after.body);
    await profile({ ...german, time_zone: 'UTC' });

    expect(text).toContain('Before');
    expect(text).not.toContain('Renamed');
    expect(text).not.toContain('Entwurf');
    expect(after.headers.get('ETag')).toBe(before.headers.get('ETag'));
    expect(after.body.equals(before.body)).toBe(true);
  });

  test('when it is paid, then the amount paid and an amount due of zero are printed', async () => {
    const { id } = await makeInvoice({ status: 'Sent', line_items: null, amount: 80, description: 'Workshop' });
    await system.call('PATCH', `/api/v1/invoices/${id}`, { body: { status: 'Paid' } });

    const { text } = await read(`invoices/${id}/pdf?copy=current`);

    expect(text).toMatch(/Workshop 80,00 €/);
    expect(text).toMatch(/Gesamtbetrag 80,00 € Bezahlt −80,00 € Offener Betrag 0,00 €/);
  });

  test('when a currency has no decimals or three, then amounts are printed with as many as in the API', async () => {
    const yen = await makeInvoice({ currency: 'JPY', line_items: [{ description: 'A', quantity: 3, rate: 1000.5 }] });
    const dinar = await makeInvoice({ currency: 'KWD', line_items: [{ description: 'A', quantity: 1, rate: 1.2345 }] });

    expect((await read(`invoices/${yen.id}/pdf?locale=ja-JP`)).text).toContain('合計 ¥3,002');
    expect((await read(`invoices/${dinar.id}/pdf`)).text).toContain('Gesamtbetrag 1,235 KWD');
    expect([yen.total, dinar.total]).toEqual([3002, 1.235]);
  });

  test('when the amount is the largest allowed, then no digit is lost', async () => {
    const { id, total } = await makeInvoice({ line_items: null, amount: 999_999_999_999.99, tax_rate: 7 });

    expect((await read(`invoices/${id}/pdf`)).text).toContain(`Gesamtbetrag ${euros(total)}`);
  });

  test('when a quote is printed, then it has its own wording and last day, and a signature block on request', async () => {
    const { id } = await makeQuote({ status: 'Sent', expires_at: '2027-01-31', tax_rate: 19 });

    const plain = await read(`quotes/${id}/pdf`);
    const signed = await read(`quotes/${id}/pdf?signature=true`);

    expect(plain.text).toContain('Angebot QUO-');
    expect(plain.text).toContain('Gültig bis 31. Januar 2027');
    expect(plain.text).toContain(`Gesamtbetrag ${euros(595)}`);
    expect(plain.text).not.toMatch(/Bankverbindung|Unterschrift/);
    expect(signed.text).toContain('Unterschrift');
  });
});

describe('how it looks', () => {
  test('when no size is given, then the locale decides the paper size; otherwise size does', async () => {
    const { id } = await makeInvoice();
    const width = async (query: string) => Math.round((await read(`invoices/${id}/pdf${query}`)).size.width);

    expect(await width('')).toBe(210);
    expect(await width('?locale=en-US')).toBe(216);
    expect(await width('?locale=en-US&size=a4')).toBe(210);
    expect(await width('?size=letter')).toBe(216);
  });

  test('when an accessible file is requested, then it is tagged, and has no outline either way', async () => {
    const { id } = await makeInvoice();
    const plain = await read(`invoices/${id}/pdf`);
    const tagged = await read(`invoices/${id}/pdf?accessible=true`);

    expect([plain.isTagged, plain.outline]).toEqual([false, null]);
    expect([tagged.isTagged, tagged.outline]).toEqual([true, null]);
  });

  test('when it is one page, then it has at most 60 KB in every style', async () => {
    const { id } = await makeInvoice();
    for (const style of ['elegant', 'modern', 'classic']) {
      const { body } = await fetchPdf(`invoices/${id}/pdf?style=${style}`);
      expect([style, body.length <= 60_000]).toEqual([style, true]);
    }
  });

  test('when parameters are wrong, then 400 names all of them, for quotes as a list', async () => {
    const { id } = await makeInvoice();
    const wrong = 'size=a3&style=comic&locale=klingonish&accessible=perhaps';
    const reply = await fetchPdf(`invoices/${id}/pdf?${wrong}`);
    const quote = await fetchPdf(`quotes/${(await makeQuote()).id}/pdf?size=a3`);

    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details).toSorted()).toEqual(['accessible', 'locale', 'size', 'style']);
    expect(quote.body.details).toEqual([expect.stringContaining('size')]);
  });
});

describe('a test account', () => {
  const lines = Array.from({ length: 80 }, (_, index) => ({ description: `Line ${index}`, quantity: 1, rate: 1 }));
  let own: ReturnType<typeof callerOf>;
  let ownClient: AnyRecord;
  beforeAll(async () => {
    const { key } = await system.workspace.account({ name: 'Trying', mode: 'test' });
    own = callerOf(system.gateway.url, key);
    ownClient = await madeBy('clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
  });

  async function madeBy(resource: string, body: object): Promise<AnyRecord> {
    return (await own('POST', `/api/v1/${resource}`, { body })).body.data;
  }

  test.each([
    ['en-US', 'TEST'],
    ['de-DE', 'TEST'],
    ['es-ES', 'PRUEBA'],
    ['ja-JP', 'テスト'],
  ])(
    'when its documents are printed in %s, then every page says %s, also after they were sent',
    async (locale, word) => {
      const due = { client_id: ownClient.id, due_date: '2031-01-01', line_items: lines };
      const quote = await madeBy('quotes', { client_id: ownClient.id, amount: 80, line_items: lines });
      const draft = await madeBy('invoices', due);
      const sent = await madeBy('invoices', { ...due, status: 'Sent' });
      for (const path of [`quotes/${quote.id}`, `invoices/${draft.id}`, `invoices/${sent.id}`]) {
        const { pages } = await readPdf((await own('GET', `/api/v1/${path}/pdf?locale=${locale}`)).body);

        expect(pages.length).toBeGreaterThan(1);
        for (const { text } of pages) expect(text.normalize('NFKC')).toContain(word);
      }
    },
  );

  test('when it calls the PDF tool, then the document says TEST, whatever isTest in the body claims', async () => {
    const reply = await own('POST', '/api/tools/generate-pdf', { body: { ...pdfOf('Invoice'), isTest: false } });

    expect((await readPdf(reply.body)).text).toContain('TEST');
  });

  test('when the account is live, then no document is marked as a test, whatever the body of the PDF tool claims', async () => {
    const stored = await read(`invoices/${(await makeInvoice()).id}/pdf`);
    const reply = await system.call('POST', '/api/tools/generate-pdf', { body: { ...pdfOf('Invoice'), isTest: true } });

    expect(stored.text).not.toContain('TEST');
    expect((await readPdf(reply.body)).text).not.toContain('TEST');
  });
});

describe('repeated and conditional requests', () => {
  test('when it is printed again, tagged or not, then the bytes are the same', async () => {
    const { id } = await makeInvoice();
    for (const query of ['', '?accessible=true']) {
      const first = await fetchPdf(`invoices/${id}/pdf${query}`);
      await fetchPdf(`invoices/${(await makeInvoice()).id}/pdf?accessible=true`);
      const second = await fetchPdf(`invoices/${id}/pdf${query}`);
      expect([query, second.body.equals(first.body)]).toEqual([query, true]);
      expect(second.headers.get('ETag')).toBe(first.headers.get('ETag'));
    }
  });

  test('when something changes that is not printed, then the file is the same', async () => {
    const { id } = await makeQuote();
    const setStatus = (status: string) => system.call('PATCH', `/api/v1/quotes/${id}`, { body: { status } });
    expect((await setStatus('Sent')).status).toBe(200);
    const first = await fetchPdf(`quotes/${id}/pdf`);
    expect((await setStatus('Accepted')).status).toBe(200);
    const second = await fetchPdf(`quotes/${id}/pdf`);

    expect(second.headers.get('ETag')).toBe(first.headers.get('ETag'));
    expect(second.body.equals(first.body)).toBe(true);
  });

  test('when the ETag is current, then 304 without printing; when anything printed has changed, then a new document', async () => {
    const { id } = await makeInvoice();
    const first = await fetchPdf(`invoices/${id}/pdf`);
    const tag = first.headers.get('ETag') ?? '';
    expect(tag).toMatch(/^"[\w-]+"$/);
    expect(first.headers.get('Cache-Control')).toBe('private, no-cache');

    await system.redis.kill(); // Nothing can be printed now.
    const known = await fetchPdf(`invoices/${id}/pdf`, { 'If-None-Match': tag });
    const other = await fetchPdf(`invoices/${id}/pdf?size=letter`, { 'If-None-Match': tag });
    await system.redis.start();
    await eventually(async () => (await fetchPdf(`invoices/${id}/pdf`)).status === 200);
    expect([known.status, known.body.length, known.headers.get('ETag')]).toEqual([304, 0, tag]);
    expect(other.status).toBe(503);

    await system.call('PATCH', `/api/v1/invoices/${id}`, { body: { description: 'More of it' } });
    const changed = await system.call('HEAD', `/api/v1/invoices/${id}/pdf`, { headers: { 'If-None-Match': tag } });
    expect([changed.status, changed.headers.get('ETag') === tag]).toEqual([200, false]);
  });

  test('when the logo is unavailable, then the document has no logo, and its response no ETag', async () => {
    await profile({ logo_url: 'http://127.0.0.1:9/logo.png' });
    const { id } = await makeInvoice();
    const reply = await fetchPdf(`invoices/${id}/pdf`);
    await profile({ logo_url: null });

    expect(reply.status).toBe(200);
    expect(reply.headers.get('X-Document-Warnings')).toContain('logoUrl');
    expect([reply.headers.get('ETag'), reply.headers.get('Cache-Control')]).toEqual([null, 'no-store']);
  });
});

describe('authorization', () => {
  test('when the id is unknown, malformed or foreign, then 404 as for the record', async () => {
    const { id } = await makeInvoice();
    const stranger = callerOf(system.gateway.url, (await system.workspace.account()).key);
    const replies = [
      await fetchPdf(`invoices/${UNKNOWN_ID}/pdf`),
      await fetchPdf('invoices/nothing/pdf'),
      await stranger('GET', `/api/v1/invoices/${id}/pdf`),
    ];

    expect(replies.map(({ status, body }) => [status, body])).toEqual(
      Array(3).fill([404, expect.objectContaining({ error: 'Invoice not found' })]),
    );
    expect((await fetchPdf(`quotes/${UNKNOWN_ID}/pdf`)).body).toEqual(
      expect.objectContaining({ error: 'Quote not found' }),
    );
  });

  test('when a key may read invoices, then it may read their documents, and no others; once it is revoked, then 401', async () => {
    const account = await system.workspace.account({ scopes: ['invoices:read'] });
    const call = callerOf(system.gateway.url, account.key);

    expect((await call('GET', `/api/v1/invoices/${UNKNOWN_ID}/pdf`)).status).toBe(404);
    expect((await call('GET', `/api/v1/quotes/${UNKNOWN_ID}/pdf`)).status).toBe(403);
    await ApiKey.updateMany({ account_id: account.id }, { $set: { revoked_at: new Date() } });
    await untilForgotten();
    expect((await call('GET', `/api/v1/invoices/${UNKNOWN_ID}/pdf`)).status).toBe(401);
  });
});

test('when issued documents are fetched as Factur-X, then each is its original with the XML of the same amounts inside', async () => {
  const postal_address = { postal_code: '10969', city: 'Berlin', country: 'DE' };
  await profile({ postal_address });
  await system.call('PATCH', `/api/v1/clients/${client.id}`, { body: { postal_address } });
  const { id } = await makeInvoice({ tax_rate: 19, status: 'Sent' });
  const note = await make(`invoices/${id}/credit-notes`, { reason: 'goodwill', amount: 5 });

  for (const [path, total] of [
    [`invoices/${id}`, '3333.34'],
    [`credit-notes/${note.id}`, '5.95'],
  ]) {
    const hybrid = await fetchPdf(`${path}/e-invoice?format=facturx`);
    const original = await fetchPdf(`${path}/pdf`);
    const xml = await fetchPdf(`${path}/e-invoice?format=en16931-cii`);

    expect([hybrid.status, original.status, xml.status]).toEqual([200, 200, 200]);
    expect(hybrid.body.subarray(0, original.body.length).equals(original.body)).toBe(true);
    const { attachments, text } = await readPdf(hybrid.body);
    expect(attachments).toEqual({ 'factur-x.xml': String(xml.body) });
    expect(String(xml.body)).toContain(`<ram:GrandTotalAmount>${total}<`);
    expect(text).toContain(euros(Number(total)));
  }
});

test('when documents were printed, then the output of the gateway has no warning, such as that of Node about leaked listeners', () => {
  expect(system.gateway.output()).not.toMatch(/Warning/);
});

// E-invoices over the API: an error names everything that is missing, and what was given out stays.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { type AccountMode, readAccount } from '#libs/models/accounts/account.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import type { ClaimedBatch } from '#libs/models/documents/batch-clock.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Original } from '#libs/models/documents/original.ts';
import { storedId } from '#libs/models/tenant.ts';
import { printSlice } from '../../../services/gateway/documents/print-slice.ts';
import { client as buyer, issuer } from '../../e-invoices/cases.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const profile = ({ locale, ...rest }: typeof issuer) => rest;

async function complete(mode?: AccountMode): Promise<{ account: TestAccount; client: AnyRecord }> {
  const account = await gateway.workspace.account(mode ? { mode } : {});
  await gateway.patch('/api/v1/account', profile(issuer), account);
  const { id: _id, ...fields } = buyer;
  return { account, client: await createClient(gateway, fields, account) };
}

const makeInvoice = (account: TestAccount, client: AnyRecord, fields: object = {}) =>
  create(
    gateway,
    '/api/v1/invoices',
    {
      client_id: client.id,
      due_date: '2099-12-31',
      currency: 'EUR',
      tax_rate: 19,
      line_items: [{ description: 'Design', quantity: 12, rate: 95 }],
      status: 'Sent',
      ...fields,
    },
    account,
  );
const fetchXml = (path: string, account: TestAccount, headers: Record<string, string> = {}) =>
  gateway.call('GET', path, { key: account.key, headers });

test('when parties are complete, then a sent invoice and its credit note are XML in every format', async () => {
  const { account, client } = await complete();
  const invoice = await makeInvoice(account, client);
  const note = await create(
    gateway,
    `/api/v1/invoices/${invoice.id}/credit-notes`,
    { reason: 'goodwill', amount: 5 },
    account,
  );

  const paths = ['xrechnung-ubl', 'xrechnung-cii', 'peppol-ubl', 'en16931-ubl', 'en16931-cii'].flatMap((format) => [
    `/api/v1/invoices/${invoice.id}/e-invoice?format=${format}`,
    `/api/v1/credit-notes/${note.id}/e-invoice?format=${format}`,
  ]);
  const replies = await Promise.all(paths.map((path) => fetchXml(path, account)));

  expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(replies.map(({ headers }) => headers.get('Content-Type'))).toEqual(
    Array(10).fill('application/xml; charset=utf-8'),
  );
  expect(replies[0]?.headers.get('Content-Disposition')).toBe('attachment; filename="INV-0001-xrechnung.xml"');
  expect(String(replies[0]?.body)).toContain('<cbc:PayableAmount currencyID="EUR">1356.60</cbc:PayableAmount>');
  expect(String(replies[1]?.body)).toContain('<cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>');
});

test('when the account is a test account, then the note of its e-invoices begins with TEST, and that of a live one does not', async () => {
  const notesOf = async (mode: AccountMode) => {
    const { account, client } = await complete(mode);
    const invoice = await makeInvoice(account, client, { notes: 'Thank you' });
    const credited = `/api/v1/invoices/${invoice.id}/credit-notes`;
    const note = await create(gateway, credited, { reason: 'goodwill', amount: 5 }, account);
    const formats = ['xrechnung-ubl', 'en16931-cii'];
    const paths = [`invoices/${invoice.id}`, `credit-notes/${note.id}`].flatMap((record) =>
      formats.map((format) => `/api/v1/${record}/e-invoice?format=${format}`),
    );
    const files = await Promise.all(paths.map(async (path) => String((await fetchXml(path, account)).body)));
    return files.map((xml) => /(?:cbc:Note|ram:Content)>([^<]*)</.exec(xml)?.[1]);
  };
  expect(await notesOf('test')).toEqual(['TEST\nThank you', 'TEST\nThank you', 'TEST', 'TEST']);
  expect(await notesOf('live')).toEqual(['Thank you', 'Thank you', undefined, undefined]);
});

test('when an invoice has references of its own, then its credit note has them, too', async () => {
  const { account, client } = await complete();
  await gateway.patch(
    `/api/v1/clients/${client.id}`,
    { buyer_reference: null, e_invoice_format: 'xrechnung-ubl' },
    account,
  );
  const own = { buyer_reference: '04011000-12345-34', order_reference: 'PO-7', contract_reference: 'C-1' };
  const invoice = await makeInvoice(account, client, own);
  const { id } = await create(
    gateway,
    `/api/v1/invoices/${invoice.id}/credit-notes`,
    { reason: 'goodwill', amount: 5 },
    account,
  );

  const { status, body } = await fetchXml(`/api/v1/credit-notes/${id}/e-invoice`, account);
  expect([status, body.details]).toEqual([200, undefined]);
  for (const reference of Object.values(own)) expect(String(body)).toContain(`>${reference}<`);
  expect((await gateway.get(`/api/v1/credit-notes/${id}`, account)).body.data).toMatchObject(own);
  expect((await gateway.post(`/api/v1/credit-notes/${id}/send`, {}, account)).body.details).toBeUndefined();
});

test('when a credit note is of an earlier release, which kept no references, then its files have those of its invoice', async () => {
  const { account, client } = await complete();
  await gateway.patch(`/api/v1/clients/${client.id}`, { buyer_reference: null }, account);
  const own = { buyer_reference: '04011000-12345-34', order_reference: 'PO-7', contract_reference: 'C-1' };
  const invoice = await makeInvoice(account, client, own);
  const credited = `/api/v1/invoices/${invoice.id}/credit-notes`;
  const { id } = await create(gateway, credited, { reason: 'goodwill', amount: 5 }, account);
  const kept = { buyer_reference: 1, order_reference: 1, contract_reference: 1 };
  await CreditNote.collection.updateOne({ _id: storedId(id) as never }, { $unset: kept });

  const { status, body } = await fetchXml(`/api/v1/credit-notes/${id}/e-invoice?format=xrechnung-ubl`, account);
  const issued = await findIssuedDocument('credit_note', account.id, id);

  expect([status, body.details]).toEqual([200, undefined]);
  for (const reference of Object.values(own)) expect(String(body)).toContain(`>${reference}<`);
  expect(issued !== 'draft' && (await issued?.document(await readAccount(account.id)))).toMatchObject({
    buyerReference: own.buyer_reference,
    poNumber: own.order_reference,
    contractReference: own.contract_reference,
  });
});

test('when a final invoice takes off earlier parts, then it names each of them, and CII the one it has room for', async () => {
  const { account, client } = await complete();
  const offer = { client_id: client.id, description: 'Mill', amount: 1000, currency: 'EUR', tax_rate: 19 };
  const quote = await create(gateway, '/api/v1/quotes', { ...offer, status: 'Sent' }, account);
  const convert = (part: object) => create(gateway, `/api/v1/quotes/${quote.id}/convert`, part, account);
  const share = { accept: true, percent: 30, status: 'Sent' };
  const parts = [await convert({ ...share, part: 'deposit' }), await convert({ ...share, part: 'progress' })];
  const final = await convert({ part: 'final', due_date: '2099-12-31', status: 'Sent' });

  const read = async (format: string) => {
    const { body } = await fetchXml(`/api/v1/invoices/${final.id}/e-invoice?format=${format}`, account);
    const file = Buffer.from(String(body)).toString('base64');
    return (await gateway.post('/api/v1/e-invoices/read', { file }, account)).body.data;
  };
  const named = parts.map(({ invoice_number, issue_date }) => ({ number: invoice_number, issue_date }));
  expect(await read('peppol-ubl')).toMatchObject({ preceding: named, totals: { net: '400.00' } });
  expect(await read('xrechnung-cii')).toMatchObject({ preceding: named.slice(0, 1), totals: { net: '400.00' } });
});

test('when the profile changes after the e-invoice was given out, then it stays the same, and 304 says so', async () => {
  const { account, client } = await complete();
  const invoice = await makeInvoice(account, client);
  const path = `/api/v1/invoices/${invoice.id}/e-invoice?format=en16931-cii`;
  const before = await fetchXml(path, account);
  await gateway.patch('/api/v1/account', { phone: '+49 40 1', legal_name: 'Renamed' }, account);

  const after = await fetchXml(path, account);

  expect(after.body).toEqual(before.body);
  expect(after.headers.get('Repr-Digest')).toMatch(/^sha-256=:/);
  expect((await fetchXml(path, account, { 'If-None-Match': String(before.headers.get('ETag')) })).status).toBe(304);
  expect(await Original.countDocuments({ account_id: account.id, document_id: invoice.id })).toBe(1);
});

test('when everything is missing, then 409 names all of it, and once it is filled in, the sent invoice can be made', async () => {
  const account = await gateway.workspace.account();
  const client = await createClient(gateway, {}, account);
  const invoice = await makeInvoice(account, client);
  const path = `/api/v1/invoices/${invoice.id}/e-invoice?format=xrechnung-ubl`;

  const { status, body } = await fetchXml(path, account);

  expect([status, body.error, body.code]).toEqual([
    409,
    'The invoice lacks what XRechnung asks for',
    'e_invoice_incomplete',
  ]);
  expect(body.details).toMatchObject({
    'account.postal_address.country': ['is missing (BT-40)'],
    'account.phone': ['is missing (BT-42, BR-DE-6)'],
    'invoice.buyer_reference': ['is missing, and so is client.buyer_reference (BT-10, BR-DE-15)'],
    'client.postal_address.city': ['is missing (BT-52, BR-DE-8)'],
  });
  const head = async () => (await gateway.call('HEAD', path, account)).status;
  expect(await head()).toBe(409);
  const { id: _id, name: _name, email: _email, ...fields } = buyer;
  await gateway.patch('/api/v1/account', profile(issuer), account);
  await gateway.patch(`/api/v1/clients/${client.id}`, fields, account);
  expect([await head(), (await fetchXml(path, account)).status]).toEqual([200, 200]);
  // It is kept now, whatever the profile lacks.
  await gateway.patch('/api/v1/account', { phone: null }, account);
  expect([await head(), (await fetchXml(path, account)).status]).toEqual([200, 200]);
});

test('when the client was anonymised, then nothing of its placeholders is in an e-invoice, and the profile completes it as ever', async () => {
  const account = await gateway.workspace.account();
  const { phone, ...rest } = profile(issuer);
  await gateway.patch('/api/v1/account', { ...rest, require_client_email: false }, account);
  const { id: _id, email: _email, electronic_address: _address, ...fields } = buyer;
  const client = await create(gateway, '/api/v1/clients', fields, account);
  const invoice = await makeInvoice(account, client);
  await gateway.post(`/api/v1/clients/${client.id}/anonymise`, {}, account);
  const path = `/api/v1/invoices/${invoice.id}/e-invoice?format=`;

  const { body } = await fetchXml(`${path}xrechnung-ubl`, account);
  expect(Object.keys(body.details)).toEqual(['account.phone', 'client.electronic_address']);
  await gateway.patch('/api/v1/account', { phone }, account);
  const { status, body: xml } = await fetchXml(`${path}en16931-ubl`, account);
  expect([status, String(xml)]).toEqual([200, expect.stringContaining(String(phone))]);
  expect(String(xml)).not.toContain('anonymised');
});

test('when an invoice is a draft, then it has no e-invoice, and the check says what it lacks for each format', async () => {
  const { account, client } = await complete();
  await gateway.patch('/api/v1/account', { phone: null }, account);
  const invoice = await makeInvoice(account, client, { status: 'Draft' });

  const draft = await fetchXml(`/api/v1/invoices/${invoice.id}/e-invoice`, account);
  const { body } = await fetchXml(`/api/v1/invoices/${invoice.id}/e-invoice/check`, account);

  expect([draft.status, draft.body.error]).toEqual([409, 'An invoice that was not sent has no e-invoice']);
  expect(body.data).toMatchObject({
    'xrechnung-cii': { ready: false, problems: { 'account.phone': ['is missing (BT-42, BR-DE-6)'] } },
    'en16931-ubl': { ready: true, problems: {} },
  });
});

test('when an amount needs three decimals, then 409, and with two it can be made', async () => {
  const { account, client } = await complete();
  const dinars = (rate: number) =>
    makeInvoice(account, client, {
      currency: 'KWD',
      tax_rate: 10,
      line_items: [{ description: 'x', quantity: 1, rate }],
    });

  const [three, two] = [await dinars(1.234), await dinars(1.2)];
  const replies = await Promise.all(
    [three, two].map(({ id }) => fetchXml(`/api/v1/invoices/${id}/e-invoice?format=en16931-ubl`, account)),
  );

  expect(replies.map(({ status }) => status)).toEqual([409, 200]);
  expect(replies[0]?.body.error).toBe('KWD amounts have three decimals, EN 16931 has two');
});

test('when no format is named, then it is that of the client, else of the account, else the standard', async () => {
  const { account, client } = await complete();
  const invoice = await makeInvoice(account, client);
  const nameOf = async () =>
    (await fetchXml(`/api/v1/invoices/${invoice.id}/e-invoice`, account)).headers.get('Content-Disposition');
  const names = [await nameOf()];
  await gateway.patch('/api/v1/account', { e_invoice_format: 'peppol-ubl' }, account);
  names.push(await nameOf());
  await gateway.patch(`/api/v1/clients/${client.id}`, { e_invoice_format: 'xrechnung-cii' }, account);
  names.push(await nameOf());
  await gateway.patch(`/api/v1/clients/${client.id}`, { e_invoice_format: 'none' }, account);
  names.push(await nameOf());

  const file = (end: string) => `attachment; filename="INV-0001-${end}.xml"`;
  expect(names).toEqual(['ubl', 'peppol', 'xrechnung', 'ubl'].map(file));
});

test('when a draft cannot be sent, then the check has told the same', async () => {
  const { account, client } = await complete();
  await gateway.patch('/api/v1/account', { phone: null, e_invoice_format: 'xrechnung-ubl' }, account);
  await gateway.patch(`/api/v1/clients/${client.id}`, { buyer_reference: null }, account);
  const draft = await makeInvoice(account, client, { status: 'Draft', tax_rate: 0 });

  const { body: checked } = await fetchXml(`/api/v1/invoices/${draft.id}/e-invoice/check`, account);
  const sent = await gateway.patch(`/api/v1/invoices/${draft.id}`, { status: 'Sent' }, account);

  expect([sent.status, sent.body.code]).toEqual([409, 'e_invoice_incomplete']);
  expect(sent.body.details).toEqual(checked.data['xrechnung-ubl'].problems);
  expect(Object.keys(sent.body.details)).toEqual([
    'line_items[0].tax_category',
    'account.phone',
    'invoice.buyer_reference',
  ]);
});

test('when a batch asks for a format, then its files are XML, also in the ZIP, and a document says all that it lacks', async () => {
  const { account, client } = await complete();
  const whole = await makeInvoice(account, client);
  const lacking = await makeInvoice(account, await createClient(gateway, {}, account));
  const draft = await makeInvoice(account, client, { status: 'Draft' });
  const documents = [whole, lacking, draft].map(({ id }) => ({ type: 'invoice', id }));

  const made = await gateway.post('/api/v1/documents', { documents, format: 'xrechnung-ubl' }, account);
  const { id } = made.body.data;
  const mine = { _id: storedId(id), account_id: storedId(account.id) };
  const taken = { lease_id: 'ours', completed_at: new Date() };
  const batch = await DocumentBatch.findOneAndUpdate(mine, taken, { returnDocument: 'after' }).lean<ClaimedBatch>();
  const print = () => Promise.reject(new Error('nothing is printed'));
  await printSlice(batch as ClaimedBatch, { print, signal: new AbortController().signal });

  const { body } = await fetchXml(`/api/v1/documents/${id}`, account);
  expect([made.status, body.data.format]).toEqual([202, 'xrechnung-ubl']);
  expect(body.data.documents).toMatchObject([
    { status: 'done' },
    {
      status: 'failed',
      error_code: 'e_invoice_incomplete',
      error: expect.stringContaining('XRechnung asks for: client.postal_address.country is missing (BT-55); '),
    },
    { status: 'failed', error_code: 'e_invoice_of_draft' },
  ]);
  const file = await fetchXml(`/api/v1/documents/${id}/files/1`, account);
  expect(file.headers.get('Content-Type')).toBe('application/xml; charset=utf-8');
  expect(file.headers.get('Content-Disposition')).toContain('INV-0001-xrechnung.xml');
  const single = await fetchXml(`/api/v1/invoices/${whole.id}/e-invoice?format=xrechnung-ubl`, account);
  expect(file.body).toEqual(single.body);
  const archive = await fetchXml(`/api/v1/documents/${id}/archive`, account);
  expect(Object.keys(unzipSync(archive.body))).toEqual(['INV-0001-xrechnung.xml']);
});

test('when a batch asks for a format of quotes, then 400', async () => {
  const { account, client } = await complete();
  const quote = await create(gateway, '/api/v1/quotes', { client_id: client.id, amount: 1, description: 'x' }, account);
  const documents = [{ type: 'quote', id: quote.id }];
  const { status, body } = await gateway.post('/api/v1/documents', { documents, format: 'peppol-ubl' }, account);
  expect([status, body.details]).toEqual([400, { format: ['format must not stand beside quotes'] }]);
});

test('when the format is unknown, then 400 lists the formats', async () => {
  const { account, client } = await complete();
  const invoice = await makeInvoice(account, client);

  const { status, body } = await fetchXml(`/api/v1/invoices/${invoice.id}/e-invoice?format=zugpferd`, account);

  expect([status, body.error]).toEqual([400, 'Validation failed']);
  expect(body.details.format[0]).toContain('must be one of');
});

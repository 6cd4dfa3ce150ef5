// The files of a mail: the PDF, the e-invoice that client or account need, or the PDF with it inside.
import { createHash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { AppError } from '#libs/errors.ts';
import { Original } from '#libs/models/documents/original.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { makeMailOf } from '../../../services/mail/make-mail.ts';
import { client as buyer, issuer } from '../../e-invoices/cases.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { insertMessage, setUpMail, withLease } from '../../support/messages.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const bytes = archiveFile(chromiumPdf(), { author: 'Studio North', language: 'en', isAccessible: false });
let prints = 0;
const print = async () => {
  prints += 1;
  return { bytes, warnings: [] };
};
const mailOf = makeMailOf({ from: 'billing@example.com', print, markdown: { toHtml: async (text) => text } });
const FIRST = { isFirst: true, signal: new AbortController().signal };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ print });
  await setUpMail();
});
afterAll(() => gateway.close());

async function anInvoice(
  e_invoice_format: string,
  status = 'Sent',
): Promise<{ account: TestAccount; invoice: AnyRecord }> {
  const account = await gateway.workspace.account();
  const { locale: _locale, ...profile } = issuer;
  await gateway.patch('/api/v1/account', profile, account);
  const { id: _id, ...fields } = buyer;
  const client = await createClient(gateway, { ...fields, e_invoice_format }, account);
  const line_items = [{ description: 'Design', quantity: 12, rate: 95 }];
  const body = { client_id: client.id, due_date: '2099-12-31', currency: 'EUR', tax_rate: 19, status };
  return { account, invoice: await create(gateway, '/api/v1/invoices', { ...body, line_items }, account) };
}

/** Sends the document and returns what the mail service makes of it. */
async function mailed(account: TestAccount, path: string, body: object = {}) {
  const sent = await gateway.post(`/api/v1/${path}/send`, body, account);
  expect(sent.status).toBe(202);
  const { message } = await withLease(account.id, sent.body.data.id, async (_step, leased) => leased);
  const made = await mailOf(message, FIRST);
  if (!('contents' in made)) throw new Error(JSON.stringify(made));
  const { attachments } = await simpleParser(await buffer(made.contents.read()));
  await made.contents.release();
  const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  expect(made.unkept?.values.attachments).toEqual(
    attachments.map(({ filename, content }) => ({ name: filename, bytes: content.length, sha256: digest(content) })),
  );
  return attachments;
}
const fileOf = async (account: TestAccount, path: string) =>
  (await gateway.call('GET', `/api/v1/${path}`, { key: account.key })).body as Buffer;

test('when the client needs XML, then it goes out beside the PDF, the same that the API gives, and with every mail again', async () => {
  const { account, invoice } = await anInvoice('xrechnung-ubl');
  const path = `invoices/${String(invoice.id)}`;
  const files = await mailed(account, path);
  const again = await mailed(account, path);

  expect(files.map(({ filename, contentType }) => [filename, contentType])).toEqual([
    ['INV-0001.pdf', 'application/pdf'],
    ['INV-0001-xrechnung.xml', 'application/xml'],
  ]);
  expect(files[1]?.content).toEqual(await fileOf(account, `${path}/e-invoice`));
  expect(again.map(({ content }) => content)).toEqual(files.map(({ content }) => content));
  expect(await Original.countDocuments({ account_id: account.id })).toBe(2);
});

test('when the client needs Factur-X, then there is one attachment, the PDF with the XML inside', async () => {
  const { account, invoice } = await anInvoice('facturx');
  const path = `invoices/${String(invoice.id)}`;
  const files = await mailed(account, path);

  expect(files.map(({ filename }) => filename)).toEqual(['INV-0001-facturx.pdf']);
  expect(files[0]?.content).toEqual(await fileOf(account, `${path}/e-invoice`));
});

test('when no PDF is wanted, or the client needs no e-invoice, then the other goes out alone', async () => {
  const xml = await anInvoice('en16931-cii');
  const pdf = await anInvoice('none');

  const alone = await mailed(xml.account, `invoices/${String(xml.invoice.id)}`, { attach_pdf: false });
  expect(alone.map(({ filename }) => filename)).toEqual(['INV-0001-cii.xml']);
  const plain = await mailed(pdf.account, `invoices/${String(pdf.invoice.id)}`);
  expect(plain.map(({ filename }) => filename)).toEqual(['INV-0001.pdf']);
});

test('when files are attached to the invoice, then they go out beside its PDF, and inside an e-invoice in place of it', async () => {
  const attachments = [{ name: 'hours.csv', file: Buffer.from('date,hours').toString('base64') }];
  const names = [];
  for (const format of ['none', 'facturx', 'peppol-ubl']) {
    const { account, invoice } = await anInvoice(format, 'Draft');
    const path = `invoices/${String(invoice.id)}`;
    await gateway.call('PUT', `/api/v1/${path}/attachments`, { key: account.key, body: { attachments } });
    const files = await mailed(account, path);
    names.push(files.map(({ filename }) => filename));
    if (format === 'none') expect(String(files[1]?.content)).toBe('date,hours');
    if (format === 'peppol-ubl') expect(String(files[1]?.content)).toContain('filename="hours.csv"');
  }

  expect(names).toEqual([
    ['INV-0001.pdf', 'hours.csv'],
    ['INV-0001-facturx.pdf'],
    ['INV-0001.pdf', 'INV-0001-peppol.xml'],
  ]);
});

test('when a credit note is mailed, then its e-invoice goes with it', async () => {
  const { account, invoice } = await anInvoice('peppol-ubl');
  const credit = { reason: 'goodwill', amount: 5 };
  const note = await create(gateway, `/api/v1/invoices/${String(invoice.id)}/credit-notes`, credit, account);
  const files = await mailed(account, `credit-notes/${String(note.id)}`);

  expect(files.map(({ filename }) => filename)).toEqual(['CRN-0001.pdf', 'CRN-0001-peppol.xml']);
});

test('when the e-invoice cannot be made any more, then the mail is 409 before it is planned, and one that was planned is not sent without it', async () => {
  const { account, invoice } = await anInvoice('none');
  const path = `invoices/${String(invoice.id)}`;
  await gateway.patch('/api/v1/account', { e_invoice_format: 'xrechnung-ubl' }, account);
  const client = invoice.client as AnyRecord;
  await gateway.patch(`/api/v1/clients/${client.id}`, { e_invoice_format: null }, account);
  await gateway.patch('/api/v1/account', { phone: null }, account);
  const parties = { 'parties.issuer.phone': 1 } as const;
  const { Invoice } = await import('#libs/models/billing/invoice.ts');
  const { storedId } = await import('#libs/models/tenant.ts');
  const mine = { _id: storedId(String(invoice.id)), account_id: storedId(account.id) };
  await Invoice.updateOne(mine, { $unset: parties });
  const refused = await gateway.post(`/api/v1/${path}/send`, {}, account);
  const document = { type: 'invoice' as const, id: mine._id, number: 'INV-0001' };
  const planned = await insertMessage(account.id, { document, client_id: storedId(String(client.id)) });
  const before = prints;
  const made = await withLease(account.id, String(planned._id), async (_step, leased) => leased);

  expect([refused.status, refused.body.code, Object.keys(refused.body.details)]).toEqual([
    409,
    'e_invoice_incomplete',
    ['account.phone'],
  ]);
  expect(await mailOf(made.message, FIRST)).toMatchObject({
    impossible: expect.stringContaining('lacks what XRechnung asks for'),
  });
  expect(prints).toBe(before + 1);
});

test('when the files are large, then the mail that is kept is the one that is sent', async () => {
  const { account, invoice } = await anInvoice('none', 'Draft');
  const path = `/api/v1/invoices/${String(invoice.id)}`;
  const attachments = [{ name: 'plan.pdf', file: Buffer.concat([bytes, randomBytes(1_500_000)]).toString('base64') }];
  await gateway.call('PUT', `${path}/attachments`, { key: account.key, body: { attachments } });
  const sent = await gateway.post(`${path}/send`, {}, account);
  const { made, message } = await withLease(account.id, sent.body.data.id, async (_step, { message, unit }) => {
    const made = await mailOf(message, FIRST);
    if ('contents' in made) await made.unkept?.ready((keep) => keep(unit));
    return { made, message };
  });
  if (!('contents' in made)) throw new Error(JSON.stringify(made));
  const again = await mailOf(message, { ...FIRST, isFirst: false });
  if (!('contents' in again)) throw new Error(JSON.stringify(again));

  const [first, second] = [await buffer(made.contents.read()), await buffer(again.contents.read())];
  await Promise.all([made.contents.release(), again.contents.release()]);

  expect([made.contents.isLarge, again.contents.isLarge]).toEqual([true, true]);
  expect(second.equals(first)).toBe(true);
  const { attachments: files } = await simpleParser(second);
  expect(files.map(({ filename, size }) => [filename, size])).toEqual([
    ['INV-0001.pdf', bytes.length],
    ['plan.pdf', bytes.length + 1_500_000],
  ]);
});

test('when documents of several accounts are printed for long, then the mail of another is made meanwhile', async () => {
  const printing = Promise.withResolvers<never>();
  let asked = 0;
  const mailOf = makeMailOf({
    from: 'billing@example.com',
    markdown: { toHtml: async (text) => text },
    print() {
      asked += 1;
      return printing.promise;
    },
  });
  const mailedBy = async (body: object) => {
    const { account, invoice } = await anInvoice('none');
    const sent = await gateway.post(`/api/v1/invoices/${String(invoice.id)}/send`, body, account);
    const { message } = await withLease(account.id, sent.body.data.id, async (_step, leased) => leased);
    return mailOf(message, FIRST);
  };

  const slow = [1, 2, 3].map(() => mailedBy({}));
  await eventually(() => asked === slow.length);
  expect(await mailedBy({ attach_pdf: false })).toMatchObject({ contents: { isLarge: false } });

  printing.reject(new AppError('printing_unavailable', 'Printing is unavailable'));
  for (const made of await Promise.all(slow)) expect(made).toMatchObject({ notYet: expect.any(String) });
});

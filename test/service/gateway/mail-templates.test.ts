// Mail templates over HTTP: standard and own words, how they are used, and previews.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';

let gateway: TestGateway;
let account: OwnAccount;

beforeAll(async () => {
  gateway = await startGateway();
  await setUpMail();
  account = await openOwnAccount(gateway, { company: 'Studio North', locale: 'de-DE', currency: 'EUR' });
});
afterAll(() => gateway.close());

const put = (kind: string, body: object) =>
  gateway.call('PUT', `/api/v1/mail-templates/${kind}`, { key: keyOf(), body });
const preview = async (kind: string, body: object) => account.api.post(`/api/v1/mail-templates/${kind}/preview`, body);
let key = '';
const keyOf = () => key;
beforeAll(async () => {
  key = (await account.api.post('/api/v1/keys', { name: 'x', scopes: ['*'] })).body.data.key;
});

test('when nothing was set, then every kind has the standard words in nine languages', async () => {
  const template = await account.get('mail-templates/quote');
  expect(template.placeholders).toEqual(['number', 'date', 'total', 'client_name', 'sender', 'valid_until']);
  expect(template.texts.map(({ language, standard }: Record<string, unknown>) => [language, standard])).toEqual(
    ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pt'].map((language) => [language, true]),
  );
  expect((await account.api.get('/api/v1/mail-templates/letter')).body.error).toBe('Mail template not found');
});

test('when own words are set, then mails have them, each language its own, until they are taken back', async () => {
  const own = { language: 'de', subject: 'Ihre Rechnung {number}', body: 'Moin {client_name}' };
  const { status, body } = await put('invoice', { texts: [own] });
  expect([status, body.data.texts.find(({ language }: { language: string }) => language === 'de')]).toEqual([
    200,
    { ...own, standard: false },
  ]);
  const { id: client_id } = await account.post('clients', { name: 'Ada', email: 'ada@example.com' });
  const { id } = await account.post('invoices', { client_id, amount: 10, due_date: '2099-12-31' });
  const send = async () => (await account.api.post(`/api/v1/invoices/${id}/send`, {})).body.data.subject;
  expect(await send()).toBe('Ihre Rechnung INV-0001');
  await put('invoice', { texts: [{ ...own, language: 'fr' }] });
  expect(await send()).toBe('Rechnung INV-0001 von Studio North');
  const other = await openOwnAccount(gateway);
  expect(
    (await other.get('mail-templates/invoice')).texts.every(({ standard }: { standard: boolean }) => standard),
  ).toBe(true);
});

test('when words are wrong, then all of it is said at once and nothing changes', async () => {
  const before = await account.get('mail-templates/receipt');
  const text = { language: 'en', subject: 'For {due_date}', body: '{x} {number}' };
  const { status, body } = await put('receipt', { texts: [text, { ...text, language: 'de', subject: 'ok' }] });
  expect([status, body.details]).toEqual([
    400,
    {
      'texts.0.subject': ['texts.0.subject must not contain {due_date}: there is no such value in a mail of this kind'],
      'texts.0.body': ['texts.0.body must not contain {x}: there is no such value in a mail of this kind'],
      'texts.1.body': ['texts.1.body must not contain {x}: there is no such value in a mail of this kind'],
    },
  ]);
  expect((await put('receipt', { texts: [text, text] })).status).toBe(400);
  expect((await put('receipt', {})).body.details).toEqual({ texts: ['texts is required'] });
  expect(await account.get('mail-templates/receipt')).toEqual(before);
});

test('when a mail is previewed, then it has the language, the words and the look that it would have', async () => {
  await account.api.patch('/api/v1/account', { brand_color: '#0b5fb0' });
  const { status, body } = await preview('receipt', {});
  expect([status, body.data.subject]).toEqual([200, 'Vielen Dank für Ihre Zahlung, PAY-0007']);
  expect(body.data.text).toMatch(/Zahlung von 1\.356,60\s€ vom/);
  expect(body.data.html).toContain('<strong>1.356,60');
  expect(body.data.html).toContain('#0b5fb0');
  const arabic = (await preview('invoice', { language: 'ar', body: '**{amount_due}**' })).body.data;
  expect(arabic.html).toContain('dir="rtl"');
  expect((await preview('quote', { body: '{amount_due}' })).body.details).toEqual({
    body: ['body must not contain {amount_due}: there is no such value in a mail of this kind'],
  });
});

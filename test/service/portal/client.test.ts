// The client's page: what it shows of a document, to whom, and that looking at it changes nothing.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { newId } from '#libs/models/tenant.ts';
import { CLIENT_PAGES } from '../../../services/portal/client/client-routes.ts';
import { CLIENT_FORMS } from '../../../services/portal/client/forms.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { create } from '../../support/records.ts';

let gateway: TestGateway;
let portal: TestPortal;
let clientId: string;
beforeAll(async () => {
  gateway = await startGateway();
  const limits = { address: 10_000, link: 10_000, forms: 10_000 };
  portal = await startPortal(gateway.workspace, { client: { limits } });
  const postal_address = { line1: '12 St James Square', city: 'London', country: 'GB' };
  const client = { name: 'Ada Lovelace', email: 'ada@example.com', company_name: 'Analytical Engines', postal_address };
  clientId = (await create(gateway, '/api/v1/clients', client)).id;
  const bank = { type: 'bank_transfer', holder: 'Studio North', iban: 'DE89370400440532013000' };
  await gateway.patch('/api/v1/account', { company: 'Studio North', payment_options: [bank], brand_color: '#ff6600' });
});
afterAll(async () => {
  await portal.close();
  await gateway.close();
});

const sold = (fields: object = {}) => ({
  client_id: clientId,
  amount: 1_234.5,
  currency: 'EUR',
  status: 'Sent',
  ...fields,
});
const invoice = async (fields: object = {}) =>
  (await create(gateway, '/api/v1/invoices', sold({ due_date: '2031-01-01', ...fields }))).id as string;
const quote = async (fields: object = {}) => (await create(gateway, '/api/v1/quotes', sold(fields))).id as string;

/** Makes a link and returns its path on the portal, and its id. */
async function linkTo(kind: string, id: string, body: object = {}) {
  const { status, body: made } = await gateway.post(`/api/v1/${kind}/${id}/links`, body);
  if (status !== 201) throw new Error(JSON.stringify(made));
  return { path: pathOf(made.data.url), id: made.data.id as string };
}
const get = (path: string) => portal.browser().get(path);
const csrfOf = (text: string) => /csrf" value="([\w-]+)"|data-csrf="([\w-]+)"/.exec(text)?.slice(1).find(Boolean) ?? '';
const linkOf = async (id: string) =>
  DocumentLink.findOne({ _id: id, account_id: gateway.account.id }).lean<Record<string, unknown>>();

describe('an invoice', () => {
  test("when it is opened, then it shows lines, sums, ways to pay and the parties, in the account's look", async () => {
    const line_items = [{ description: 'Design of\nthe engine', quantity: 2.5, rate: 400, unit: 'hour' }];
    const id = await invoice({ amount: undefined, line_items, tax_rate: 20, notes: 'Thank you', terms: 'Thirty days' });
    const { path } = await linkTo('invoices', id);

    const { status, text, headers } = await get(path);

    expect(status).toBe(200);
    for (const shown of [
      'Design of\nthe engine',
      '€1,000.00',
      '€1,200.00',
      'Studio North',
      'Analytical Engines',
      'Thank you',
      'Thirty days',
      'DE89 3704 0044 0532 0130 00',
      '#ff6600',
    ])
      expect(text).toContain(shown);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^']+'; connect-src 'self'/);
    expect(Buffer.byteLength(text)).toBeLessThan(40_000);
  });

  test('when a part is paid, then the page says what came and asks for the rest; then nothing more', async () => {
    const id = await invoice();
    const { path } = await linkTo('invoices', id);
    await gateway.post(`/api/v1/invoices/${id}/payments`, { amount: 234.5, date: '2026-11-20' });

    const part = (await get(path)).text;
    expect(part).toMatch(/Partly paid[\s\S]*Amount due[\s\S]*€1,000\.00/);
    expect(part).toMatch(/November 20, 2026 · Payment<\/dt><dd>€234\.50/);
    await gateway.post(`/api/v1/invoices/${id}/payments`, {});
    const whole = (await get(path)).text;
    expect(whole).toContain('>Paid<');
    expect(whole).not.toContain('DE89');
  });

  test('when the link does not let its reader pay, then no way to pay is shown', async () => {
    const { path } = await linkTo('invoices', await invoice(), { allow: [] });
    expect((await get(path)).text).not.toContain('DE89');
  });
});

test('when it is a quote, then it says until when it can be accepted', async () => {
  const { path } = await linkTo('quotes', await quote());
  expect((await get(path)).text).toMatch(/Quote QUO-\d+[\s\S]*Valid until: /);
});

describe('a link of a client', () => {
  test('when it is opened, then it lists the open documents, and opens those of this client alone', async () => {
    const client = (await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'eve@example.com' })).id;
    const [open, draft, paid] = [
      await invoice({ client_id: client }),
      await invoice({ client_id: client, status: 'Draft' }),
      await invoice({ client_id: client }),
    ];
    await gateway.post(`/api/v1/invoices/${paid}/payments`, {});
    const offered = await quote({ client_id: client });
    const foreign = await invoice();
    const { path } = await linkTo('clients', client);

    const { text } = await get(path);

    expect([open, offered].map((id) => text.includes(id))).toEqual([true, true]);
    expect([draft, paid, foreign].map((id) => text.includes(id))).toEqual([false, false, false]);
    const page = async (kind: string, id: string) => (await get(`${path}/${kind}/${id}`)).status;
    expect([await page('invoices', open), await page('invoices', paid), await page('quotes', offered)]).toEqual([
      200, 200, 200,
    ]);
    for (const id of [draft, foreign, offered, newId()]) expect(await page('invoices', id)).toBe(404);
    // The link of a document opens no other.
    const { path: one } = await linkTo('invoices', foreign);
    expect((await get(`${one}/invoices/${foreign}`)).status).toBe(404);
  });
});

describe('a visit', () => {
  test('when the page reports it, then the account sees it, once an hour, and one event says so', async () => {
    const { path, id } = await linkTo('invoices', await invoice());
    const { text } = await get(path);
    const report = () =>
      portal.browser().post(`${path}/opened`, { csrf: csrfOf(text) }, { 'Sec-Fetch-Site': 'same-origin' });

    expect([(await report()).status, (await report()).status]).toEqual([204, 204]);

    expect(await linkOf(id)).toMatchObject({ opens: 1, opened_at: expect.any(Date), last_opened_at: expect.any(Date) });
    const events = (await gateway.get('/api/v1/events?type=link.opened')).body.data.filter(
      ({ data }: { data: { id: string } }) => data.id === id,
    );
    expect(events.map(({ data }: { data: object }) => data)).toEqual([
      expect.objectContaining({ url: null, opens: 1 }),
    ]);
  });

  test('when it is the owner who looks, then the page says so and has no script', async () => {
    const { path } = await linkTo('invoices', await invoice());
    const { text, headers } = await get(`${path}?preview=1`);
    expect(text).toContain('Preview');
    expect([text.includes('<script'), headers.get('content-security-policy')?.includes('script-src')]).toEqual([
      false,
      false,
    ]);
  });
});

describe.each(['', ...Object.keys(CLIENT_PAGES), ...Object.keys(CLIENT_FORMS), '/opened', '/renew'])('%s', (path) => {
  const isForm = path in CLIENT_FORMS || ['/opened', '/renew'].includes(path);

  test('when the link is unknown, malformed, revoked or of a deleted document, then the answers are the same', async () => {
    const revoked = await linkTo('invoices', await invoice());
    await gateway.delete(`/api/v1/invoices/${(await linkOf(revoked.id))?.['subject_id']}/links/${revoked.id}`);
    const gone = await quote();
    const deleted = await linkTo('quotes', gone);
    const { text } = await get(deleted.path);
    await gateway.patch(`/api/v1/quotes/${gone}`, { status: 'Draft' });
    const drafted = await portal.browser().get(`${deleted.path}${path}`);
    await gateway.delete(`/api/v1/quotes/${gone}`);

    const links = [
      `/p/${'A'.repeat(43)}`,
      '/p/short',
      '/p/%zz',
      revoked.path,
      deleted.path,
      `${revoked.path}/invoices/${newId()}`,
    ];
    const answers = await Promise.all(
      links.map((link) => (isForm ? portal.browser().post(link + path, { csrf: csrfOf(text) }) : get(link + path))),
    );
    if (!isForm) answers.push(drafted);

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
  });
});

/** Every stored record of the account but what numbers and times change by themselves. */
async function stateOf(): Promise<string> {
  const found: unknown[] = [];
  for (const name of ['document_links', 'invoices', 'quotes', 'events', 'messages', 'payments'])
    found.push(await mongoose.connection.collection(name).find({}).sort({ _id: 1 }).toArray());
  return JSON.stringify(found);
}

describe('programs that look at links', () => {
  test('when they GET and HEAD every page, and send every form empty, then nothing is changed', async () => {
    const links = [await linkTo('invoices', await invoice()), await linkTo('quotes', await quote())];
    links.push(await linkTo('clients', clientId));
    const before = await stateOf();
    for (const { path } of links) {
      for (const page of Object.keys(CLIENT_PAGES)) {
        await get(path + page);
        await fetch(portal.url + path + page, { method: 'HEAD' });
      }
      const { text } = await get(path);
      for (const [, action = ''] of text.matchAll(/<form[^>]* action="([^"]+)"/g)) {
        const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
        const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
        expect([action, (await portal.browser().post(action, fields)).status]).toEqual([action, 422]);
      }
    }
    expect(await stateOf()).toBe(before);
  });

  test('when another site sends a form, then it is refused', async () => {
    const { path, id } = await linkTo('invoices', await invoice());
    const csrf = csrfOf((await get(path)).text);
    const sends: [object, Record<string, string>][] = [
      [{ csrf }, { Origin: 'https://evil.example' }],
      [{ csrf }, { 'Sec-Fetch-Site': 'cross-site' }],
      [{ csrf: '' }, {}],
    ];
    for (const [fields, headers] of sends)
      expect((await portal.browser().post(`${path}/opened`, fields as Record<string, string>, headers)).status).toBe(
        403,
      );
    expect(await linkOf(id)).toMatchObject({ opens: 0 });
    expect((await portal.browser().post(`${path}/opened`, { csrf }, { Origin: 'null' })).status).toBe(204);
  });

  test('when they ask too often, then they have to wait', async () => {
    const few = await startPortal(gateway.workspace, { client: { limits: { address: 1_000, link: 2, forms: 1 } } });
    const { path } = await linkTo('invoices', await invoice());
    const statuses = [];
    for (let each = 0; each < 3; each += 1) statuses.push((await few.browser().get(path)).status);
    await few.close();
    expect(statuses).toEqual([200, 200, 429]);
  });
});

test.each(Object.keys(CLIENT_PAGES))(
  'when %s is shown, then no site may frame, cache or index it, and no address leaves',
  async (page) => {
    const { path } = await linkTo('invoices', await invoice());
    const { headers } = await get(path + page);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
  },
);

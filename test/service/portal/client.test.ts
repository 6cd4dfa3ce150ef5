// The client's page: what it shows of a document, to whom, and that looking at it changes nothing.
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { askQuestion } from '#libs/billing/answers/ask-question.ts';
import { reasonToWithdraw } from '#libs/billing/messages/withdraw-message.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { acrossAccounts, newId, storedId } from '#libs/models/tenant.ts';
import { makeMailOf } from '../../../services/mail/make-mail.ts';
import { CLIENT_PAGES } from '../../../services/portal/client/client-routes.ts';
import { CLIENT_FORMS } from '../../../services/portal/client/forms.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { failWithoutRelay, inUnit, setUpMail, withLease } from '../../support/messages.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { create } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

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

  test('when many payments came, then the page says that it leaves some out only where it does', async () => {
    const id = await invoice();
    const { path } = await linkTo('invoices', id);
    const pay = () => gateway.post(`/api/v1/invoices/${id}/payments`, { amount: 1 });
    for (let count = 0; count < 50; count += 1) await pay();
    const shown = async () => {
      const { text } = await get(path);
      return [text.match(/· Payment</g)?.length, text.includes('Only the latest are shown.')];
    };

    expect(await shown()).toEqual([50, false]);
    await pay();
    expect(await shown()).toEqual([50, true]);
  });

  test('when a part is credited and nothing was paid, then the page says so: it is open', async () => {
    const id = await invoice();
    const { path } = await linkTo('invoices', id);
    await create(gateway, `/api/v1/invoices/${id}/credit-notes`, { reason: 'goodwill', amount: 34.5 });

    const { text } = await get(path);

    expect(text).toMatch(/>Open<[\s\S]*Amount due[\s\S]*€1,200\.00/);
    expect(text).not.toContain('Partly paid');
  });

  test('when it is written off, then the page says the same as its PDF, and not that it is cancelled or waived', async () => {
    const id = await invoice();
    const { path } = await linkTo('invoices', id);
    await gateway.post(`/api/v1/invoices/${id}/write-off`, { reason: 'Insolvent' });

    const { text } = await get(path);

    expect(text.match(/Written off/g)).toHaveLength(3);
    expect(text).not.toMatch(/Cancelled|Waived/);
  });

  test('when the account has an address for questions, then its link names it as mail programs read it', async () => {
    await gateway.patch('/api/v1/account', { email: "o'neil+a&b@studio.example" });
    const { path } = await linkTo('invoices', await invoice());

    expect((await get(path)).text).toContain(`href="mailto:o'neil%2Ba%26b@studio.example"`);
    await gateway.patch('/api/v1/account', { email: null });
  });

  test('when the link does not let its reader pay, then no way to pay is shown', async () => {
    const { path } = await linkTo('invoices', await invoice(), { allow: [] });
    expect((await get(path)).text).not.toContain('DE89');
  });

  test.each([
    ['CHF', ['CH93 0076 2011 6238 5295 7', 'RF', 'https://pay.example/1000.00CHF'], 1],
    ['INR', ['studio@okbank', 'upi://pay?', 'am=1000.00', 'https://pay.example/1000.00INR'], 1],
    ['USD', ['https://pay.example/1000.00USD'], 0],
  ])('when a part of one in %s is paid, then each way asks for the rest', async (currency, shown, codes) => {
    const address = { line1: 'Bahnhofstrasse 1', postal_code: '8001', city: 'Zürich', country: 'CH' };
    const before = (await gateway.get('/api/v1/account')).body.data.payment_options;
    const payment_options = [
      { type: 'swiss_qr', holder: 'Studio North', iban: 'CH9300762011623852957', address },
      { type: 'upi', vpa: 'studio@okbank', name: 'Studio North' },
      { type: 'link', label: 'Pay by card', url: 'https://pay.example/{amount}{currency}' },
    ];
    await gateway.patch('/api/v1/account', { payment_options });
    const id = await invoice({ currency });
    await gateway.patch('/api/v1/account', { payment_options: before });
    const { path } = await linkTo('invoices', id);
    await gateway.post(`/api/v1/invoices/${id}/payments`, { amount: 234.5 });

    const { text } = await get(path);

    for (const one of shown) expect(text.replaceAll('&amp;', '&')).toContain(one);
    expect(text.match(/<p class="code"><img [^>]*src="data:image\/svg\+xml;base64,/g) ?? []).toHaveLength(codes);
    expect(text).not.toContain('1234.50');
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

test.each(['test', 'live'] as const)(
  'when the account is %s, then each of its pages says whether it is a test',
  async (mode) => {
    const { key } = await gateway.workspace.account({ mode });
    const made = (path: string, body: object) => create(gateway, `/api/v1/${path}`, body, { key });
    const { id: client_id } = await made('clients', { name: 'Ada', email: 'ada@example.com' });
    const { id } = await made('invoices', { ...sold(), client_id, due_date: '2031-01-01' });
    const ended = await made(`invoices/${id}/links`, {});
    await DocumentLink.updateOne({ _id: ended.id }, { $set: { expires_at: new Date(Date.now() - 1_000) } }).setOptions(
      acrossAccounts,
    );
    const home = pathOf((await made(`clients/${client_id}/links`, {})).url);
    const paths = [home, `${home}/invoices/${id}`, `${home}/statement`, pathOf(ended.url)];

    const pages = await Promise.all(paths.map(get));

    const marked = pages.map(({ text }) => (text.match(/<span class="badge[^>]*>TEST</g) ?? []).length);
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 410]);
    expect(marked).toEqual(Array(4).fill(mode === 'test' ? 1 : 0));
  },
);

describe('the statement of account on a link of a client', () => {
  const daysAgo = (days: number) => addDays(dayIn('UTC'), -days);
  // Invoices of long ago come before all others of an account.
  const own = async (path: string, body: object, account: TestAccount) =>
    (await create(gateway, `/api/v1/${path}`, body, account)).id as string;
  const linkOfOwn = async (kind: string, id: string, account: TestAccount, body: object = {}) => {
    const { url, id: linkId } = await create(gateway, `/api/v1/${kind}/${id}/links`, body, account);
    return { path: pathOf(url), id: linkId as string, account };
  };
  /** A client that owes 234.50 of an invoice of 1,234.50, and paid 99.00 two years ago. */
  const owing = async () => {
    const account = await gateway.workspace.account();
    const client = await own('clients', { name: 'Grace', email: 'grace@example.com' }, account);
    const early = { client_id: client, amount: 99, currency: 'EUR', date: daysAgo(800), method: 'cash' };
    await own('payments', early, account);
    const dates = { issue_date: daysAgo(40), due_date: daysAgo(20) };
    const id = await own('invoices', { ...sold({ client_id: client, order_reference: 'PO-77' }), ...dates }, account);
    const paid = { amount: 1_000, reference: 'RF18', date: daysAgo(10), method: 'bank_transfer' };
    await own(`invoices/${id}/payments`, paid, account);
    return { client, id, account };
  };

  test('when the list is opened, then it leads to the statement of twelve months, whose rows lead from the first balance to the last', async () => {
    const { client, account } = await owing();
    const { path } = await linkOfOwn('clients', client, account);
    expect((await get(path)).text).toContain(`href="${path}/statement"`);

    const { status, text } = await get(`${path}/statement`);

    expect(status).toBe(200);
    expect(text).toMatch(
      /Opening balance[\s\S]*−€99\.00[\s\S]*Invoice <bdi>INV-\d+[\s\S]*PO-77[\s\S]*€1,234\.50[\s\S]*€1,135\.50[\s\S]*Payment <bdi>PAY-\d+[\s\S]*RF18[\s\S]*€1,000\.00[\s\S]*Closing balance[\s\S]*€135\.50[\s\S]*1–30 days late[\s\S]*€234\.50/,
    );
    expect(Buffer.byteLength(text)).toBeLessThan(20_000);
    const earlier = (await get(`${path}/statement?period=last_year`)).text;
    expect(earlier).toMatch(/aria-current="true"[^>]*>Last year/);
    // Anything else is the standard.
    for (const period of ['x', '__proto__', 'constructor', ''])
      expect((await get(`${path}/statement?period=${period}`)).text).toMatch(/aria-current="true"[^>]*>Last 12 months/);
  });

  test.each<[string, (of: Awaited<ReturnType<typeof owing>>) => Promise<{ path: string }>]>([
    ['of an invoice', ({ id, account }) => linkOfOwn('invoices', id, account)],
    ['made without it', ({ client, account }) => linkOfOwn('clients', client, account, { show_statement: false })],
    [
      'from before there were statements',
      async ({ client, account }) => {
        const made = await linkOfOwn('clients', client, account);
        await DocumentLink.updateOne({ _id: made.id, account_id: account.id }, { $unset: { show_statement: true } });
        return made;
      },
    ],
  ])('when the link is one %s, then it has no statement, as if there was no such link', async (_what, made) => {
    const { path } = await made(await owing());
    const [{ status, text }, unknown] = [await get(`${path}/statement`), await get(`/p/${'A'.repeat(43)}/statement`)];
    expect([status, text]).toEqual([404, unknown.text]);
    expect((await get(path)).text).not.toContain('/statement');
  });

  test('when the path is below a document of the link, then it is the same 404', async () => {
    const { client, id, account } = await owing();
    const { path } = await linkOfOwn('clients', client, account);
    expect((await get(`${path}/invoices/${id}/statement`)).status).toBe(404);
  });

  test('when there are more movements than a page has, then it shows the latest, says so, and still adds up', async () => {
    const client = (await create(gateway, '/api/v1/clients', { name: 'Joan', email: 'joan@example.com' })).id;
    const paid = { client_id: client, amount: 1, currency: 'EUR', method: 'cash', allocations: [] };
    await Promise.all(Array.from({ length: 105 }, () => create(gateway, '/api/v1/payments', paid)));
    const { path } = await linkTo('clients', client);

    const { text } = await get(`${path}/statement`);

    expect(text.match(/Payment <bdi>/g)).toHaveLength(100);
    expect(text).toMatch(
      /Only the latest are shown[\s\S]*Opening balance[\s\S]*−€5\.00[\s\S]*Closing balance[\s\S]*−€105\.00/,
    );
    expect(text).toContain('in your favour');
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
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

  test('when the link is unknown, malformed, revoked, of a deleted document or of another client, then the answers are the same', async () => {
    const stranger = (await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'eve@example.com' })).id;
    const foreign = await linkTo('clients', stranger);
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
      `${foreign.path}/invoices/${await invoice()}`,
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

  test('when its account has no room left, then it is not counted, and an act that was done before is shown as done', async () => {
    const full = await startPortal(gateway.workspace, { client: { quotaBytes: 1 } });
    const invoiceId = await invoice();
    const { path, id } = await linkTo('invoices', invoiceId);
    const csrf = csrfOf((await get(path)).text);
    const question = { csrf, text: 'Is this right?' };
    await inUnit(gateway.account.id, (unit) =>
      askQuestion(unit, {
        ...{ type: 'invoice', id: invoiceId, text: question.text },
        visitor: { linkId: id, address: '', browser: '' },
      }),
    );

    const opened = await full.browser().post(`${path}/opened`, { csrf });
    const asked = await full.browser().post(`${path}/ask`, question);
    await full.close();

    expect([opened.status, asked.status, asked.headers.get('location')]).toEqual([204, 303, `${path}?done=asked`]);
    expect(await linkOf(id)).toMatchObject({ opens: 0 });
  });

  const MANY = 1_000;
  test.each([
    ['pages of a link', { link: 2 }, '', [200, 200, 429]],
    ['forms of a link', { forms: 1 }, '/ask', [422, 429]],
    // It counts addresses that guess, too.
    ['links, from one address', { address: 2 }, undefined, [404, 404, 429]],
  ])('when they ask for too many %s, then they have to wait', async (_what, limit, page, statuses) => {
    const limits = { address: MANY, link: MANY, forms: MANY, ...limit };
    const few = await startPortal(gateway.workspace, { client: { limits } });
    const { path } = await linkTo('invoices', await invoice());
    const csrf = csrfOf((await get(path)).text);
    const found = [];
    const waits: (string | null)[] = [];
    for (const each of statuses.keys()) {
      const guessed = `/p/${String(each).repeat(43)}`;
      const browser = few.browser();
      const reply = await (page ? browser.post(path + page, { csrf }) : browser.get(page === '' ? path : guessed));
      found.push(reply.status);
      waits.push(reply.headers.get('retry-after'));
    }
    await few.close();
    expect([found, waits.at(-1)]).toEqual([statuses, '60']);
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

describe('an expired link', () => {
  const expire = (id: string) =>
    // It was made a week before its end.
    DocumentLink.collection.updateOne(
      { _id: storedId(id) as never },
      {
        $set: { created_at: new Date(Date.now() - 7 * 24 * 3_600_000), expires_at: new Date(Date.now() - 1_000) },
      },
    );
  const DAY_MS = 24 * 3_600_000;
  const mails = (filter: object) =>
    Message.find({ account_id: gateway.account.id, kind: 'link', ...filter }).lean<MessageRecord[]>();

  test('when it is opened, then it shows nothing of the document and offers a new one, whose mail carries a link of the same terms', async () => {
    await setUpMail();
    const invoiceId = await invoice();
    const { path, id } = await linkTo('invoices', invoiceId, { show_time: true, allow: ['ask'] });
    await expire(id);

    const { status, text } = await get(path);
    expect([status, text.includes('1,234.50'), text.includes('ada@example.com')]).toEqual([410, false, false]);
    const send = () => portal.browser().post(`${path}/renew`, { csrf: csrfOf(text) });
    const sent = [await send(), await send()];

    expect(sent.map(({ headers }) => headers.get('location'))).toEqual([
      `${path}?done=renewed`,
      `${path}?done=renewed`,
    ]);
    const [message, ...others] = await mails({ 'document.id': storedId(invoiceId) });
    expect([others, message?.recipients.map(({ address }) => address), message?.attach_pdf]).toEqual([
      [],
      ['ada@example.com'],
      false,
    ]);
    const made = await mailOf(String(message?._id));
    const [url = ''] = /https:\/\/portal\.example\.com\/p\/[\w-]{43}/.exec(made) ?? [];
    expect((await get(pathOf(url))).status).toBe(200);
    const links = (await gateway.get(`/api/v1/invoices/${invoiceId}/links`)).body.data;
    expect(links[0]).toMatchObject({ url: null, message_id: String(message?._id), allow: ['ask'], show_time: true });
    // Its maker let the first one live for a week.
    const life = Date.parse(links[0].expires_at) - Date.parse(links[0].created_at);
    expect(Math.round(life / DAY_MS)).toBe(7);
  });

  test.each([true, false])(
    'when it is that of a client and shows the statement: %s, then the new one does the same',
    async (show_statement) => {
      const client = (await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'eve@example.com' })).id;
      const invoiceId = await invoice({ client_id: client });
      const { path, id } = await linkTo('clients', client, { show_statement });
      await expire(id);
      expect((await get(`${path}/statement`)).status).toBe(410);
      await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });
      const [message] = await mails({ 'document.id': storedId(invoiceId) });
      const [url = ''] = /https:\/\/portal\.example\.com\/p\/[\w-]{43}/.exec(await mailOf(String(message?._id))) ?? [];

      expect((await get(`${pathOf(url)}/statement`)).status).toBe(show_statement ? 200 : 404);
    },
  );

  test('when it expires while its page is open, then every way on from there offers a new one, and no form is done', async () => {
    const id = await quote();
    const link = await linkTo('quotes', id);
    const { text: page } = await get(link.path);
    await expire(link.id);
    const csrf = csrfOf(page);
    const version = /name="version" value="([^"]+)"/.exec(page)?.[1] ?? '';

    const accepted = await portal
      .browser()
      .post(`${link.path}/accept`, { csrf, version, name: 'Ada Lovelace', agree: 'yes' });
    const others = [await get(`${link.path}/pdf`), await get(`${link.path}/time`)];

    for (const { status, text } of [accepted, ...others])
      expect([status, text.includes('This link has expired'), text.includes('1,234.50')]).toEqual([410, true, false]);
    expect((await gateway.get(`/api/v1/quotes/${id}`)).body.data.status).toBe('Sent');
  });

  test('when it is revoked before the new one is mailed, then that does not leave', async () => {
    const invoiceId = await invoice();
    const { path, id } = await linkTo('invoices', invoiceId);
    await expire(id);
    await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });
    const [message] = await mails({ 'document.id': storedId(invoiceId) });
    const reason = () => inUnit(gateway.account.id, (unit) => reasonToWithdraw(unit, message as MessageRecord));
    expect(await reason()).toBeUndefined();

    await gateway.delete(`/api/v1/invoices/${invoiceId}/links/${id}`);

    expect(await reason()).toBe('The link was revoked');
  });

  test('when one of those who got it has bounced, then the new one goes to the others', async () => {
    const invoiceId = await invoice();
    const { body } = await gateway.post(`/api/v1/invoices/${invoiceId}/send`, {
      to: ['one@work.example', 'two@work.example'],
    });
    const url = /https:\/\/portal\.example\.com\/p\/[\w-]{43}/.exec(await mailOf(body.data.id))?.[0] as string;
    const [link] = (await gateway.get(`/api/v1/invoices/${invoiceId}/links`)).body.data;
    await expire(link.id);
    const report = { message_id: body.data.id, recipient: 'one@work.example', kind: 'hard' };
    expect((await gateway.post('/api/v1/messages/bounces', report)).status).toBe(200);

    const path = pathOf(url);
    const { status } = await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });

    const [message] = await mails({ 'document.id': storedId(invoiceId) });
    expect([status, message?.recipients.map(({ address }) => address)]).toEqual([303, ['two@work.example']]);
  });

  test.each(['', 'new@example.com'])(
    'when the account has changed the address of the client to "%s", then the new one does not go to the former one',
    async (email) => {
      await gateway.patch('/api/v1/account', { require_client_email: false });
      const client = await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'former@example.com' });
      const invoiceId = await invoice({ client_id: client.id });
      const { body } = await gateway.post(`/api/v1/invoices/${invoiceId}/send`, {});
      const url = /https:\/\/portal\.example\.com\/p\/[\w-]{43}/.exec(await mailOf(body.data.id))?.[0] as string;
      const [link] = (await gateway.get(`/api/v1/invoices/${invoiceId}/links`)).body.data;
      await expire(link.id);
      await gateway.patch(`/api/v1/clients/${client.id}`, { email });

      const path = pathOf(url);
      await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });

      const sent = await mails({ 'document.id': storedId(invoiceId) });
      expect(sent.flatMap(({ recipients }) => recipients.map(({ address }) => address))).toEqual(email ? [email] : []);
    },
  );

  test('when its renewal is sent again by the account, then the link of that mail has the same limits', async () => {
    const invoiceId = await invoice();
    const { path, id } = await linkTo('invoices', invoiceId, { allow: ['ask'] });
    await expire(id);
    await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });
    const [message] = await mails({ 'document.id': storedId(invoiceId) });
    await failWithoutRelay(gateway.account.id, String(message?._id), 'giveUp');

    const { body } = await gateway.post(`/api/v1/messages/${String(message?._id)}/resend`, {});

    const again = await Message.findOne({ _id: body.data.id, account_id: gateway.account.id }).lean<MessageRecord>();
    expect(again?.link).toEqual(message?.link);
    expect(again?.link).toMatchObject({ allow: ['ask'], life_ms: expect.any(Number) });
  });

  test('when a link without an end of its own has expired, then the new one has none either', async () => {
    const invoiceId = await invoice();
    const { path, id } = await linkTo('invoices', invoiceId);
    await gateway.patch(`/api/v1/invoices/${invoiceId}`, { status: 'Paid' });
    const paid_on = '2020-01-01';
    await Invoice.updateOne({ _id: invoiceId, account_id: gateway.account.id }, { paid_on });
    await DocumentLink.collection.updateOne(
      { _id: storedId(id) as never },
      { $set: { created_at: new Date(paid_on) } },
    );
    await portal.browser().post(`${path}/renew`, { csrf: csrfOf((await get(path)).text) });

    const [message] = await mails({ 'document.id': storedId(invoiceId) });
    expect(message?.link).toEqual({
      ...{ type: 'invoice', allow: ['pay', 'promise', 'ask'], show_time: false, renews: storedId(id) },
    });
  });

  test('when it is renewed without its token or day after day, then only so many mails go out', async () => {
    const { path, id } = await linkTo('invoices', await invoice());
    await expire(id);
    const csrf = csrfOf((await get(path)).text);
    expect((await portal.browser().post(`${path}/renew`, { csrf: 'x' })).status).toBe(403);
    expect((await portal.browser().post(`${path}/renew`, { csrf })).status).toBe(303);
    const [first] = await mails({ once: new RegExp(`^link/${id}/`) });
    for (let day = 1; day <= 4; day += 1)
      await Message.collection.insertOne({
        ...first,
        _id: storedId(newId()),
        message_id: `<${day}@x>`,
        once: `link/${id}/2020-01-0${day}`,
      } as never);

    expect((await portal.browser().post(`${path}/renew`, { csrf })).status).toBe(503);
  });

  test.each([
    ['was rejected', (id: string) => failWithoutRelay(gateway.account.id, id, 'giveUp')],
    ['was cancelled by its account', (id: string) => gateway.post(`/api/v1/messages/${id}/cancel`, {})],
  ])(
    'when the mail of today %s, then the page does not say that one is on its way, and it is none of the few',
    async (_, end) => {
      const { path, id } = await linkTo('invoices', await invoice());
      await expire(id);
      const csrf = csrfOf((await get(path)).text);
      const send = () => portal.browser().post(`${path}/renew`, { csrf });
      expect((await send()).status).toBe(303);
      const [first] = await mails({ once: new RegExp(`^link/${id}/`) });
      await end(String(first?._id));

      expect((await send()).status).toBe(503);
      // It went on like this for days.
      const { _id, ...ended } = (await mails({ _id: first?._id }))[0] as MessageRecord;
      const days = [1, 2, 3, 4, 5].map((day) => ({
        ...ended,
        ...{ _id: storedId(newId()), message_id: `<${day}@${id}>`, once: `link/${id}/2020-01-0${day}` },
      }));
      await Message.collection.insertMany(days as never);
      await Message.collection.updateOne({ _id } as never, { $unset: { once: 1 } });
      expect((await send()).status).toBe(303);
    },
  );

  test('when it has not expired, then nothing is mailed', async () => {
    const { path, id } = await linkTo('invoices', await invoice());
    const csrf = csrfOf((await get(path)).text);
    expect((await portal.browser().post(`${path}/renew`, { csrf })).headers.get('location')).toBe(path);
    expect(await mails({ once: new RegExp(`^link/${id}/`) })).toEqual([]);
  });

  test('when it is of a client, then the mail carries a link of the client', async () => {
    const { path, id } = await linkTo('clients', clientId, { expires_at: '2040-01-01T00:00:00Z' });
    await expire(id);
    const csrf = csrfOf((await get(path)).text);
    expect((await portal.browser().post(`${path}/renew`, { csrf })).status).toBe(303);
    expect(await mails({ once: new RegExp(`^link/${id}/`) })).toMatchObject([{ link: { type: 'client' } }]);
  });
});

/** Returns the mail that the mail service makes of a message. */
async function mailOf(messageId: string): Promise<string> {
  const print = async () => ({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
  const markdown = { toHtml: async (text: string) => text };
  const make = makeMailOf({ from: 'billing@example.com', print, markdown, portalUrl: 'https://portal.example.com' });
  const made = await withLease(gateway.account.id, messageId, async (_step, { message, unit }) => {
    const mail = await make(message, { isFirst: true, signal: new AbortController().signal });
    if ('contents' in mail) await mail.unkept?.ready((keep) => keep(unit));
    return mail;
  });
  if (!('contents' in made)) throw new Error(JSON.stringify(made));
  return (await simpleParser(await buffer(made.contents.read()))).text ?? '';
}

test('when pages and forms of a link succeed, fail and break, then the log names them and has no token', async () => {
  let log = '';
  const write = (text: string) => {
    log += text;
  };
  const print = () => Promise.reject(new Error('broken'));
  const logged = await startPortal(gateway.workspace, { log: pino({ level: 'trace' }, { write }), client: { print } });
  const { path, id } = await linkTo('invoices', await invoice());
  const browser = logged.browser();
  const csrf = csrfOf((await browser.get(path)).text);
  const replies = [
    await browser.post(`${path}/ask`, { csrf, text: 'Which hours are these?' }),
    await browser.post(`${path}/ask`, { csrf }),
    await browser.get(`${path}/pdf`),
    await browser.get(`${path}/nothing`),
  ];
  await logged.close();

  expect(replies.map(({ status }) => status)).toEqual([303, 422, 500, 404]);
  for (const said of ['"form":"/ask"', id, 'a request to the portal failed']) expect(log).toContain(said);
  expect(log).not.toContain(path.split('/').at(-1));
});

describe('its PDF', () => {
  test('when the original is kept, then the page sends these very bytes, to be shown in the browser', async () => {
    const bytes = Buffer.from('%PDF-1.7\nkept\n%%EOF\n');
    const id = await invoice();
    const { path } = await linkTo('invoices', id);
    let prints = 0;
    const print = async () => {
      prints += 1;
      return { bytes, warnings: [] };
    };
    const printing = await startPortal(gateway.workspace, { client: { print } });
    const head = await fetch(`${printing.url}${path}/pdf`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), prints]).toEqual([200, 'application/pdf', 0]);
    const answers = [];
    for (let each = 0; each < 2; each += 1) answers.push(await fetch(`${printing.url}${path}/pdf`));
    const kept = await fetch(`${portal.url}${path}/pdf`);
    await printing.close();

    expect([prints, kept.status, Buffer.from(await kept.arrayBuffer())]).toEqual([1, 200, bytes]);
    expect(kept.headers.get('content-type')).toBe('application/pdf');
    expect(kept.headers.get('content-disposition')).toMatch(/^inline; filename="?INV-\d+\.pdf"?$/);
  });

  test('when no renderer prints it, then the page asks to try again', async () => {
    const { path } = await linkTo('invoices', await invoice());
    const { status, text, headers } = await get(`${path}/pdf`);
    expect([status, headers.get('retry-after'), text.includes('not available')]).toEqual([503, '2', true]);
  });
});

describe('the logo of its issuer', () => {
  afterAll(() => gateway.patch('/api/v1/account', { logo_url: null }));

  test('when it is behind an address, then the page links one of its own, which only the token chooses', async () => {
    const url = 'https://studio.example/logo.png';
    await gateway.patch('/api/v1/account', { logo_url: url });
    const id = await invoice();
    const { path, id: linkId } = await linkTo('invoices', id);
    const list = (await linkTo('clients', clientId)).path;
    const logo = Buffer.from('a PNG');
    const asked: object[] = [];
    const loadLogo = async (wanted: object) => {
      asked.push(wanted);
      return logo;
    };
    const showing = await startPortal(gateway.workspace, { client: { loadLogo } });
    const browser = showing.browser();

    const bases = [path, list, `${list}/invoices/${id}`];
    for (const base of bases) {
      const { text, headers } = await browser.get(base);
      expect(text).toContain(`srcset="${base}/logo 2x" alt="Studio North"/>`);
      expect(text).not.toContain('studio.example');
      expect(headers.get('content-security-policy')).toContain("img-src 'self' data:;");
      const sent = await fetch(`${showing.url}${base}/logo?url=https://evil.example`);
      expect([sent.status, Buffer.from(await sent.arrayBuffer())]).toEqual([200, logo]);
      expect(Object.fromEntries(sent.headers)).toMatchObject({
        'cache-control': 'private, max-age=3600',
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
      });
    }
    expect(asked).toEqual(bases.map(() => ({ accountId: gateway.account.id, url })));

    await DocumentLink.updateOne(
      { _id: linkId, account_id: gateway.account.id },
      { expires_at: new Date(Date.now() - 60_000) },
    );
    const expired = await browser.get(path);
    const gone = await browser.get(`${path}/logo`);
    await showing.close();
    expect([expired.status, expired.text.includes('<img'), gone.status]).toEqual([410, false, 410]);
    expect(asked).toHaveLength(bases.length);
  });

  test('when there is none to show, then the answer is the page of an unknown link', async () => {
    const { path } = await linkTo('invoices', await invoice());
    const { status, text } = await get(`${path}/logo`);
    expect([status, text]).toEqual([404, (await get(`/p/${'A'.repeat(43)}`)).text]);
  });
});

test('when the link shows the time, then its hours stand behind each line, and otherwise they do not', async () => {
  const project = { name: 'Engine', client_id: clientId, hourly_rate: 95 };
  const { id: project_id } = await create(gateway, '/api/v1/projects', project);
  await create(gateway, '/api/v1/time-entries', {
    project_id,
    hours: 1.25,
    date: '2026-11-02',
    description: 'Drawings',
  });
  const { id } = await create(gateway, '/api/v1/invoices/from-time', { client_id: clientId });
  await gateway.patch(`/api/v1/invoices/${id}`, { status: 'Sent' });
  const [shown, hidden] = [await linkTo('invoices', id, { show_time: true }), await linkTo('invoices', id)];

  const { status, text } = await get(`${shown.path}/time`);
  expect(status).toBe(200);
  for (const part of ['Drawings', '1.25', '$118.75']) expect(text).toContain(part);
  expect((await get(shown.path)).text).toContain(`${shown.path}/time`);
  expect([(await get(`${hidden.path}/time`)).status, (await get(hidden.path)).text.includes('/time"')]).toEqual([
    404,
    false,
  ]);
});

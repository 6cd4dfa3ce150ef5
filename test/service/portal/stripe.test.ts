// Paying by Stripe: what its signed events book, and which page a click leads to.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Account } from '#libs/models/accounts/account.ts';
import { Counter } from '#libs/models/counter.ts';
import { allModels } from '#libs/models/indexes.ts';
import { StripeCheckout } from '#libs/models/stripe/checkout.ts';
import { EarlyRefund, type EarlyRefundRecord } from '#libs/models/stripe/early-refund.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { makeOpenStripe } from '../../../services/portal/stripe/open-stripe.ts';
import { isChargeable } from '../../../services/portal/stripe/stripe-amounts.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import { eventBody, paidSession, type StripeEvent, sendEvent } from '../../support/stripe-events.ts';
import { LOOPBACK } from '../../support/webhooks.ts';

const QUOTA = 2 ** 30;
const secret = `whsec_${'s'.repeat(32)}`;
const SETTINGS = { secret_key: `rk_test_${'k'.repeat(24)}`, signing_secret: secret };

let gateway: TestGateway;
let portal: TestPortal;
let account: OwnAccount;
let client_id: string;
let hook: string;

/** Stands in for Stripe: it notes what it is asked, and answers as a test wants. */
interface Asked {
  path: string;
  fields: URLSearchParams;
  key: string | undefined;
}
let stripe: Server;
let asked: Asked[] = [];
let answer: (asked: Asked) => { status: number; body: object } | 'lost' = () => ({ status: 500, body: {} });

beforeAll(async () => {
  gateway = await startGateway();
  stripe = createServer((request, response) => {
    void textOf(request).then((text) => {
      const one = {
        path: request.url ?? '',
        fields: new URLSearchParams(text),
        key: request.headers['idempotency-key'] as string,
      };
      asked.push(one);
      const reply = answer(one);
      if (reply === 'lost') return void request.socket.destroy();
      response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply.body));
    });
  });
  await once(stripe.listen(0, '127.0.0.1'), 'listening');
  const { port } = stripe.address() as { port: number };
  const open = makeOpenStripe(openOutbound({ allow: LOOPBACK }), { protocol: 'http', host: '127.0.0.1', port });
  portal = await startPortal(gateway.workspace, {
    client: { stripe: { open, origin: 'https://pay.example.com' }, quotaBytes: QUOTA },
  });
});
afterAll(async () => {
  stripe.closeAllConnections();
  stripe.close();
  await portal.close();
  await gateway.close();
});
beforeEach(async () => {
  asked = [];
  account = await openOwnAccount(gateway, { currency: 'EUR', time_zone: 'UTC' });
  client_id = (await account.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
  const { body } = await gateway.call('PUT', '/api/v1/account/stripe', { body: SETTINGS, key: account.key });
  hook = `${portal.url}/hooks/stripe/${hookIdOf(body.data)}`;
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const hookIdOf = ({ hook_url }: { hook_url: string }) => hook_url.split('/').at(-1);
const invoice = async (fields: object = {}) =>
  (
    await account.post('invoices', {
      client_id,
      amount: 100,
      currency: 'EUR',
      status: 'Sent',
      due_date: '2099-12-31',
      ...fields,
    })
  ).id;
const send = async (event: StripeEvent) => {
  const { status, text } = await sendEvent(hook, eventBody(event), { secret });
  return [status, status === 200 ? JSON.parse(text).outcome : text];
};
const completed = (id: string, fields: object = {}, at = new Date()) =>
  send({ type: 'checkout.session.completed', object: paidSession(id, fields), at });
const refunded = (fields: object = {}) =>
  send({
    type: 'refund.created',
    object: {
      id: 're_1',
      object: 'refund',
      status: 'succeeded',
      amount: 4_000,
      currency: 'eur',
      payment_intent: 'pi_1',
      ...fields,
    },
  });
const payments = () => account.get('payments');

describe('settings', () => {
  test('when they are set, then neither secret is shown, and the address stays when they are set again', async () => {
    const again = await gateway.call('PUT', '/api/v1/account/stripe', {
      body: { ...SETTINGS, secret_key: `sk_live_${'z'.repeat(24)}` },
      key: account.key,
    });
    expect(again.body.data).toMatchObject({
      mode: 'live',
      hook_url: expect.stringContaining(String(hook.split('/').at(-1))),
    });
    expect(JSON.stringify([again.body, await account.get('account/stripe'), await account.get('account')])).not.toMatch(
      /whsec_|sk_live_|rk_test_/,
    );
    expect((await account.api.delete('/api/v1/account/stripe')).status).toBe(200);
    expect((await account.api.get('/api/v1/account/stripe')).status).toBe(404);
    expect((await sendEvent(hook, eventBody({ type: 'x', object: {} }), { secret })).status).toBe(404);
  });

  test('when a text is no secret of Stripe, then it is 400', async () => {
    const { body } = await gateway.call('PUT', '/api/v1/account/stripe', {
      body: { secret_key: 'pk_live_abcdefghijkl', signing_secret: 'x' },
      key: account.key,
    });
    expect(Object.keys(body.details)).toEqual(['secret_key', 'signing_secret']);
  });

  test('when a test account has a live key of Stripe, then it is 400, because its documents ask for no money', async () => {
    const { key } = await gateway.workspace.account({ mode: 'test' });
    const put = (secret_key: string) =>
      gateway.call('PUT', '/api/v1/account/stripe', { body: { ...SETTINGS, secret_key }, key });

    expect(await put(`rk_live_${'z'.repeat(24)}`)).toMatchObject({
      status: 400,
      body: { problems: [{ field: 'secret_key', code: 'other_mode' }] },
    });
    expect((await put(`rk_test_${'z'.repeat(24)}`)).status).toBe(200);
  });
});

describe('events', () => {
  test('when a page was paid, then its payment is booked once, on the day of the event, however often it comes', async () => {
    const id = await invoice({ issue_date: '2025-11-20' }).catch(() => invoice());
    const yearAgo = new Date(Date.now() - 365 * 86_400_000);
    const told = [await completed(id, {}, yearAgo), await completed(id, {}, yearAgo)];
    told.push(await send({ type: 'checkout.session.async_payment_succeeded', object: paidSession(id) }));

    expect(told).toEqual(Array(3).fill([200, 'booked']));
    expect(await payments()).toMatchObject([
      {
        amount: 100,
        unallocated: 0,
        external_id: 'pi_1',
        method: 'card',
        source: 'provider',
        date: yearAgo.toISOString().slice(0, 10),
      },
    ]);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ status: 'Paid', amount_due: 0 });
    await account.sound();
  });

  test('when two processes get the same event at once, then there is one payment', async () => {
    const id = await invoice();
    const told = await Promise.all(Array.from({ length: 5 }, () => completed(id)));
    expect(told.filter(([status]) => status === 200).length).toBeGreaterThan(0);
    expect(await payments()).toHaveLength(1);
  });

  test('when a page is completed by a debit, then nothing is booked until the money has come', async () => {
    const id = await invoice();
    expect(await completed(id, { payment_status: 'unpaid' })).toEqual([200, 'nothing']);
    expect(await payments()).toEqual([]);
    const debit = paidSession(id, { payment_method_types: ['sepa_debit'] });
    expect(await send({ type: 'checkout.session.async_payment_succeeded', object: debit })).toEqual([200, 'booked']);
    expect(await payments()).toMatchObject([{ method: 'other' }]);
  });

  test('when the invoice was paid by bank meanwhile, in part or whole, then the surplus is credit', async () => {
    const [part, whole, cancelled] = [await invoice(), await invoice(), await invoice()];
    await account.post(`invoices/${part}/payments`, { amount: 30 });
    await account.post(`invoices/${whole}/payments`, {});
    await account.api.patch(`/api/v1/invoices/${cancelled}`, { status: 'Cancelled' });
    await completed(part, { payment_intent: 'pi_part' });
    await completed(whole, { payment_intent: 'pi_whole' });
    await completed(cancelled, { payment_intent: 'pi_cancelled' });
    const own = (await payments()) as unknown as { external_id: string; unallocated: number }[];
    const creditOf = (intent: string) => own.find(({ external_id }) => external_id === intent)?.unallocated;
    expect(['pi_part', 'pi_whole', 'pi_cancelled'].map(creditOf)).toEqual([30, 100, 100]);
    const warned = (await account.get('events?type=payment.overpaid')) as unknown as {
      data: { unallocated: number };
    }[];
    expect(warned.map(({ data }) => data.unallocated)).toEqual([30, 100, 100]);
    const activity = (await account.get(`invoices/${part}/activity`)) as unknown as { type: string; amount: number }[];
    expect(activity.filter(({ type }) => type === 'payment.overpaid')).toMatchObject([{ amount: 30 }]);
    await account.sound();
  });

  test('when money goes back before and after its payment is known, then it is booked once, from the credit first', async () => {
    const id = await invoice();
    expect([await refunded(), await refunded()]).toEqual(Array(2).fill([200, 'booked']));
    expect(await payments()).toEqual([]);
    await completed(id, { amount_total: 15_000 });
    await refunded({ id: 're_2', amount: 3_000 });
    await send({
      type: 'refund.updated',
      object: { id: 're_2', status: 'succeeded', amount: 3_000, currency: 'eur', payment_intent: 'pi_1' },
    });

    const [payment] = (await payments()) as unknown as [
      { refunds: { amount: number; external_id: string }[]; unallocated: number },
    ];
    expect(payment.refunds.map(({ amount, external_id }) => [external_id, amount])).toEqual([
      ['re_1', 40],
      ['re_2', 10],
      ['re_2/2', 20],
    ]);
    expect(payment.unallocated).toBe(0);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ amount_paid: 80, amount_due: 20 });
    await account.sound();
  });

  test('when a dispute is lost, then its amount went back; when it is won or a refund is pending, then nothing did', async () => {
    const id = await invoice();
    await completed(id);
    const dispute = { id: 'dp_1', object: 'dispute', amount: 10_000, currency: 'eur', payment_intent: 'pi_1' };
    expect(await send({ type: 'charge.dispute.closed', object: { ...dispute, status: 'won' } })).toEqual([
      200,
      'nothing',
    ]);
    expect(await refunded({ status: 'pending' })).toEqual([200, 'nothing']);
    expect(await send({ type: 'charge.dispute.closed', object: { ...dispute, status: 'lost' } })).toEqual([
      200,
      'booked',
    ]);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ amount_due: 100 });
    expect(await refunded()).toEqual([200, 'unknown']);
    await account.sound();
  });

  test('when money goes back in another currency than its payment, before or after it, then nothing is booked', async () => {
    const id = await invoice();
    const dollars = { amount: 4_000, currency: 'usd' };
    await refunded({ ...dollars, id: 're_early' });
    expect(await completed(id)).toEqual([200, 'booked']);
    expect(await refunded({ ...dollars, id: 're_late' })).toEqual([200, 'unknown']);
    expect(await payments()).toMatchObject([{ amount: 100, refunds: [] }]);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ status: 'Paid', amount_due: 0 });
  });

  test('when the invoice and its client are gone, or are of another account, then nothing is booked, and Stripe does not repeat it', async () => {
    const draft = await invoice({ status: 'Draft' });
    await account.api.delete(`/api/v1/invoices/${draft}`);
    await account.api.delete(`/api/v1/clients/${client_id}`);
    const other = await openOwnAccount(gateway);
    const theirs = (await other.post('clients', { name: 'Eve', email: 'eve@example.com' })).id;
    const foreign = (
      await other.post('invoices', {
        client_id: theirs,
        amount: 100,
        currency: 'EUR',
        status: 'Sent',
        due_date: '2099-12-31',
      })
    ).id;
    expect([await completed(draft), await completed(foreign)]).toEqual(Array(2).fill([200, 'unknown']));
    expect([await payments(), await other.get('payments')]).toEqual([[], []]);
    expect(await completed('not an id')).toEqual([200, 'nothing']);
    expect(await completed(foreign, { metadata: {} })).toEqual([200, 'nothing']);
  });

  test('when a call is forged, then nothing is booked', async () => {
    const id = await invoice();
    const body = eventBody({ type: 'checkout.session.completed', object: paidSession(id) });
    const now = Math.floor(Date.now() / 1_000);
    const replies = [
      await sendEvent(hook, body, { secret: `whsec_${'t'.repeat(32)}` }),
      await sendEvent(hook, body, { secret, signedAt: now - 365 * 86_400 }),
      await sendEvent(hook, body, { secret, sent: body.replace('10000', '90000') }),
      await sendEvent(hook, body, { secret, sent: ` ${body}` }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect((await fetch(hook, { method: 'POST', body })).status).toBe(400);
    expect((await sendEvent(hook, `{"x":"${'y'.repeat(600_000)}"}`, { secret })).status).toBe(413);
    expect((await sendEvent(`${hook}x`, body, { secret })).status).toBe(404);
    expect(await payments()).toEqual([]);
  });
});

describe('events that the account itself signs', () => {
  const long = 'x'.repeat(256);
  const refund = { id: 're_1', status: 'succeeded', amount: 1, currency: 'eur', payment_intent: 'pi_1' };
  const early = () => EarlyRefund.find({ account_id: account.id }).lean<EarlyRefundRecord[]>();

  test('when the key is live, then an event of test mode books nothing; with a test key, live money is booked', async () => {
    const live = { ...SETTINGS, secret_key: `rk_live_${'k'.repeat(24)}` };
    await gateway.call('PUT', '/api/v1/account/stripe', { body: live, key: account.key });
    const id = await invoice();
    expect(await completed(id)).toEqual([200, 'nothing']);
    expect(await payments()).toEqual([]);
    await gateway.call('PUT', '/api/v1/account/stripe', { body: SETTINGS, key: account.key });
    const paid = { type: 'checkout.session.completed', object: paidSession(id), isLive: true };
    expect(await send(paid)).toEqual([200, 'booked']);
  });

  test('when ids are longer than those of Stripe, then nothing is kept of them', async () => {
    const id = await invoice();
    const body = JSON.parse(eventBody({ type: 'refund.created', object: refund }));
    const signed = async (fields: object) =>
      (await sendEvent(hook, JSON.stringify({ ...body, ...fields }), { secret })).status;

    expect(await signed({ id: long })).toBe(400);
    expect(await signed({ type: long })).toBe(400);
    expect(await signed({ created: 1e20 })).toBe(400);
    expect(await completed(id, { payment_intent: long })).toEqual([200, 'nothing']);
    expect(await refunded({ payment_intent: long })).toEqual([200, 'nothing']);
    expect(await refunded({ id: long })).toEqual([200, 'nothing']);
    expect([await payments(), await early()]).toEqual([[], []]);
  });

  test.each([-100, 0.5, 1e15, '100', null])('when the amount is %p, then nothing is booked', async (amount) => {
    const id = await invoice();
    expect(await completed(id, { amount_total: amount })).toEqual([200, 'nothing']);
    expect(await refunded({ amount })).toEqual([200, 'nothing']);
    expect([await payments(), await early()]).toEqual([[], []]);
  });

  test('when the account has reached its quota, then only the money of pages that were made is booked', async () => {
    const id = await invoice();
    await Counter.collection.updateOne({ _id: storedId(account.id) as never }, { $set: { stored_bytes: QUOTA } });

    expect(await completed(id)).toEqual([200, 'unknown']);
    expect(await refunded()).toEqual([200, 'unknown']);
    expect([await payments(), await early()]).toEqual([[], []]);
    await StripeCheckout.create({
      ...newRecord(account.id),
      ...{ invoice_id: storedId(id), amount: 10_000, currency: 'EUR', return_to: 'https://pay.example.com/p/x' },
      ...{ expires_at: new Date(Date.now() + 3_600_000), is_live: true, session_id: 'cs_test_1' },
    });
    expect(await completed(id)).toEqual([200, 'booked']);
    expect(await payments()).toMatchObject([{ external_id: 'pi_1' }]);
  });
});

describe('the click', () => {
  const page = (id: string) => ({
    status: 200,
    body: { id, object: 'checkout.session', url: `https://checkout.stripe.com/c/${id}`, status: 'open' },
  });
  const linkTo = async (id: string) =>
    pathOf((await account.post(`invoices/${id}/links`, { allow: ['pay'] }))['url'] as string);
  const click = async (path: string, fields: Record<string, string> = { pay: 'yes' }) => {
    const { text } = await portal.browser().get(path);
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return portal.browser().post(`${path}/pay/stripe`, { csrf, ...fields });
  };
  const created = () => asked.filter(({ path }) => path === '/v1/checkout/sessions');

  test('when it is clicked twice, then Stripe is asked once, for what is due, and leads to the same page', async () => {
    answer = () => page('cs_1');
    const path = await linkTo(await invoice());
    const replies = [await click(path), await click(path)];
    expect(replies.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      Array(2).fill([303, 'https://checkout.stripe.com/c/cs_1']),
    );
    expect(created()).toHaveLength(1);
    // Only the page with the button lets a form lead to Stripe.
    const policies = [await portal.browser().get(path), await portal.browser().get('/p/x')];
    expect(
      policies.map(({ headers }) => headers.get('content-security-policy')?.includes('checkout.stripe.com')),
    ).toEqual([true, false]);
    const [{ fields }] = created() as [Asked];
    expect(Object.fromEntries(fields)).toMatchObject({
      mode: 'payment',
      'line_items[0][price_data][unit_amount]': '10000',
      'line_items[0][price_data][currency]': 'eur',
      success_url: `https://pay.example.com${path}`,
    });
  });

  test('when it is clicked, then no record has the token of the link in plain text', async () => {
    answer = () => page('cs_1');
    const path = await linkTo(await invoice());
    expect((await click(path)).status).toBe(303);
    const records = await Promise.all(allModels.map(({ collection }) => collection.find({}).toArray()));
    const texts = records.flat().map((record) => JSON.stringify(record));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => text.includes(path.replace('/p/', '')))).toEqual([]);
  });

  test('when a test account has a live key from an earlier release, then its pages offer no payment by Stripe', async () => {
    const body = { ...SETTINGS, secret_key: `rk_live_${'k'.repeat(24)}` };
    await gateway.call('PUT', '/api/v1/account/stripe', { body, key: account.key });
    const path = await linkTo(await invoice());
    const hasButton = async () => (await portal.browser().get(path)).text.includes('/pay/stripe');
    expect(await hasButton()).toBe(true);
    await Account.collection.updateOne({ _id: storedId(account.id) as never }, { $set: { mode: 'test' } });

    expect(await hasButton()).toBe(false);
    await click(path);
    expect(asked).toEqual([]);
  });

  test('when two tabs press Pay at once, then both lead to the one page that lives', async () => {
    answer = () => page('cs_1');
    const path = await linkTo(await invoice());
    const replies = await Promise.all([click(path), click(path)]);
    expect(replies.map(({ headers }) => headers.get('location'))).toEqual(
      Array(2).fill('https://checkout.stripe.com/c/cs_1'),
    );
    expect(new Set(created().map(({ key }) => key)).size).toBe(1);
  });

  test('when the answer of Stripe was lost, then it is asked again under the same key and with the same words', async () => {
    let lost = 2;
    answer = () => (lost-- > 0 ? 'lost' : page('cs_2'));
    const path = await linkTo(await invoice());
    const first = await click(path);
    expect([first.status, first.text.includes('does not work at the moment')]).toEqual([422, true]);
    expect((await click(path)).status).toBe(303);
    expect(new Set(created().map(({ key }) => key)).size).toBe(1);
    expect(new Set(created().map(({ fields }) => String(fields))).size).toBe(1);
  });

  test('when another sum is due, then the former page is ended before a new one is made', async () => {
    answer = ({ path }) => page(path.includes('/expire') ? 'cs_3' : `cs_${asked.length}`);
    const id = await invoice();
    const path = await linkTo(id);
    await click(path);
    await account.post(`invoices/${id}/payments`, { amount: 30 });
    await click(path);
    expect(asked.map((one) => one.path)).toEqual([
      '/v1/checkout/sessions',
      '/v1/checkout/sessions/cs_1/expire',
      '/v1/checkout/sessions',
    ]);
    expect(asked.at(-1)?.fields.get('line_items[0][price_data][unit_amount]')).toBe('7000');
  });

  test.each([
    ['the same sum is due', 0],
    ['another sum is due', 30],
  ])('when the settings lead to another account or mode of Stripe and %s, then so does the click', async (_, paid) => {
    let isOther = false;
    answer = ({ path }) => {
      if (path === '/v1/checkout/sessions') return page(isOther ? 'cs_live' : 'cs_test');
      const error = { type: 'invalid_request_error', code: 'resource_missing', message: 'No such checkout.session' };
      return isOther ? { status: 404, body: { error } } : page('cs_test');
    };
    const id = await invoice();
    const path = await linkTo(id);
    await click(path);
    if (paid > 0) await account.post(`invoices/${id}/payments`, { amount: paid });
    isOther = true;
    const body = { ...SETTINGS, secret_key: `rk_live_${'k'.repeat(24)}` };
    await gateway.call('PUT', '/api/v1/account/stripe', { body, key: account.key });

    const { status, headers } = await click(path);

    expect([status, headers.get('location')]).toEqual([303, 'https://checkout.stripe.com/c/cs_live']);
  });

  test.each([
    ['of an earlier release, with its address in plain text', 'https://pay.example.com/p/x'],
    ['whose address no key opens', `00000000.${'A'.repeat(64)}`],
  ])('when Stripe never answered about a page %s, then the click makes a new one', async (_, return_to) => {
    answer = () => page('cs_new');
    const id = await invoice();
    const former = await StripeCheckout.create({
      ...newRecord(account.id),
      ...{ invoice_id: storedId(id), amount: 10_000, currency: 'EUR', return_to, is_live: true },
      expires_at: new Date(Date.now() + 3_600_000),
    });

    const { status, headers } = await click(await linkTo(id));

    expect([status, headers.get('location')]).toEqual([303, 'https://checkout.stripe.com/c/cs_new']);
    expect(created().map(({ key }) => key?.includes(String(former._id)))).toEqual([false]);
  });

  test('when the former page was paid and its event has not come, then no second page is made', async () => {
    answer = ({ path }) => {
      if (path.endsWith('/expire'))
        return { status: 400, body: { error: { type: 'invalid_request_error', message: 'complete' } } };
      return path === '/v1/checkout/sessions'
        ? page('cs_4')
        : { status: 200, body: { id: 'cs_4', status: 'complete' } };
    };
    const id = await invoice();
    const path = await linkTo(id);
    await click(path);
    await account.post(`invoices/${id}/payments`, { amount: 30 });
    const { status, text } = await click(path);
    expect([status, text.includes('being processed')]).toEqual([422, true]);
    expect(created()).toHaveLength(1);
  });

  test('when the box is not ticked, nothing is due, or the account has no Stripe, then Stripe is not asked', async () => {
    const id = await invoice();
    const path = await linkTo(id);
    expect((await click(path, {})).status).toBe(422);
    await account.api.delete('/api/v1/account/stripe');
    expect((await portal.browser().get(path)).text).not.toContain('pay/stripe');
    await gateway.call('PUT', '/api/v1/account/stripe', { body: SETTINGS, key: account.key });
    await account.post(`invoices/${id}/payments`, {});
    expect((await portal.browser().get(path)).text).not.toContain('pay/stripe');
    expect(asked).toEqual([]);
  });
});

test.each([
  ['EUR', true],
  ['JPY', true],
  ['KWD', false],
  ['ISK', false],
  ['UGX', false],
  ['MGA', false],
])('when an invoice is in %s, then it can be paid at Stripe: %s', (currency, expected) => {
  expect(isChargeable(currency)).toBe(expected);
});

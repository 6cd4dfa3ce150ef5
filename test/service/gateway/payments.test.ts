// The ledger of payments: the amount due follows payments and refunds, and no invoice is ever overpaid.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, eventsOf, UNKNOWN_ID } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const path = '/api/v1/payments';

/** A new account with a client and Sent invoices of these amounts. */
async function ledger(...amounts: number[]) {
  const account = await gateway.workspace.account();
  const client = await createClient(gateway, {}, account);
  const invoices: AnyRecord[] = [];
  for (const amount of amounts) invoices.push(await issue(account, client.id, { amount }));
  return { account, client, invoices };
}

function issue(account: TestAccount, client_id: string, fields: object = {}) {
  const body = { client_id, amount: 335, due_date: '2099-01-31', status: 'Sent', ...fields };
  return create(gateway, '/api/v1/invoices', body, account);
}

const post = (account: TestAccount, at: string, body: object) => gateway.post(at, body, account);
const pay = (account: TestAccount, body: object) => create(gateway, path, body, account);
const read = async (account: TestAccount, { id }: AnyRecord) =>
  (await gateway.get(`/api/v1/invoices/${id}`, account)).body.data;
const balanceOf = async (account: TestAccount, { id }: AnyRecord) =>
  (await gateway.get(`/api/v1/clients/${id}/balance`, account)).body.data.balances;

describe('booking', () => {
  test('when 400 is paid for 335, then Paid with a credit of 65 that pays another invoice, and voiding makes both due again', async () => {
    const { account, client, invoices } = await ledger(335, 100);
    const [first, second] = invoices;

    const { data: payment } = (await post(account, `/api/v1/invoices/${first.id}/payments`, { amount: 400 })).body;
    expect(payment).toMatchObject({ payment_number: 'PAY-0001', amount: 400, unallocated: 65, status: 'Received' });
    expect(await read(account, first)).toMatchObject({ status: 'Paid', amount_paid: 335, amount_due: 0 });
    expect(await balanceOf(account, client)).toMatchObject([{ currency: 'USD', due: 100, credit: 65 }]);

    await create(gateway, `${path}/${payment.id}/allocations`, { invoice_id: second.id }, account);
    expect(await read(account, second)).toMatchObject({ status: 'Sent', amount_paid: 65, amount_due: 35 });

    const voided = await post(account, `${path}/${payment.id}/void`, { reason: 'Another client' });
    expect([voided.status, voided.body.data.status, voided.body.data.unallocated]).toEqual([200, 'Voided', 0]);
    for (const [invoice, due] of [
      [first, 335],
      [second, 100],
    ]) {
      expect(await read(account, invoice)).toMatchObject({ status: 'Sent', amount_paid: 0, amount_due: due });
    }
    expect((await eventsOf(account.id)).slice(5)).toEqual([
      ...['payment.received', 'payment.recorded', 'invoice.paid'],
      ...['payment.updated', 'payment.recorded', 'invoice.partially_paid'],
      ...['payment.voided', 'invoice.reopened', 'invoice.updated'],
    ]);
  });

  test('when no invoice is named, then the earliest due are paid first, and the rest is credit', async () => {
    const { account, client } = await ledger();
    const late = await issue(account, client.id, { amount: 50, due_date: '2099-03-01' });
    const early = await issue(account, client.id, { amount: 50, due_date: '2099-02-01' });
    const foreign = await issue(account, client.id, { amount: 50, due_date: '2099-01-01', currency: 'EUR' });

    const payment = await pay(account, { client_id: client.id, amount: 70 });
    expect(payment.allocations.map((part: AnyRecord) => [part.invoice.id, part.amount])).toEqual(
      expect.arrayContaining([
        [early.id, 50],
        [late.id, 20],
      ]),
    );
    expect(await read(account, foreign)).toMatchObject({ amount_paid: 0 });
    expect((await pay(account, { client_id: client.id, amount: 40 })).unallocated).toBe(10);
    expect((await pay(account, { client_id: client.id, amount: 5, allocations: [] })).unallocated).toBe(5);
  });

  test('when two equal payments are sent within one second without keys, then there are two payments', async () => {
    const { account, invoices } = await ledger(100);
    const at = `/api/v1/invoices/${invoices[0].id}/payments`;
    const replies = await Promise.all([1, 2].map(() => post(account, at, { amount: 30 })));
    expect(replies.map(({ status }) => status)).toEqual([201, 201]);
    expect(await read(account, invoices[0])).toMatchObject({ amount_paid: 60, amount_due: 40 });
  });

  test('when two callers send the same external_id concurrently, then there is one payment, and both receive it', async () => {
    const { account, client, invoices } = await ledger(100);
    const external_id = randomUUID();
    const body = { client_id: client.id, amount: 100, external_id };
    const replies = await Promise.all([1, 2, 3, 4].map(() => post(account, path, body)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 201]);
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(1);
    const replay = replies.find(({ status }) => status === 200);
    expect(replay?.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Paid', amount_paid: 100 });
    for (const others of [{ amount: 99 }, { currency: 'EUR' }]) {
      const other = await post(account, path, { ...body, ...others });
      expect([other.status, other.body.error]).toEqual([422, 'external_id was already used with another payment']);
    }
  });

  test("when the external_id of a client's credit is sent for an invoice of another client, then 422 and nothing is paid", async () => {
    const { account, invoices } = await ledger(100);
    const { id: client_id } = await createClient(gateway, {}, account);
    await pay(account, { client_id, amount: 100, external_id: 'ch_1' });

    for (const body of [{ external_id: 'ch_1' }, { external_id: 'ch_1', amount: 100 }]) {
      const reply = await post(account, `/api/v1/invoices/${invoices[0].id}/payments`, body);
      expect([reply.status, reply.body.error]).toEqual([422, 'external_id was already used with another payment']);
    }
    const missing = await post(account, `/api/v1/invoices/${UNKNOWN_ID}/payments`, { external_id: 'ch_1' });
    expect([missing.status, missing.body.error]).toEqual([404, 'Invoice not found or access denied']);
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_paid: 0 });
  });

  test('when the external_id of credit is sent for an invoice, then 422, also once the credit pays that invoice', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    const credit = { client_id: client.id, amount: 100, external_id: 'ch_2', allocations: [] };
    const { id } = await pay(account, credit);
    const at = (index: number) => `/api/v1/invoices/${invoices[index].id}/payments`;
    const refused = [422, 'external_id was already used with another payment'];
    const send = async (index: number, body: object = { external_id: 'ch_2' }) => {
      const reply = await post(account, at(index), body);
      return [reply.status, reply.body.error ?? reply.body.data.id];
    };

    expect([await send(0), await send(1)]).toEqual([refused, refused]);
    await create(gateway, `${path}/${id}/allocations`, { invoice_id: invoices[0].id }, account);
    expect([await send(0), await send(1)]).toEqual([refused, refused]);
    expect((await post(account, path, credit)).body.data.id).toBe(id);
    expect(await read(account, invoices[1])).toMatchObject({ amount_paid: 0 });

    // Nothing was due of the invoice that was named, so that all is credit: the same request is a repeat.
    const surplus = { external_id: 'ch_3', amount: 20 };
    const { data: kept } = (await post(account, at(0), surplus)).body;
    expect(kept.unallocated).toBe(20);
    expect([await send(0, surplus), await send(1, surplus)]).toEqual([[200, kept.id], refused]);
  });

  test('when the external_id of a voided payment is sent again, then 409 that names the payment', async () => {
    const { account, client, invoices } = await ledger(100);
    const body = { client_id: client.id, amount: 100, external_id: 'ch_4' };
    const { id } = await pay(account, body);
    await post(account, `${path}/${id}/void`, { reason: 'Entered twice' });

    for (const [at, again] of [
      [path, body],
      [`/api/v1/invoices/${invoices[0].id}/payments`, { external_id: 'ch_4' }],
    ] as const) {
      const reply = await post(account, at, again);
      expect([reply.status, reply.body.error]).toEqual([
        409,
        'external_id was already used with PAY-0001, which was voided',
      ]);
    }
    const other = await post(account, path, { ...body, amount: 99 });
    expect([other.status, other.body.error]).toEqual([422, 'external_id was already used with another payment']);
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_paid: 0 });
  });

  test('when it is a dry run, then the response shows the result, and nothing is stored', async () => {
    const { account, client, invoices } = await ledger(100);
    const reply = await post(account, `${path}?dry_run=true`, { client_id: client.id, amount: 150 });
    expect([reply.status, reply.body.data]).toMatchObject([200, { id: null, payment_number: null, unallocated: 50 }]);
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_paid: 0 });
    expect((await pay(account, { client_id: client.id, amount: 1 })).payment_number).toBe('PAY-0001');
  });

  test('when the remainder is within the tolerance, then Paid, and the remainder is written off visibly', async () => {
    const { account, invoices } = await ledger(335);
    await gateway.patch('/api/v1/account', { settle_tolerance: 0.1 }, account);
    const at = `/api/v1/invoices/${invoices[0].id}/payments`;
    const { data: payment } = (await post(account, at, { amount: 334.95 })).body;
    const paid = { status: 'Paid', amount_paid: 334.95, amount_written_off: 0.05, amount_due: 0 };
    expect(await read(account, invoices[0])).toMatchObject(paid);
    const { movements } = (await gateway.get(at, account)).body.data;
    expect(movements.map((one: AnyRecord) => [one.kind, one.amount])).toEqual(
      expect.arrayContaining([
        ['payment', 334.95],
        ['write_off', 0.05],
      ]),
    );
    await post(account, `${path}/${payment.id}/void`, { reason: 'Bounced' });
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_written_off: 0, amount_due: 335 });
  });
});

describe('rejections', () => {
  test.each<[string, (client_id: string, invoice_id: string) => object, number, unknown]>([
    [
      'more than is due',
      (client_id, invoice_id) => ({ client_id, amount: 350, allocations: [{ invoice_id, amount: 350 }] }),
      409,
      'Cannot allocate 350.00 to INV-0001: 335.00 is due',
    ],
    [
      'another currency',
      (client_id, invoice_id) => ({ client_id, amount: 5, currency: 'EUR', allocations: [{ invoice_id }] }),
      409,
      'Cannot pay a USD invoice in EUR',
    ],
    [
      'more than was paid',
      (client_id, invoice_id) => ({ client_id, amount: 5, allocations: [{ invoice_id, amount: 6 }] }),
      400,
      { allocations: ['allocations must not sum to more than amount'] },
    ],
    [
      'an unknown invoice',
      (client_id) => ({ client_id, amount: 5, allocations: [{ invoice_id: randomUUID() }] }),
      404,
      'Invoice not found or access denied',
    ],
    [
      'a day in the future',
      (client_id) => ({ client_id, amount: 5, date: '2999-01-01' }),
      400,
      { date: [expect.stringContaining('date must not be after')] },
    ],
    [
      'less than a cent',
      (client_id) => ({ client_id, amount: 0.001 }),
      400,
      { amount: ['amount must have at most 2 decimals in USD'] },
    ],
  ])('when it names %s, then it is rejected and nothing is stored', async (_what, bodyOf, status, message) => {
    const { account, client, invoices } = await ledger(335);
    const reply = await post(account, path, bodyOf(client.id, invoices[0].id));
    expect([reply.status, reply.body.details ?? reply.body.error]).toEqual([status, message]);
    expect((await gateway.get(path, account)).body.pagination.total).toBe(0);
    expect((await gateway.get('/api/v1/numbering/audit?kind=payment', account)).body.data.kinds.payment.drawn).toBe(0);
  });

  test('when an amount has more decimals than its currency, then every movement rejects it, and floating-point noise is ignored', async () => {
    const { account, client, invoices } = await ledger(0.3);
    const yen = await issue(account, client.id, { currency: 'JPY', amount: 500 });
    const whole = { amount: ['amount must be a whole number in JPY'] };
    const payment = await pay(account, { client_id: client.id, currency: 'JPY', amount: 300, allocations: [] });
    for (const [at, body] of [
      [path, { client_id: client.id, currency: 'JPY', amount: 100.4 }],
      [`/api/v1/invoices/${yen.id}/payments`, { amount: 100.4 }],
      [`/api/v1/invoices/${yen.id}/write-off`, { amount: 0.5, reason: 'x' }],
      [`${path}/${payment.id}/allocations`, { invoice_id: yen.id, amount: 99.5 }],
      [`${path}/${payment.id}/refunds`, { amount: 99.5 }],
    ] as const) {
      expect((await post(account, at, body)).body.details).toEqual(whole);
    }
    expect(await read(account, yen)).toMatchObject({ amount_paid: 0, amount_due: 500 });
    const noisy = await post(account, `/api/v1/invoices/${invoices[0].id}/payments`, { amount: 0.1 + 0.2 });
    expect([noisy.status, noisy.body.data.amount]).toEqual([201, 0.3]);
  });

  test('when an external_id is repeated with other invoices or amounts, then 422; with the same ones it is replayed, even after a release', async () => {
    const { account, client, invoices } = await ledger(100, 200);
    const [first, second] = invoices;
    const body = {
      client_id: client.id,
      amount: 150,
      external_id: 'bank-1',
      allocations: [{ invoice_id: first.id, amount: 40 }, { invoice_id: second.id }],
    };
    const payment = await pay(account, body);
    for (const allocations of [
      [],
      [{ invoice_id: first.id, amount: 40 }],
      [{ invoice_id: first.id, amount: 41 }, { invoice_id: second.id }],
    ]) {
      const reply = await post(account, path, { ...body, allocations });
      expect([reply.status, reply.body.error]).toEqual([422, 'external_id was already used with another payment']);
    }
    await post(account, `${path}/${payment.id}/release`, {});
    await create(gateway, `${path}/${payment.id}/allocations`, { invoice_id: second.id, amount: 5 }, account);
    const again = await post(account, path, body);
    expect([again.status, again.body.data.id]).toEqual([200, payment.id]);
  });

  test('when a refund is repeated with another invoice, then 422', async () => {
    const { account, invoices } = await ledger(100);
    const [invoice] = invoices;
    const payment = (await post(account, `/api/v1/invoices/${invoice.id}/payments`, { amount: 130 })).body.data;
    const back = { amount: 30, external_id: 'back-1' };
    expect((await post(account, `${path}/${payment.id}/refunds`, back)).status).toBe(201);
    expect((await post(account, `${path}/${payment.id}/refunds`, back)).status).toBe(200);
    const other = await post(account, `${path}/${payment.id}/refunds`, { ...back, invoice_id: invoice.id });
    expect([other.status, other.body.error]).toEqual([422, 'external_id was already used with another refund']);
  });

  test('when the invoice is a draft or cancelled, then 409', async () => {
    const { account, client } = await ledger();
    const draft = await issue(account, client.id, { status: 'Draft' });
    const at = `/api/v1/invoices/${draft.id}/payments`;
    expect((await post(account, at, {})).body.error).toBe('Cannot pay a draft');
    await gateway.patch(`/api/v1/invoices/${draft.id}`, { status: 'Cancelled' }, account);
    expect((await post(account, at, { amount: 5 })).body.error).toBe('Cannot pay a cancelled invoice');
  });
});

describe('a payment that is booked while its sums are read', () => {
  test.each([
    ['the balance of the client', 'aggregate', (_invoice: string, client: string) => `clients/${client}/balance`],
    ['the movements of the invoice', 'find', (invoice: string) => `invoices/${invoice}/payments`],
  ] as const)(
    'when it arrives after the first record of %s, then the response is as it was before',
    async (_what, read, pathOf) => {
      const { account, client, invoices } = await ledger(100);
      const at = `/api/v1/${pathOf(invoices[0].id, client.id)}`;
      const before = (await gateway.get(at, account)).body;
      const really = Payment.collection[read].bind(Payment.collection) as (...given: unknown[]) => {
        toArray: () => unknown;
      };
      jest.spyOn(Payment.collection, read as 'find').mockImplementationOnce((...given) => {
        const toArray = async () => {
          await pay(account, { client_id: client.id, amount: 165 });
          return really(...given).toArray();
        };
        return { toArray } as never;
      });
      expect((await gateway.get(at, account)).body).toEqual(before);
      expect(await balanceOf(account, client)).toMatchObject([{ due: 0, credit: 65 }]);
    },
  );
});

describe('what is overdue', () => {
  test('when an invoice is set to Overdue by hand before its due date, then the balance follows the day', async () => {
    const { account, client, invoices } = await ledger(100);
    const late = await issue(account, client.id, { amount: 40, due_date: '2020-01-31' });
    await gateway.patch(`/api/v1/invoices/${invoices[0].id}`, { status: 'Overdue' }, account);

    expect(await balanceOf(account, client)).toMatchObject([
      { due: 140, overdue: 40, ageing: { not_due: 100, d91_plus: 40 } },
    ]);
    await gateway.patch(`/api/v1/invoices/${late.id}`, { status: 'Sent' }, account);
    expect(await balanceOf(account, client)).toMatchObject([{ overdue: 40, ageing: { not_due: 100, d91_plus: 40 } }]);
  });
});

describe('changes of a payment', () => {
  test('when credit is put on an invoice, then an event carries the payment as it is now', async () => {
    const { account, client, invoices } = await ledger(100);
    const { id } = await pay(account, { client_id: client.id, amount: 100, allocations: [] });
    await create(gateway, `${path}/${id}/allocations`, { invoice_id: invoices[0].id }, account);

    const { data } = (await gateway.get('/api/v1/events?type=payment.updated', account)).body;
    expect(data.map((event: AnyRecord) => event.data)).toEqual([
      (await gateway.get(`${path}/${id}`, account)).body.data,
    ]);
  });

  test('when a payment is voided and entered anew with its true day, then no invoice was ever overpaid on a past day', async () => {
    const day = (ago: number) => addDays(dayIn('UTC'), -ago);
    const { account, client } = await ledger();
    for (const amount of [100, 50]) {
      await issue(account, client.id, { amount, issue_date: day(30), due_date: day(15 + amount / 50) });
    }
    const given = { client_id: client.id, date: day(20) };
    const wrong = await pay(account, { ...given, amount: 100 });
    await post(account, `${path}/${wrong.id}/void`, { reason: 'Misread' });
    await pay(account, { ...given, amount: 90 });

    const asOf = async (ago: number) =>
      (await gateway.get(`/api/v1/clients/${client.id}/balance?as_of=${day(ago)}`, account)).body.data.balances;
    expect(await asOf(10)).toMatchObject([{ due: 50, credit: 90, credit_sources: [{ amount: 90 }] }]);
    expect(await asOf(25)).toMatchObject([{ due: 150, credit: 0 }]);
    expect(await balanceOf(account, client)).toMatchObject([{ due: 60, credit: 0 }]);
  });

  test('when money is refunded, then it is taken from the credit or from the named invoice', async () => {
    const { account, invoices } = await ledger(100);
    const at = `/api/v1/invoices/${invoices[0].id}/payments`;
    const { data: payment } = (await post(account, at, { amount: 120 })).body;
    const refunds = `${path}/${payment.id}/refunds`;
    const problem = async (body: object) => (await post(account, refunds, body)).body.error;
    expect(await problem({ amount: 21 })).toBe('Cannot refund 21.00: 20.00 of the payment is unallocated');
    const { id: invoice_id, invoice_number } = invoices[0];
    expect(await problem({ amount: 101, invoice_id })).toBe(
      `Cannot refund 101.00: 100.00 of the payment is paid on ${invoice_number}`,
    );
    expect((await post(account, refunds, { amount: 20 })).body.data.unallocated).toBe(0);
    const external_id = randomUUID();
    const back = { amount: 30, invoice_id: invoices[0].id, external_id };
    const replies = await Promise.all([1, 2].map(() => post(account, refunds, back)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 201]);
    expect(await read(account, invoices[0])).toMatchObject({
      status: 'Sent',
      amount_paid: 70,
      amount_due: 30,
      paid_on: null,
    });
    const voiding = await post(account, `${path}/${payment.id}/void`, { reason: 'x' });
    expect([voiding.status, voiding.body.error]).toEqual([409, 'Cannot void a payment that was refunded']);
  });

  test('when an invoice is marked as paid, then the amount due is booked as a payment that can be voided', async () => {
    const { account, client, invoices } = await ledger(100);
    await pay(account, { client_id: client.id, amount: 40 });
    const reply = await gateway.patch(`/api/v1/invoices/${invoices[0].id}`, { status: 'Paid' }, account);
    expect(reply.body.data).toMatchObject({ status: 'Paid', amount_paid: 100, amount_due: 0 });
    const [marked] = (await gateway.get(path, account)).body.data;
    expect(marked).toMatchObject({ amount: 60, method: 'other', source: 'marked_paid' });
    await post(account, `${path}/${marked.id}/void`, { reason: 'It did not come' });
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_due: 60 });
  });

  test('when a partly paid invoice is cancelled, then Cancelled, and the money becomes credit', async () => {
    const { account, client, invoices } = await ledger(100);
    const payment = await pay(account, { client_id: client.id, amount: 40 });
    const reply = await gateway.patch(`/api/v1/invoices/${invoices[0].id}`, { status: 'Cancelled' }, account);
    expect([reply.status, reply.body.data]).toMatchObject([
      200,
      { status: 'Cancelled', amount_paid: 0, amount_due: 0 },
    ]);
    expect(await balanceOf(account, client)).toMatchObject([{ due: 0, credit: 40 }]);
    const { data } = (await gateway.get(`${path}/${payment.id}`, account)).body;
    expect(data).toMatchObject({ unallocated: 40, allocations: [{ released_on: expect.any(String) }] });
    expect((await eventsOf(account.id)).slice(-3)).toEqual([
      'payment.released',
      'invoice.updated',
      'invoice.cancelled',
    ]);
  });

  test('when the rest is written off, then Paid if something was paid and Cancelled if not', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    const [paid, unpaid] = invoices;
    await pay(account, { client_id: client.id, amount: 40, allocations: [{ invoice_id: paid.id }] });
    for (const [invoice, status] of [
      [paid, 'Paid'],
      [unpaid, 'Cancelled'],
    ]) {
      const reply = await post(account, `/api/v1/invoices/${invoice.id}/write-off`, { reason: 'Insolvent' });
      expect([reply.status, reply.body.data.status, reply.body.data.amount_due]).toEqual([200, status, 0]);
    }
  });

  test('when a write-off is taken back, then the invoice is due again and can be paid, and both days stay visible', async () => {
    const { account, invoices } = await ledger(100, 100);
    const [partly, whole] = invoices;
    const at = ({ id }: AnyRecord) => `/api/v1/invoices/${id}`;
    await post(account, `${at(partly)}/payments`, { amount: 40 });
    for (const invoice of [partly, whole]) await post(account, `${at(invoice)}/write-off`, { reason: 'Insolvent' });

    for (const [invoice, due] of [
      [partly, 60],
      [whole, 100],
    ]) {
      expect((await gateway.delete(`${at(invoice)}/write-off`, account)).status).toBe(200);
      const sent = { status: 'Sent', amount_written_off: 0, amount_due: due, paid_on: null, cancelled_on: null };
      expect(await read(account, invoice)).toMatchObject(sent);
      const again = await gateway.delete(`${at(invoice)}/write-off`, account);
      expect([again.status, again.body.error]).toEqual([409, `Nothing is written off of ${invoice.invoice_number}`]);
      expect((await post(account, `${at(invoice)}/payments`, {})).status).toBe(201);
      expect(await read(account, invoice)).toMatchObject({ status: 'Paid', amount_paid: 100, amount_written_off: 0 });
    }
    const { movements } = (await gateway.get(`${at(whole)}/payments`, account)).body.data;
    const [writtenOff] = movements.filter(({ kind }: AnyRecord) => kind === 'write_off');
    expect(writtenOff).toMatchObject({ amount: 100, date: dayIn('UTC'), ended_on: dayIn('UTC') });
    expect((await eventsOf(account.id)).filter((type) => type === 'invoice.reopened')).toHaveLength(2);
  });

  test('when one of two write-offs is named, then it alone is taken back; of an invoice cancelled by hand it is 409', async () => {
    const { account, invoices } = await ledger(100);
    const at = `/api/v1/invoices/${invoices[0].id}`;
    for (const amount of [30, 20]) await post(account, `${at}/write-off`, { amount, reason: 'Discount' });
    const { movements } = (await gateway.get(`${at}/payments`, account)).body.data;
    const { id } = movements.find(({ amount }: AnyRecord) => amount === 30);
    const take = (one: string) => gateway.delete(`${at}/write-off?write_off_id=${one}`, account);

    expect((await take(UNKNOWN_ID)).status).toBe(404);
    expect((await take(id)).status).toBe(200);
    expect(await read(account, invoices[0])).toMatchObject({ amount_written_off: 20, amount_due: 80 });
    await gateway.patch(at, { status: 'Cancelled' }, account);
    const late = await gateway.delete(`${at}/write-off`, account);
    expect([late.status, late.body.error]).toEqual([409, 'Cannot take back a write-off of a cancelled invoice']);
  });

  test('when an allocation exceeds what is left of a payment, then 409 and its credit stays; all of it can be used', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    const { id } = await pay(account, { client_id: client.id, amount: 50, allocations: [] });
    const use = (body: object) => post(account, `${path}/${id}/allocations`, body);
    const tooMuch = await use({ invoice_id: invoices[0].id, amount: 60 });
    expect([tooMuch.status, tooMuch.body.error]).toEqual([409, 'Cannot allocate 60.00: 50.00 of PAY-0001 is left']);
    expect((await use({ invoice_id: invoices[0].id })).body.data.unallocated).toBe(0);
    const nothing = await use({ invoice_id: invoices[1].id });
    expect([nothing.status, nothing.body.error]).toEqual([409, 'Nothing is left of PAY-0001']);
  });

  test('when an allocation is released, then it becomes credit, and a second release is 409', async () => {
    const { account, client, invoices } = await ledger(100);
    const payment = await pay(account, { client_id: client.id, amount: 100 });
    const allocation_id = payment.allocations[0].id;
    const release = () => post(account, `${path}/${payment.id}/release`, { allocation_id });
    expect((await release()).body.data.unallocated).toBe(100);
    expect(await read(account, invoices[0])).toMatchObject({ status: 'Sent', amount_due: 100 });
    expect((await release()).body.error).toBe('Allocation was already released');
  });
});

// Discounts for early payment: money that comes in time settles an invoice, to the cent, once, and as long as it stays.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { runs } from '../../support/form.ts';
import { callerOf, startGateway, type TestGateway, type Verbs, verbsOf } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const TODAY = dayIn('UTC');
const DISCOUNTS = [
  { days: 7, percent: 3 },
  { days: 14, percent: 2 },
];

interface World {
  accountId: string;
  api: Verbs;
  client_id: string;
  /** Makes a sent invoice of this total, dated so many days ago. */
  invoice(total: number, fields?: object, daysAgo?: number): Promise<string>;
  read(id: string): Promise<Record<string, unknown>>;
}

async function open(settings: object = {}): Promise<World> {
  const { key, id: accountId } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const account = { early_payment_discounts: DISCOUNTS, currency: 'EUR', allow_backdating: true, ...settings };
  expect((await api.patch('/api/v1/account', account)).status).toBe(200);
  const { id: client_id } = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data;
  return {
    accountId,
    api,
    client_id,
    async invoice(amount, fields = {}, daysAgo = 0) {
      const body = { client_id, amount, due_date: '2099-12-31', status: 'Sent', issue_date: addDays(TODAY, -daysAgo) };
      const { status, body: made } = await api.post('/api/v1/invoices', { ...body, ...fields });
      expect([status, made.error]).toEqual([201, undefined]);
      return made.data.id;
    },
    async read(id) {
      const { data } = (await api.get(`/api/v1/invoices/${id}`)).body;
      const { status, amount_due, amount_paid, amount_written_off, amount_discounted } = data;
      return { status, amount_due, amount_paid, amount_written_off, amount_discounted };
    },
  };
}

const pay = ({ api }: World, id: string, body: object) => api.post(`/api/v1/invoices/${id}/payments`, body);
const settled = (amount_paid: number, amount_discounted: number) => ({
  status: 'Paid',
  amount_due: 0,
  amount_paid,
  amount_written_off: amount_discounted,
  amount_discounted,
});
const open_ = (amount_due: number, amount_paid: number) => ({
  status: 'Sent',
  amount_due,
  amount_paid,
  amount_written_off: 0,
  amount_discounted: 0,
});

describe('money for an invoice of 119.99', () => {
  // 3 % are 3.5997, 2 % are 2.3998.
  test.each<[string, number, number, number, object]>([
    ['comes at once, less 3 %', 0, 116.39, 0, settled(116.39, 3.6)],
    ['is a cent short of that', 0, 116.38, 0, open_(3.61, 116.38)],
    ['comes at once, less 1 %', 0, 118.79, 0, settled(118.79, 1.2)],
    ['comes at once, whole', 0, 119.99, 0, settled(119.99, 0)],
    ['comes on the last day of 3 %', 7, 116.39, 0, settled(116.39, 3.6)],
    ['comes a day later, less 3 %', 8, 116.39, 0, open_(3.6, 116.39)],
    ['comes a day later, less 2 %', 8, 117.59, 0, settled(117.59, 2.4)],
    ['comes on the last day of 2 %', 14, 117.59, 0, settled(117.59, 2.4)],
    ['comes too late', 15, 117.59, 0, open_(2.4, 117.59)],
    ['came in time and is booked later', 30, 116.39, 25, settled(116.39, 3.6)],
  ])('when it %s, then the invoice is settled or not', async (_name, daysAgo, amount, paidAgo, after) => {
    const world = await open();
    const id = await world.invoice(119.99, {}, daysAgo);
    expect((await pay(world, id, { amount, date: addDays(TODAY, -paidAgo) })).status).toBe(201);
    expect(await world.read(id)).toEqual(after);
    expect(await auditLedger(world.accountId)).toEqual([]);
  });
});

test('when two parts come in time, then the second takes the discount of all', async () => {
  const world = await open();
  const id = await world.invoice(100);
  await pay(world, id, { amount: 50 });
  expect(await world.read(id)).toEqual(open_(50, 50));
  await pay(world, id, { amount: 47 });
  expect(await world.read(id)).toEqual(settled(97, 3));
});

test('when one payment is for several invoices, then the discounts of all of them count', async () => {
  const world = await open();
  const ids = [await world.invoice(100), await world.invoice(200), await world.invoice(50)];
  const payment = await world.api.post('/api/v1/payments', { client_id: world.client_id, amount: 339.5 });
  expect(payment.body.data.unallocated).toBe(0);
  expect(await Promise.all(ids.map(world.read))).toEqual([settled(97, 3), settled(194, 6), settled(48.5, 1.5)]);

  const more = [await world.invoice(100), await world.invoice(200)];
  await world.api.post('/api/v1/payments', { client_id: world.client_id, amount: 294 });
  expect(await Promise.all(more.map(world.read))).toEqual([settled(100, 0), settled(194, 6)]);
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when the money goes back, or the payment was a mistake, then all is due again, and late money earns nothing', async () => {
  const world = await open();
  const [voided, refunded] = [await world.invoice(100, {}, 10), await world.invoice(100, {}, 10)];
  const one = await pay(world, voided, { amount: 97, date: addDays(TODAY, -5) });
  const two = await pay(world, refunded, { amount: 97, date: addDays(TODAY, -5) });
  expect(await world.read(refunded)).toEqual(settled(97, 3));

  await world.api.post(`/api/v1/payments/${one.body.data.id}/void`, { reason: 'x' });
  await world.api.post(`/api/v1/payments/${two.body.data.id}/refunds`, { amount: 10, invoice_id: refunded });
  expect(await world.read(voided)).toEqual(open_(100, 0));
  expect(await world.read(refunded)).toEqual(open_(13, 87));

  await pay(world, voided, { amount: 97 });
  await pay(world, refunded, { amount: 10 });
  expect(await world.read(voided)).toEqual(open_(3, 97));
  expect(await world.read(refunded)).toEqual(open_(3, 97));
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when a part is credited after the discount, then the client keeps the discount of the rest', async () => {
  const world = await open();
  const [half, whole] = [await world.invoice(100), await world.invoice(100)];
  await pay(world, half, { amount: 97 });
  await pay(world, whole, { amount: 97 });
  const credit = async (id: string, body: object) =>
    (await world.api.post(`/api/v1/invoices/${id}/credit-notes`, { reason: 'return', ...body })).body.data;

  expect(await credit(half, { amount: 50 })).toMatchObject({ applied_to_invoice: 1.5, unallocated: 48.5 });
  expect(await credit(whole, {})).toMatchObject({ applied_to_invoice: 3, unallocated: 97 });
  expect(await world.read(half)).toEqual(settled(97, 1.5));
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when a part was also given up, then a credit note takes back its share of the discount first', async () => {
  const world = await open();
  const id = await world.invoice(100);
  await world.api.post(`/api/v1/invoices/${id}/write-off`, { amount: 7, reason: 'agreed' });
  await pay(world, id, { amount: 90 });
  const credited = { reason: 'return', amount: 5 };
  const { data } = (await world.api.post(`/api/v1/invoices/${id}/credit-notes`, credited)).body;

  expect(data).toMatchObject({ applied_to_invoice: 5, unallocated: 0 });
  expect(await world.read(id)).toEqual({ ...settled(90, 2.85), amount_written_off: 5 });
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when a part was credited before, then the discount is of what is left', async () => {
  const world = await open();
  const id = await world.invoice(100);
  await world.api.post(`/api/v1/invoices/${id}/credit-notes`, { reason: 'return', amount: 40 });
  await pay(world, id, { amount: 58.2 });
  expect(await world.read(id)).toEqual(settled(58.2, 1.8));
});

test('when a tolerance is set, then both count, each as what it is', async () => {
  const world = await open({ settle_tolerance: 0.1 });
  const id = await world.invoice(100);
  await pay(world, id, { amount: 96.95 });
  expect(await world.read(id)).toMatchObject({ status: 'Paid', amount_written_off: 3.05, amount_discounted: 3 });
});

test('when credit of a credit note pays, then no discount is earned; money that came in time earns it later, too', async () => {
  const world = await open();
  const other = await world.invoice(97);
  await pay(world, other, {});
  const note = await world.api.post(`/api/v1/invoices/${other}/credit-notes`, { reason: 'return' });
  const id = await world.invoice(100);
  await world.api.post(`/api/v1/credit-notes/${note.body.data.id}/allocations`, { invoice_id: id });
  expect(await world.read(id)).toEqual(open_(3, 97));

  const early = await world.invoice(100);
  const kept = await world.api.post('/api/v1/payments', { client_id: world.client_id, amount: 97, allocations: [] });
  await world.api.post(`/api/v1/payments/${kept.body.data.id}/allocations`, { invoice_id: early });
  expect(await world.read(early)).toEqual(settled(97, 3));
});

test('when eight payments meet, then one takes the discount, and nothing is paid twice', async () => {
  const world = await open();
  const id = await world.invoice(100);
  await Promise.all(Array.from({ length: 8 }, () => pay(world, id, { amount: 97 })));
  expect(await world.read(id)).toEqual(settled(97, 3));
  const { data } = (await world.api.get(`/api/v1/clients/${world.client_id}/balance`)).body;
  expect(data.balances).toMatchObject([{ due: 0, credit: 679 }]);
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when client, invoice or account have discounts, then the closest ones count, and a draft can change them', async () => {
  const world = await open();
  const { api, client_id } = world;
  const discounts = async (fields: object = {}) =>
    (await api.get(`/api/v1/invoices/${await world.invoice(100, fields)}`)).body.data.early_payment_discounts;
  expect(await discounts()).toEqual(DISCOUNTS);
  await api.patch(`/api/v1/clients/${client_id}`, { early_payment_discounts: [] });
  expect(await discounts()).toBeNull();
  await api.patch(`/api/v1/clients/${client_id}`, { early_payment_discounts: [{ days: 10, percent: 1.25 }] });
  expect(await discounts()).toEqual([{ days: 10, percent: 1.25 }]);
  expect(await discounts({ early_payment_discounts: [] })).toBeNull();

  const draft = await world.invoice(100, { status: 'Draft' });
  const path = `/api/v1/invoices/${draft}`;
  const changed = await api.patch(path, { early_payment_discounts: DISCOUNTS, status: 'Sent' });
  expect(changed.body.data.early_payment_discounts).toEqual(DISCOUNTS);
  expect((await api.patch(path, { early_payment_discounts: null })).body.error).toBe(
    'Cannot change early_payment_discounts after the invoice was sent',
  );
  const wrong = await api.post('/api/v1/invoices', {
    client_id,
    amount: 1,
    due_date: '2099-12-31',
    early_payment_discounts: [
      { days: 7, percent: 0.125 },
      { days: 7, percent: 100 },
    ],
  });
  expect([wrong.status, Object.keys(wrong.body.details).length]).toEqual([400, 3]);
});

test('when any sums are paid on any days, then an invoice is settled exactly when what is missing is within its discount', async () => {
  const world = await open();
  const total = fc.integer({ min: 1, max: 1_000_000 });
  await fc.assert(
    fc.asyncProperty(
      total,
      fc.integer({ min: 1, max: 9_999 }),
      fc.integer({ min: -2, max: 2 }),
      async (cents, bp, off) => {
        const percent = bp / 100;
        const discount = Math.floor((cents * bp + 5_000) / 10_000);
        const paid = cents - discount + off;
        if (paid < 1 || paid > cents) return;
        const id = await world.invoice(cents / 100, { early_payment_discounts: [{ days: 0, percent }] });
        await pay(world, id, { amount: paid / 100 });
        const left = cents - paid;
        expect(await world.read(id)).toEqual(
          left <= discount ? settled(paid / 100, left / 100) : open_(left / 100, paid / 100),
        );
      },
    ),
    { numRuns: 25 },
  );
  expect(await auditLedger(world.accountId)).toEqual([]);
});

test('when parts of discounted invoices are credited, then no discount is larger than that of what is left', async () => {
  const world = await open();
  const cents = fc.integer({ min: 200, max: 20_000 });
  const shares = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
  const basisPoints = fc.integer({ min: 50, max: 5_000 });
  await fc.assert(
    fc.asyncProperty(cents, basisPoints, fc.integer({ min: 0, max: 30 }), shares, async (total, bp, given, parts) => {
      const id = await world.invoice(total / 100, { early_payment_discounts: [{ days: 0, percent: bp / 100 }] });
      const of = (percent: number) => Math.ceil((total * percent) / 100) / 100;
      if (given > 0) await world.api.post(`/api/v1/invoices/${id}/write-off`, { amount: of(given), reason: 'agreed' });
      const discount = Math.floor((total * bp + 5_000) / 10_000);
      const due = Math.round(((await world.read(id))['amount_due'] as number) * 100);
      if (due - discount < 1) return;
      await pay(world, id, { amount: (due - discount) / 100 });
      for (const part of parts) {
        await world.api.post(`/api/v1/invoices/${id}/credit-notes`, { reason: 'return', amount: of(part) });
      }
    }),
    runs(30),
  );
  expect(await auditLedger(world.accountId)).toEqual([]);
});

describe('quotes and recurring invoices', () => {
  const OWN = [{ days: 10, percent: 4 }];
  const discountsOf = (data: { early_payment_discounts: unknown }) => data.early_payment_discounts;

  test.each([
    ['names none', {}, DISCOUNTS],
    ['has its own', { early_payment_discounts: OWN }, OWN],
    ['has an empty list', { early_payment_discounts: [] }, null],
  ])(
    'when a quote %s, then its invoices have the same, whatever the account has by then',
    async (_what, given, wanted) => {
      const { api, client_id } = await open();
      const made = await api.post('/api/v1/quotes', { client_id, amount: 100, status: 'Sent', ...given });
      expect([made.status, discountsOf(made.body.data)]).toEqual([201, wanted]);
      await api.patch('/api/v1/account', { early_payment_discounts: [{ days: 1, percent: 1 }] });
      const parts = [{ part: 'deposit', percent: 30, accept: true, status: 'Sent' }, { part: 'final' }];
      for (const part of parts) {
        const { status, body } = await api.post(`/api/v1/quotes/${made.body.data.id}/convert`, part);
        expect([status, discountsOf(body.data)]).toEqual([201, wanted]);
      }
    },
  );

  test('when the discounts of an accepted quote change, then it says so, and null takes them away', async () => {
    const { api, client_id } = await open();
    const { id } = (await api.post('/api/v1/quotes', { client_id, amount: 100, status: 'Sent' })).body.data;
    const change = async (body: object) => (await api.patch(`/api/v1/quotes/${id}`, body)).body.data;
    expect((await change({ status: 'Accepted' })).acceptance.changed).toBe(false);
    expect(await change({ early_payment_discounts: OWN })).toMatchObject({
      early_payment_discounts: OWN,
      acceptance: { changed: true },
    });
    expect(discountsOf(await change({ early_payment_discounts: null }))).toBeNull();
  });

  test.each([
    ['names none', {}, null, DISCOUNTS],
    ['has its own', { early_payment_discounts: OWN }, OWN, OWN],
    ['has an empty list', { early_payment_discounts: [] }, [], null],
  ])('when a recurring invoice %s, then each invoice of it has them', async (_what, given, shown, wanted) => {
    const { api, client_id } = await open();
    const line_items = [{ description: 'Support', quantity: 1, rate: 100 }];
    const schedule = { unit: 'month', start_on: TODAY };
    const made = await api.post('/api/v1/recurring-invoices', { client_id, line_items, schedule, ...given });
    expect([made.status, discountsOf(made.body.data)]).toEqual([201, shown]);
    const path = `/api/v1/recurring-invoices/${made.body.data.id}`;
    const run = await api.post(`${path}/run`, {});
    expect([run.status, discountsOf(run.body.data)]).toEqual([201, wanted]);
    const changed = await api.patch(path, { early_payment_discounts: null });
    expect(discountsOf(changed.body.data)).toBeNull();
  });
});

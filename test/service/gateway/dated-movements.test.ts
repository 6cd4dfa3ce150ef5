// The days of movements: an invoice is paid on the day on which the last of its money came, and no money goes back before it came.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const daysAgo = (days: number) => addDays(dayIn('UTC'), -days);

/** A new account whose client has one invoice of 100, issued 30 days ago. */
async function oneInvoice() {
  const account = await gateway.workspace.account();
  const client = await createClient(gateway, {}, account);
  const dates = { issue_date: daysAgo(30), due_date: '2099-01-31' };
  const invoice = await create(
    gateway,
    '/api/v1/invoices',
    { client_id: client.id, amount: 100, status: 'Sent', ...dates },
    account,
  );
  return { account, client, invoice };
}

const make = (account: TestAccount, at: string, body: object = {}) => create(gateway, `/api/v1/${at}`, body, account);
const get = async (account: TestAccount, at: string) => (await gateway.get(`/api/v1/${at}`, account)).body.data;

/** The day on which nothing was due any more, as the balances of past days have it. */
async function reachedOn(account: TestAccount, { id }: AnyRecord): Promise<string | undefined> {
  for (let ago = 0; ago <= 30; ago += 1) {
    const { balances } = await get(account, `clients/${id}/balance?as_of=${daysAgo(ago)}`);
    if (balances[0]?.due > 0) return ago === 0 ? undefined : daysAgo(ago - 1);
  }
  return daysAgo(30);
}

type Step = (account: TestAccount, invoice: AnyRecord) => Promise<unknown>;

const paid =
  (amount: number, ago: number): Step =>
  (account, { id }) =>
    make(account, `invoices/${id}/payments`, { amount, date: daysAgo(ago) });
const credited =
  (amount: number): Step =>
  (account, { id }) =>
    make(account, `invoices/${id}/credit-notes`, { reason: 'goodwill', amount });
const writtenOff =
  (amount: number): Step =>
  (account, { id }) =>
    gateway.post(`/api/v1/invoices/${id}/write-off`, { amount, reason: 'Bank charges' }, account);
const voided: Step = async (account) => {
  const [payment] = await get(account, 'payments?sort=created_at');
  await gateway.post(`/api/v1/payments/${payment.id}/void`, { reason: 'Another client' }, account);
};
const released: Step = async (account) => {
  const [payment] = await get(account, 'payments?sort=created_at');
  await gateway.post(`/api/v1/payments/${payment.id}/release`, {}, account);
};
const used: Step = async (account, { id }) => {
  const [payment] = await get(account, 'payments?unallocated=true&sort=created_at');
  await make(account, `payments/${payment.id}/allocations`, { invoice_id: id });
};

describe('the day on which an invoice was paid', () => {
  test.each<[string, number, Step[]]>([
    ['60 of ten days ago are booked before 40 of twenty days ago', 10, [paid(60, 10), paid(40, 20)]],
    ['40 of twenty days ago are booked before 60 of ten days ago', 10, [paid(40, 20), paid(60, 10)]],
    ['three payments are booked in any order', 5, [paid(30, 9), paid(30, 5), paid(40, 25)]],
    ['the rest of a payment is booked after what was credited', 0, [credited(30), paid(70, 12)]],
    ['the rest of a payment is booked after what was written off', 0, [writtenOff(10), paid(90, 12)]],
    ['the rest of a payment is credited', 0, [paid(70, 12), credited(30)]],
    ['what was paid is credited in part afterwards', 12, [paid(100, 12), credited(30)]],
    ['more is paid than is due', 8, [paid(60, 8), paid(70, 15)]],
    ['credit of an older payment is used', 0, [paid(60, 20), paid(50, 10), released, used]],
  ])('when %s, then it is the day of the last of them: %d days ago', async (_what, ago, steps) => {
    const { account, client, invoice } = await oneInvoice();
    for (const step of steps) await step(account, invoice);

    expect(await get(account, `invoices/${invoice.id}`)).toMatchObject({ status: 'Paid', paid_on: daysAgo(ago) });
    if (!steps.includes(released)) expect(await reachedOn(account, client)).toBe(daysAgo(ago));
  });

  test('when the latest payment is voided and another one takes its place, then the voided one does not count', async () => {
    const { account, invoice } = await oneInvoice();
    for (const step of [paid(60, 2), paid(40, 20), voided, paid(60, 11)]) await step(account, invoice);

    expect(await get(account, `invoices/${invoice.id}`)).toMatchObject({ status: 'Paid', paid_on: daysAgo(11) });
  });
});

describe('the day of a refund', () => {
  const back = (account: TestAccount, at: string, date: string) =>
    gateway.post(`/api/v1/${at}/refunds`, { amount: 1, date }, account);

  test('when money went back before it came, then 400 that names the day, and nothing is stored', async () => {
    const { account, invoice } = await oneInvoice();
    const payment = await make(account, `invoices/${invoice.id}/payments`, { amount: 120, date: daysAgo(7) });
    const at = `payments/${payment.id}`;

    for (const date of ['2020-01-01', daysAgo(8)]) {
      const early = await back(account, at, date);
      expect([early.status, early.body]).toEqual([
        400,
        expect.objectContaining({
          error: 'Validation failed',
          details: { date: [`date must not be before ${daysAgo(7)}`] },
        }),
      ]);
    }
    expect((await get(account, at)).refunds).toEqual([]);
    expect((await back(account, at, daysAgo(7))).status).toBe(201);
    expect((await back(account, at, daysAgo(0))).status).toBe(201);
  });

  test('when money of a credit note went back before the day of the credit note, then 400, also in the request that draws it', async () => {
    const { account, invoice } = await oneInvoice();
    await make(account, `invoices/${invoice.id}/payments`, { date: daysAgo(20) });
    const notes = `invoices/${invoice.id}/credit-notes`;
    const early = await gateway.post(
      `/api/v1/${notes}`,
      { reason: 'return', amount: 30, settle: 'refund', refund: { date: daysAgo(10) } },
      account,
    );
    expect([early.status, early.body.details]).toEqual([
      400,
      { 'refund.date': [`refund.date must not be before ${daysAgo(0)}`] },
    ]);

    const note = await make(account, notes, { reason: 'return', amount: 30 });
    const refunded = await back(account, `credit-notes/${note.id}`, daysAgo(1));
    expect([refunded.status, refunded.body.details]).toEqual([
      400,
      { date: [`date must not be before ${note.issued_on}`] },
    ]);
    expect((await back(account, `credit-notes/${note.id}`, note.issued_on)).status).toBe(201);
  });
});

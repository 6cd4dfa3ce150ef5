// Any sequence of payments, voids, refunds, write-offs and cancellations, two at a time through two gateways, leaves sums that hold.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { auditLedger } from '#libs/billing/ledger-audit.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { count, isFull } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

/** The short form is the same on every machine; another seed may be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_126);
const SEQUENCES = isFull ? 2_000 : 8;
const LONGEST = 25;
const INVOICES = 5;
const LIMIT_MS = isFull ? 10_800_000 : 300_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const which = fc.nat({ max: 9 });
const cents = fc.integer({ min: 1, max: 20_000 });
const step = fc.oneof(
  fc.record({ kind: fc.constant('pay' as const), cents, isSpread: fc.boolean() }),
  fc.record({ kind: fc.constant('payInvoice' as const), which, cents: fc.option(cents) }),
  fc.record({ kind: fc.constant('allocate' as const), which, payment: which, cents: fc.option(cents) }),
  fc.record({ kind: fc.constant('release' as const), payment: which }),
  fc.record({ kind: fc.constant('void' as const), payment: which }),
  fc.record({ kind: fc.constant('refund' as const), payment: which, cents, which: fc.option(which) }),
  fc.record({ kind: fc.constant('writeOff' as const), which, cents: fc.option(cents) }),
  fc.record({ kind: fc.constant('status' as const), which, to: fc.constantFrom('Paid', 'Cancelled') }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface Ledger {
  account: TestAccount;
  client_id: string;
  invoices: string[];
}

test(
  'when any movements follow each other or meet, then every sum holds after each',
  async () => {
    let steps = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: LONGEST }), async (sequence) => {
      const ledger = await open();
      for (let at = 0; at < sequence.length; at += 2) {
        const pair = sequence.slice(at, at + 2);
        const replies = await Promise.all(pair.map((one) => take(ledger, one)));
        // A step may be refused, but it never fails.
        expect(replies.filter((status) => ![200, 201, 400, 404, 409].includes(status))).toEqual([]);
        expect(await auditLedger(ledger.account.id)).toEqual([]);
        steps += pair.length;
      }
      await expectSameMoney(ledger);
      count('sequences of the ledger', 1);
    });
    await fc.assert(property, { seed: SEED, numRuns: SEQUENCES, endOnFailure: !isFull });
    expect(steps).toBeGreaterThan(SEQUENCES);
  },
  LIMIT_MS,
);

async function open(): Promise<Ledger> {
  const account = await gateway.workspace.account();
  const { id: client_id } = await createClient(gateway, {}, account);
  const invoices: string[] = [];
  for (let index = 0; index < INVOICES; index += 1) {
    const body = {
      client_id,
      amount: 50 + 10 * index,
      tax_rate: 19,
      due_date: `2099-0${index + 1}-01`,
      status: 'Sent',
    };
    invoices.push((await create(gateway, '/api/v1/invoices', body, account)).id);
  }
  return { account, client_id, invoices };
}

async function take({ account, client_id, invoices }: Ledger, one: Step): Promise<number> {
  const invoice = (index: number) => invoices[index % invoices.length];
  const money = (amount: number | null) => (amount === null ? {} : { amount: amount / 100 });
  const post = async (path: string, body: object) => (await gateway.post(`/api/v1/${path}`, body, account)).status;
  if (one.kind === 'pay') {
    return post('payments', { client_id, ...money(one.cents), ...(one.isSpread ? {} : { allocations: [] }) });
  }
  if (one.kind === 'payInvoice') return post(`invoices/${invoice(one.which)}/payments`, money(one.cents));
  if (one.kind === 'writeOff') {
    return post(`invoices/${invoice(one.which)}/write-off`, { ...money(one.cents), reason: 'x' });
  }
  if (one.kind === 'status') {
    const change = { status: one.to };
    return (await gateway.patch(`/api/v1/invoices/${invoice(one.which)}`, change, account)).status;
  }
  const payments = (await gateway.get('/api/v1/payments?limit=100&sort=created_at', account)).body.data as AnyRecord[];
  const payment = payments[one.payment % Math.max(1, payments.length)];
  if (!payment) return 404;
  if (one.kind === 'void') return post(`payments/${payment.id}/void`, { reason: 'x' });
  if (one.kind === 'release') return post(`payments/${payment.id}/release`, {});
  const invoice_id = one.which === null ? undefined : invoice(one.which);
  if (one.kind === 'allocate') return post(`payments/${payment.id}/allocations`, { invoice_id, ...money(one.cents) });
  return post(`payments/${payment.id}/refunds`, { invoice_id, ...money(one.cents) });
}

/** What came, less what went back, is on invoices or is credit; the client's balance says the same. */
async function expectSameMoney({ account, client_id }: Ledger) {
  const payments = await Payment.find({ account_id: account.id, status: 'Received' }).lean();
  const invoices = await Invoice.find({ account_id: account.id }).lean();
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const kept = sum(payments.map(({ amount, refunds }) => amount - sum(refunds.map((back: AnyRecord) => back.amount))));
  const credit = sum(payments.map(({ unallocated }) => unallocated));
  expect(sum(invoices.map(({ amount_paid }) => amount_paid)) + credit).toBe(kept);
  const { balances } = (await gateway.get(`/api/v1/clients/${client_id}/balance`, account)).body.data;
  expect(Math.round((balances[0]?.credit ?? 0) * 100)).toBe(credit);
}

// Records that grow with every movement have a bound, so that their events, pages, replays and erasure have one.
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const MIB = 2 ** 20;

/** A new account with a payment of 1,000 and a credit note of 1,000, both of which are credit. */
async function creditOf(resource: 'payments' | 'credit-notes') {
  const account = await gateway.workspace.account();
  const { id: client_id } = await createClient(gateway, {}, account);
  const make = (path: string, body: object) => create(gateway, `/api/v1/${path}`, body, account);
  if (resource === 'payments') {
    return { account, client_id, record: await make('payments', { client_id, amount: 1_000, allocations: [] }) };
  }
  const invoice = await make('invoices', { client_id, amount: 1_000, due_date: '2099-01-31', status: 'Sent' });
  await make(`invoices/${invoice.id}/payments`, {});
  return { account, client_id, record: await make(`invoices/${invoice.id}/credit-notes`, { reason: 'return' }) };
}

/** Stores refunds of the record, of a cent each. */
async function grow(resource: string, account: TestAccount, { id }: AnyRecord, count: number, reference: string) {
  const records = resource === 'payments' ? Payment : CreditNote;
  const refund = { amount: 1, date: '2026-11-20', method: 'other', reference };
  const refunds = Array.from({ length: count }, () => ({ _id: storedId(newId()), ...refund }));
  await driverOf(records).updateOne(
    { _id: storedId(id), account_id: storedId(account.id) },
    { $set: { refunds, unallocated: 100_000 - count } as object },
  );
}

describe.each([
  ['payments', 'A payment'],
  ['credit-notes', 'A credit note'],
] as const)('refunds of %s', (resource, noun) => {
  const refund = (account: TestAccount, { id }: AnyRecord, body: object = {}) =>
    gateway.post(`/api/v1/${resource}/${id}/refunds`, { amount: 1, ...body }, account);

  test('when there are 500, then the next is 409, and nothing is stored', async () => {
    const { account, record } = await creditOf(resource);
    await grow(resource, account, record, 499, 'x');

    expect((await refund(account, record)).status).toBe(201);
    const more = await refund(account, record);
    expect([more.status, more.body.error]).toEqual([409, `${noun} can have at most 500 refunds`]);
    const { data } = (await gateway.get(`/api/v1/${resource}/${record.id}`, account)).body;
    expect([data.refunds.length, data.unallocated]).toEqual([500, 994.01]);
  });

  test('when a reference has more than 200 characters, then 400', async () => {
    const { account, record } = await creditOf(resource);

    expect((await refund(account, record, { reference: 'é'.repeat(200) })).status).toBe(201);
    const longer = await refund(account, record, { reference: 'é'.repeat(201) });
    expect([longer.status, Object.keys(longer.body.details)]).toEqual([400, ['reference']]);
  });

  test('when it would have more bytes than an event of it can have, then 409, and it stays as it was', async () => {
    const { account, record } = await creditOf(resource);
    await grow(resource, account, record, 400, '字'.repeat(200));
    const before = (await gateway.get(`/api/v1/${resource}/${record.id}`, account)).body.data;

    const reply = await refund(account, record);
    const error = `${noun} can have at most 256 KiB with all that belongs to it`;
    expect([reply.status, reply.body.error]).toEqual([409, error]);
    expect((await gateway.get(`/api/v1/${resource}/${record.id}`, account)).body.data).toEqual(before);
  });
});

test('when the events of a client have many bytes, then they are erased in writes of few', async () => {
  const { account, client_id } = await creditOf('payments');
  const events = driverOf(Event as never);
  const [payment] = await Event.find({ account_id: account.id, type: 'payment.received' }).lean();
  const { data, ...rest } = JSON.parse(payment?.body ?? '');
  const body = JSON.stringify({ ...rest, data: { ...data, note: 'x'.repeat(MIB / 2) } });
  const large = Array.from({ length: 40 }, (_, index) => ({ ...payment, _id: newId(), body, sequence: 1_000 + index }));
  await Event.insertMany(large);
  const writes = jest.spyOn(events, 'bulkWrite');

  expect((await gateway.post(`/api/v1/clients/${client_id}/anonymise`, undefined, account)).status).toBe(200);
  const sizes = writes.mock.calls.map(([operations]) => JSON.stringify(operations).length);
  writes.mockRestore();
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(3 * MIB);
  const bodies = (await Event.find({ account_id: account.id }).lean()).map((event) => event.body);
  expect(bodies.filter((one) => one.includes('ada@example.com'))).toEqual([]);
});

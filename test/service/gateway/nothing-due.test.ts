// An invoice with nothing due is never overdue: not in reads, not in filters, not in events.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { storedId } from '#libs/models/tenant.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createClient, eventsOf } from '../../support/records.ts';
import { emitExpirations } from '../../support/rounds.ts';

const path = '/api/v1/invoices';
const yesterday = addDays(dayIn('UTC'), -1);
const line = { description: 'x', quantity: 1, rate: 100 };
const ways = [
  ['its amount is 0', { amount: 0 }],
  ['its discount is 100 %', { line_items: [{ ...line, discount: 100 }] }],
  ['its lines cancel out', { line_items: [line, { ...line, quantity: -1 }], tax_rate: 19 }],
] as const;

let gateway: TestGateway;
let account: { id: string; key: string };
let client_id: string;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client_id = (await createClient(gateway, {}, account)).id;
});

const make = (fields: object) =>
  create(gateway, path, { client_id, due_date: yesterday, status: 'Sent', ...fields }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const statusOf = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data.status;
const found = async (status: string) => {
  const { data, pagination } = (await gateway.get(`${path}?status=${status}`, account)).body;
  expect(pagination.total).toBe(data.length);
  return data.map(({ id }: AnyRecord) => id);
};

describe.each(ways)('when %s', (_what, fields) => {
  test('and its due date has passed, then every read shows Sent, and nothing is announced', async () => {
    const late = await make({ amount: 1 });
    const { id } = await make(fields);
    await emitExpirations();

    expect([await statusOf(late.id), await statusOf(id)]).toEqual(['Overdue', 'Sent']);
    expect([await found('Overdue'), await found('Sent')]).toEqual([[late.id], [id]]);
    expect((await eventsOf(account.id)).filter((type) => type === 'invoice.overdue')).toHaveLength(1);
  });

  test('and it was a draft, then neither sending it nor another due date schedules an expiry event', async () => {
    const { id } = await make({ ...fields, status: 'Draft' });
    for (const body of [
      { status: 'Sent' },
      { due_date: addDays(yesterday, -1) },
      { due_date: addDays(yesterday, 9) },
    ]) {
      expect((await patch(id, body)).body.data.status).toBe('Sent');
    }

    expect((await Invoice.findOne({ account_id: account.id, _id: id }).lean())?.expires_on).toBeUndefined();
  });

  test('and it is set to Overdue, then 409; it can be paid and cancelled', async () => {
    const [one, other] = [await make(fields), await make(fields)];

    expect(answerOf(await patch(one.id, { status: 'Overdue' }))).toEqual([
      409,
      expect.objectContaining({ error: 'Cannot set status Overdue: nothing is due' }),
    ]);
    expect((await patch(one.id, { status: 'Paid' })).status).toBe(200);
    expect((await patch(other.id, { status: 'Cancelled' })).status).toBe(200);
    expect(await eventsOf(account.id)).not.toContain('payment.recorded');
  });
});

test('when a draft is sent and its amount set to 0 in one request, then nothing is due', async () => {
  const { id } = await make({ amount: 100, status: 'Draft' });
  await patch(id, { amount: 0, status: 'Sent' });
  await emitExpirations();

  expect(await statusOf(id)).toBe('Sent');
  expect(await eventsOf(account.id)).not.toContain('invoice.overdue');
});

test('when an invoice with nothing due has an expiry day nevertheless, then nothing is announced', async () => {
  const { id } = await make({ amount: 0 });
  await Invoice.collection.updateOne({ _id: storedId(id) as never }, { $set: { expires_on: yesterday } });
  await emitExpirations();

  expect(await statusOf(id)).toBe('Sent');
  expect(await eventsOf(account.id)).not.toContain('invoice.overdue');
});

// Fields that only the service may set, on every write: a value from the caller is never stored.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { count, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { storedRecords } from '../../support/stored.ts';
import { fields, senderOf, writes } from './json-fields.ts';

const FORGED = 'forged-7f3a9c';
const NUMBER = 873_465_123;
const ID = '0192e0a0-dead-7bad-8bad-0123456789ab';
const forged: Record<string, unknown> = {
  account_id: ID,
  id: ID,
  _id: ID,
  number: NUMBER,
  quote_number: `QUO-${FORGED}`,
  invoice_number: `INV-${FORGED}`,
  created_at: '1987-06-05T04:03:02.001Z',
  updated_at: '1987-06-05T04:03:02.001Z',
  __v: NUMBER,
  total_seconds: NUMBER,
  seconds: NUMBER,
  amount_paid: NUMBER,
  tax_amount: NUMBER,
  total: NUMBER,
  subtotal: NUMBER,
  client: { id: ID, name: FORGED },
  project: { id: ID, name: FORGED },
  task: { id: ID, name: FORGED },
  parties: { issuer: { name: FORGED }, client: { name: FORGED } },
  invoice_id: ID,
  lock_version: NUMBER,
  search: FORGED,
  expires_on: '1987-06-05',
  secret: `whsec_${FORGED}`,
  slot: NUMBER,
  failing_since: '1987-06-05T04:03:02.001Z',
  disabled_reason: FORGED,
  hash: FORGED,
  start: FORGED,
  key: FORGED,
  last_used_at: '1987-06-05T04:03:02.001Z',
  revoked_at: '1987-06-05T04:03:02.001Z',
  sequence: NUMBER,
  due_at: '1987-06-05T04:03:02.001Z',
  request_id: FORGED,
  $set: { status: FORGED },
  $unset: { account_id: FORGED },
};
const TRACES = [FORGED, String(NUMBER), ID, '1987-06-05'];

let gateway: TestGateway;
beforeAll(async () => {
  const print = () => Promise.resolve({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
  gateway = await startGateway({ print: print as never });
});
afterAll(() => gateway.close());

describe.each(sampled(writes).map((row) => [row.operation, row] as const))('%s', (operation, row) => {
  test('when a body sets fields that only the service may set, then no trace of it is returned or stored', async () => {
    const own = new Set(
      fields.filter((field) => field.row === row && field.path.length === 1).map(({ path }) => path[0]),
    );
    const more = Object.fromEntries(Object.entries(forged).filter(([name]) => !own.has(name)));
    const { send, bodyAnd } = await senderOf(gateway, row);
    const reply = await send(bodyAnd(more));

    // The example of a batch names documents that do not exist.
    if (operation !== 'createDocuments') expect([reply.status, reply.status < 300]).toEqual([reply.status, true]);
    const visible = `${JSON.stringify(reply.body)}\n${await storedRecords()}`;
    expect(TRACES.filter((trace) => visible.includes(trace))).toEqual([]);
    count('forged fields', Object.keys(more).length);
  });
});

test('when a forbidden field is stored, then the check finds it', async () => {
  const { send, bodyAnd } = await senderOf(gateway, writes.find(({ operation }) => operation === 'addClient') as never);
  await send(bodyAnd({}).replace('{', `{"address":"${FORGED}",`));

  expect(await storedRecords()).toContain(FORGED);
});

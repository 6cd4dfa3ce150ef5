// No record that an account stores ends a service: gateway, scheduler and webhook service meet a full account with a small heap.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { driverOf } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { eventually } from '../../support/eventually.ts';
import { type FullAccount, fillAccount, LINE_TEXT, PAGE } from '../../support/full-account.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { spawnService } from '../../support/spawn-service.ts';

/** Megabytes of old objects, about half of what the manifests give a container. */
const HEAP = { gateway: 384, scheduler: 128, webhooks: 256 };
/** Copies of each request that are sent at once. */
const AT_ONCE = 4;
/** A round over the full account on a busy machine. Only ends a hang. */
const ROUND_LIMIT_MS = 120_000;
const heapOf = (service: keyof typeof HEAP) => ({ NODE_OPTIONS: `--max-old-space-size=${HEAP[service]}` });

let gateway: TestGateway;
let full: FullAccount;
beforeAll(async () => {
  gateway = await startGateway();
  full = await fillAccount(gateway);
});
afterAll(() => gateway.close());

test('when the heaviest reads and previews come together, then each is answered, and the gateway lives', async () => {
  const service = await spawnGateway(gateway.workspace, full.account.key, heapOf('gateway'));
  const { ids, clientId } = full;
  const gathered = { client_id: clientId, group_by: 'none', line_text: LINE_TEXT, missing_rate: 'zero' };
  const reads = [
    `/api/v1/clients/${clientId}/balance?as_of=2026-02-01`,
    `/api/v1/clients/${clientId}/balance`,
    `/api/v1/invoices/${ids['sent-invoices']}/payments`,
    `/api/v1/invoices/${ids['timed-invoices']}/time`,
    `/api/v1/payments?limit=${PAGE}`,
    `/api/v1/credit-notes?limit=${PAGE}`,
  ];
  const replies = await Promise.all([
    ...reads.flatMap((path) => Array.from({ length: AT_ONCE }, () => service.send('GET', path))),
    ...Array.from({ length: AT_ONCE }, () =>
      service.send('POST', '/api/v1/invoices/from-time?dry_run=true', { body: gathered }),
    ),
  ]);

  // 422: the client has more movements than a past day adds up. 429 and 503: others of the account were still being answered.
  expect(replies.map(({ status }) => status).filter((status) => ![200, 422, 429, 503].includes(status))).toEqual([]);
  expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(AT_ONCE * 3);
  expect((await service.send('GET', `/api/v1/clients/${clientId}`)).status).toBe(200);
  expect(await service.stop()).toBe(0);
});

test('when a recurring invoice bills all of it, then its occurrence is made or its failure recorded, and the scheduler lives', async () => {
  const _id = storedId(ids('recurring-invoices'));
  const due = { next_on: '2026-02-01', 'schedule.start_on': '2026-02-01', next_index: 0, line_items: null };
  await driverOf(RecurringInvoice).updateOne({ _id, account_id: storedId(full.account.id) }, { $set: due } as never);
  const service = await spawnService('scheduler', gateway.workspace, heapOf('scheduler'));
  await eventually(async () => {
    const facts = { projection: { next_index: 1, last_error: 1 } };
    const record = await mongoose.connection.collection('recurring_invoices').findOne({ _id: _id as never }, facts);
    return (record?.['next_index'] as number) > 0 || record?.['last_error'] !== undefined;
  }, ROUND_LIMIT_MS);

  expect(await service.stop()).toBe(0);
});

test('when all its events wait, then the webhook service makes their deliveries, and lives', async () => {
  const service = await spawnService('webhooks', gateway.workspace, heapOf('webhooks'));
  const waiting = { account_id: storedId(full.account.id), due_at: { $exists: true } };
  const events = mongoose.connection.collection('events');
  await eventually(async () => (await events.countDocuments(waiting as never)) === 0, ROUND_LIMIT_MS);

  expect(await service.stop()).toBe(0);
});

function ids(kind: string): string {
  return full.ids[kind] as string;
}

// An account that has reached its quota keeps nothing more, whichever operation it calls.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { Counter } from '#libs/models/counter.ts';
import { storedId } from '#libs/models/tenant.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make, namesRecord } from '../../support/operations.ts';
import { create } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';
import type { TestAccount } from '../../support/workspace.ts';

const QUOTA = 2 ** 30;
/** A record that only notes what happened to it may grow by so much. */
const NOTED_BYTES = 256;

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway({ quotas: { records: QUOTA, files: QUOTA } });
  account = await gateway.workspace.account();
});
afterAll(() => gateway.close());

/** Reasons why an operation may keep something more: the records are few, or the law asks for the change. */
const BOUNDED: Readonly<Record<string, string>> = {
  createApiKey: 'an account has 100 keys that work, and the latest 5,000 that ended',
  rotateApiKey: 'an account has 100 keys that work, and the latest 5,000 that ended',
  createWebhook: 'an account has 20 endpoints',
  createPortalLink: 'an account has 100 links of an hour',
  createDocuments: 'an account has 100 batches, and their files have a quota of their own',
  anonymiseClient: 'the law asks for it',
  replayWebhook: 'an event has one delivery for each endpoint',
  replayEvent: 'an event has one delivery for each endpoint',
};

const changes = routeTable.filter(({ method, storesNothing }) => !['get', 'delete'].includes(method) && !storesNothing);

const setStored = (stored_bytes: number) =>
  Counter.collection.updateOne({ _id: storedId(account.id) as never }, { $set: { stored_bytes } }, { upsert: true });

/** Returns the bytes that the account keeps, by collection. */
async function keptBytes(): Promise<Map<string, number>> {
  const { db } = mongoose.connection;
  const collections = (await db?.collections()) ?? [];
  const sizes = await Promise.all(
    collections.map(async (collection) => {
      const [sum] = await collection
        .aggregate([
          { $match: { account_id: storedId(account.id) } },
          { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
        ])
        .toArray();
      return [collection.collectionName, Number(sum?.['bytes'] ?? 0)] as const;
    }),
  );
  return new Map(sizes);
}

describe.each(sampled(changes, 16).map((row) => [row.operation, row] as const))('%s', (operation, row) => {
  test('when the quota is reached, then it is 409, or nothing more is kept', async () => {
    await setStored(0);
    const body = await bodyFor(gateway, operation, account);
    const id = namesRecord(row.path) ? await make(gateway, kindOf(row.path), account, 'own-') : '';
    await setStored(QUOTA);
    const before = await keptBytes();
    const reply = await gateway.call(row.method.toUpperCase(), filledPath(row.path, id), { key: account.key, body });
    const grown = [...(await keptBytes())].flatMap(([name, bytes]) =>
      bytes - (before.get(name) ?? 0) > NOTED_BYTES ? [`${name} ${bytes - (before.get(name) ?? 0)}`] : [],
    );
    expect([reply.status, grown]).toEqual([reply.status, operation in BOUNDED ? expect.any(Array) : []]);
  });
});

test('when the quota is reached, then a draft takes no larger files, and 409 names the quota', async () => {
  await setStored(0);
  const id = await make(gateway, 'invoices', account, 'own-');
  await setStored(QUOTA - 2 ** 20);
  const put = (bytes: number) => {
    const attachments = [{ name: 'a.csv', file: Buffer.alloc(bytes, 'x').toString('base64') }];
    return gateway.call('PUT', `/api/v1/invoices/${id}/attachments`, { key: account.key, body: { attachments } });
  };

  expect((await put(2 ** 19)).status).toBe(200);
  const larger = await put(2 * 2 ** 20);
  expect([larger.status, larger.body.code]).toEqual([409, 'quota_exceeded']);
  expect((await put(2 ** 10)).status).toBe(200);
});

test('when the quota is reached, then responses of requests that change nothing are not kept for their Idempotency-Keys either', async () => {
  await setStored(0);
  const client_id = await make(gateway, 'clients', account, 'own-');
  const line_items = Array.from({ length: 30 }, () => ({ description: 'x'.repeat(400), quantity: 1, rate: 1 }));
  const path = '/api/v1/recurring-invoices';
  const body = { client_id, line_items, schedule: { unit: 'month', start_on: '2031-01-31' } };
  const { id } = await create(gateway, path, body, account);
  const pause = (headers: Record<string, string> = {}) =>
    gateway.post(`${path}/${id}/pause`, undefined, { key: account.key, headers });
  expect((await pause()).status).toBe(200);
  await setStored(QUOTA);
  const before = await keptBytes();

  expect((await pause()).status).toBe(200);
  const kept = await pause({ 'Idempotency-Key': 'again' });
  expect([kept.status, kept.body.code]).toEqual([409, 'quota_exceeded']);
  expect(await keptBytes()).toEqual(before);
});

// API keys are cached for a second, and no gateway accepts a key after it was revoked.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { create } from '../../support/records.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';

let gateway: TestGateway;
let other: SpawnedService;
beforeAll(async () => {
  gateway = await startGateway();
  other = await spawnService('gateway', gateway.workspace, { RATE_LIMIT_REQUESTS: '10000000' });
});
afterAll(async () => {
  await other.stop();
  await gateway.close();
});

const makeKey = () => create(gateway, '/api/v1/keys', { name: 'robot', scopes: ['clients:read'] });

/** Calls the other gateway until it rejects the key. @returns a function that stops this and gives the start of each accepted request. */
async function keepCalling(key: string) {
  const call = callerOf(other.url, key);
  const acceptedAt: number[] = [];
  let isEnding = false;
  const loop = async () => {
    while (!isEnding) {
      const at = performance.now();
      const { status } = await call('GET', '/api/v1/clients');
      // A caller that goes on with a rejected key is blocked for a while.
      if (status !== 200) break;
      acceptedAt.push(at);
    }
  };
  const loops = Promise.all([loop(), loop()]);
  await eventually(() => acceptedAt.length > 0);
  return async () => {
    isEnding = true;
    await loops;
    return acceptedAt;
  };
}

test.each([
  ['DELETE', (id: string) => gateway.delete(`/api/v1/keys/${id}`)],
  ['rotate', (id: string) => gateway.post(`/api/v1/keys/${id}/rotate`, { overlap_seconds: 0 })],
  ['keys revoke', (id: string) => runAdmin(['keys', 'revoke', id], { MONGODB_URI: gateway.workspace.mongodbUri })],
])(
  'when %s ends a key that another gateway is busy with, then no request after the response is accepted',
  async (_how, end) => {
    const { id, key } = await makeKey();
    const stopCalling = await keepCalling(key);
    await end(id);
    const answeredAt = performance.now();
    expect((await callerOf(other.url, key)('GET', '/api/v1/clients')).status).toBe(401);
    const acceptedAt = await stopCalling();

    expect(acceptedAt.filter((at) => at > answeredAt)).toEqual([]);
  },
);

test('when many requests have the same key, then it is not read for every request', async () => {
  const { key } = await makeKey();
  const { db } = ApiKey.collection.conn;
  const reads = async () =>
    db?.collection('system.profile').countDocuments({ ns: `${db.databaseName}.api_keys`, op: 'query' });
  await db?.command({ profile: 2, slowms: 0 });
  try {
    for (let count = 0; count < 50; count += 1) {
      expect((await gateway.get('/api/v1/clients', { key })).status).toBe(200);
    }
  } finally {
    await db?.command({ profile: 0 });
  }
  expect(await reads()).toBeLessThan(50);
});

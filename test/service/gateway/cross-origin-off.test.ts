// Without CORS_ORIGINS, no page of another origin may read a response.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test('when no origins are configured, then no response has CORS headers and a preflight is 405', async () => {
  const headers = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'GET' };
  const asked = await gateway.call('OPTIONS', '/api/v1/clients', { key: undefined, headers });
  const read = await gateway.get('/api/v1/clients', { headers });

  expect([asked.status, read.status]).toEqual([405, 200]);
  for (const reply of [asked, read]) {
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

// CORS is off unless CORS_ORIGINS names origins, and then applies to every route and every kind of response.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfig } from '../../../services/gateway/config.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { createClient } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';

const APP = 'https://app.example.com';
const OTHER = 'https://evil.example.com';

let open: TestGateway;
beforeAll(async () => {
  open = await startGateway({ corsOrigins: [APP, 'http://localhost:3000'] });
});
afterAll(() => open.close());

const preflight = (gateway: TestGateway, path: string, method: string, origin: string) =>
  gateway.call('OPTIONS', path, {
    key: undefined,
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization',
    },
  });

test.each(sampled(routeTable).map((row) => [row.operation, row] as const))(
  'when a browser sends a preflight for %s from an allowed origin, then the call is permitted',
  async (_operation, row) => {
    const { status, headers } = await preflight(open, row.path, row.method.toUpperCase(), APP);

    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, APP]);
    expect(headers.get('access-control-allow-methods')).toContain(row.method.toUpperCase());
    const asked = ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'];
    expect(headers.get('access-control-allow-headers')?.toLowerCase().split(',')).toEqual(
      expect.arrayContaining(asked),
    );
    expect([headers.get('access-control-allow-credentials'), headers.get('vary')]).toEqual([null, 'Origin']);
    expect(headers.get('x-request-id')).toMatch(/./);
  },
);

test('when a page of an allowed origin calls, then it can read the response and the exposed headers', async () => {
  const { id } = await createClient(open);
  for (const path of ['/api/v1/clients', `/api/v1/clients/${id}`, '/api/v1/clients/none', '/api/v1/nothing']) {
    const { headers } = await open.get(path, { headers: { Origin: APP } });
    const exposed = headers.get('access-control-expose-headers')?.split(',') ?? [];

    expect([path, headers.get('access-control-allow-origin')]).toEqual([path, APP]);
    expect(exposed).toEqual(
      expect.arrayContaining([
        ...['ETag', 'Link', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
        ...['Idempotent-Replayed', 'X-Document-Warnings', 'Content-Disposition'],
      ]),
    );
  }
  const stranger = await open.get('/api/v1/clients', { key: 'x', headers: { Origin: APP } });
  expect([stranger.status, stranger.headers.get('access-control-allow-origin')]).toEqual([401, APP]);
});

test('when a page of another origin calls, then the response has no CORS permission', async () => {
  for (const origin of [OTHER, 'null', `${APP}.evil.example`, 'http://app.example.com']) {
    const asked = await preflight(open, '/api/v1/clients', 'GET', origin);
    const read = await open.get('/api/v1/clients', { headers: { Origin: origin } });

    for (const { headers } of [asked, read]) {
      expect([origin, headers.get('access-control-allow-origin')]).toEqual([origin, null]);
      expect(headers.get('vary')).toContain('Origin');
    }
  }
});

test('when the document or a guide is requested, then its response says that it depends on the origin', async () => {
  for (const path of ['/openapi.json', '/docs', '/docs/guides/webhooks.md', '/.well-known/billhook-keys']) {
    const { headers } = await open.call('HEAD', path, { headers: { Origin: APP } });

    expect([path, headers.get('access-control-allow-origin')]).toEqual([path, APP]);
    expect(headers.get('vary')?.split(', ')).toEqual(['Origin', 'Accept-Encoding']);
  }
});

test('when OPTIONS is not a preflight, then 405 as without CORS', async () => {
  expect((await open.call('OPTIONS', '/api/v1/clients')).status).toBe(405);
});

test('when a configured origin is malformed, then the configuration error names it', () => {
  const env = { MONGODB_URI: 'mongodb://a/b', REDIS_URL: 'redis://a', SECRET_KEY: 'A'.repeat(43) };
  const config = readConfig({ ...env, CORS_ORIGINS: ` ${APP}, http://localhost:3000 ` });

  expect(config.CORS_ORIGINS).toContain(APP);
  expect(readConfig(env).CORS_ORIGINS).toBe('');
  for (const wrong of [
    '*',
    'app.example.com',
    `${APP}/`,
    `${APP}/path`,
    'null',
    'ftp://app.example.com',
    'https://App.example.com',
    'https://*.example.com',
    'http://localhost:*',
  ]) {
    expect(() => readConfig({ ...env, CORS_ORIGINS: `${APP},${wrong}` })).toThrow(
      `CORS_ORIGINS must list origins such as https://app.example.com, not ${wrong}`,
    );
  }
});

// Every GET over HTTP: HEAD says the same without a body and changes nothing, 304 keeps the headers, and a browser may read all of them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make, namesRecord, neededQuery, withNeeded } from '../../support/operations.ts';
import { routeTable } from '../../support/route-table.ts';
import { storedRecords } from '../../support/stored.ts';

const APP = 'https://app.example.com';
const reads = routeTable.filter(({ method }) => method === 'get');
/** Headers that a caller of the API has no use for, or that browsers always show to a page. */
const UNREAD = [
  ...[
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
    'transfer-encoding',
    'vary',
  ],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'content-security-policy'],
  ...['cross-origin-opener-policy', 'cross-origin-resource-policy', 'origin-agent-cluster', 'referrer-policy'],
  ...['strict-transport-security', 'x-content-type-options', 'x-dns-prefetch-control', 'x-download-options'],
  ...['x-frame-options', 'x-permitted-cross-domain-policies', 'x-xss-protection'],
];
/** Headers of one response alone. */
const OF_ONE = ['date', 'x-request-id'];
/** Headers that are known only after a file was made, which HEAD does not do (RFC 9110, 9.3.2). */
const OF_BYTES = ['content-length', 'repr-digest', 'transfer-encoding'];
/** Headers that 304 has like 200 (RFC 9110, 15.4.5). */
const OF_304 = ['cache-control', 'etag', 'vary'];

let gateway: TestGateway;
beforeAll(async () => {
  const print = async () => ({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
  gateway = await startGateway({ corsOrigins: [APP], print });
});
afterAll(() => gateway.close());

const without = (headers: Headers, names: readonly string[]) =>
  Object.fromEntries([...headers].filter(([name]) => !names.includes(name)));

test.each(sampled(reads).map((row) => [row.operation, row] as const))(
  'when %s is asked for by HEAD, or again with its tag, then the headers are those of GET, and nothing is stored',
  async (operation, row) => {
    const id = namesRecord(row.path) ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    await bodyFor(gateway, operation, gateway.account);
    const query = withNeeded('', await neededQuery(gateway, operation, gateway.account));
    const path = `${filledPath(row.path, id)}?${query}`;
    const ask = (method: string, headers: Record<string, string> = {}) =>
      gateway.call(method, path, { headers: { Origin: APP, ...headers } });

    const before = await storedRecords(['last_used_at']);
    const first = await ask('HEAD');
    expect(await storedRecords(['last_used_at'])).toBe(before);
    const whole = await ask('GET');
    const head = await ask('HEAD');

    expect([whole.status, first.status, head.status]).toEqual([200, 200, 200]);
    expect(without(head.headers, [...OF_ONE, ...OF_BYTES])).toEqual(without(whole.headers, [...OF_ONE, ...OF_BYTES]));
    const exposed = String(whole.headers.get('access-control-expose-headers')).toLowerCase().split(',');
    expect(exposed).toEqual(expect.arrayContaining(Object.keys(without(whole.headers, UNREAD))));
    expect(whole.headers.get('vary')).toContain('Origin');
    const tag = whole.headers.get('etag');
    if (!tag || row.omitFromTag) return;
    const again = await ask('GET', { 'If-None-Match': tag });
    expect(again.status).toBe(304);
    for (const name of OF_304) expect([name, again.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    expect((await ask('GET', { 'If-None-Match': '"other"' })).status).toBe(200);
  },
);

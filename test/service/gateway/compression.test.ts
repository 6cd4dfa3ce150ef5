// Lists are compressed when the caller accepts it, and nothing else is.
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { createClient } from '../../support/records.ts';

let gateway: TestGateway;
let id: string;
beforeAll(async () => {
  gateway = await startGateway({
    print: async () => ({ bytes: Buffer.from(`%PDF-1.7\n${' '.repeat(5_000)}\n%%EOF\n`), warnings: [] }),
  });
  for (let count = 0; count < 12; count += 1) {
    ({ id } = await createClient(gateway, { name: `Client ${count}`, address: 'x'.repeat(2_000) }));
  }
});
afterAll(() => gateway.close());

const LIST = '/api/v1/clients';

test.each([
  ['gzip', gunzipSync],
  ['br', brotliDecompressSync],
] as const)(
  'when the caller accepts %s, then a list is sent with it, smaller and otherwise the same',
  async (coding, unpack) => {
    const plain = await send('GET', LIST);
    const packed = await send('GET', LIST, coding);

    expect([packed.headers['content-encoding'], packed.headers.vary]).toEqual([coding, 'Accept-Encoding']);
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10);
    expect(String(unpack(packed.bytes))).toBe(String(plain.bytes));
    expect([packed.headers['link'], packed.headers.etag]).toEqual([plain.headers['link'], undefined]);
  },
);

test('when the caller accepts no encoding, or rejects all, then a list is sent uncompressed and with Vary', async () => {
  for (const accepted of [undefined, 'identity', 'gzip;q=0, br;q=0', 'zip']) {
    const { headers, bytes } = await send('GET', LIST, accepted);

    expect([accepted, headers['content-encoding'], headers.vary]).toEqual([accepted, undefined, 'Accept-Encoding']);
    expect(JSON.parse(String(bytes)).data).toHaveLength(12);
  }
});

test('when a list is small, then it is sent uncompressed', async () => {
  const { headers } = await send('GET', '/api/v1/quotes', 'gzip, br');

  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, 'Accept-Encoding']);
});

test('when a single record is large, then it is sent uncompressed, and its entity tag is valid for If-Match', async () => {
  const { headers } = await send('GET', `${LIST}/${id}`, 'gzip, br');

  expect([headers['content-encoding'], headers.etag?.startsWith('"')]).toEqual([undefined, true]);
  const changed = await gateway.patch(
    `${LIST}/${id}`,
    { phone: '1' },
    { headers: { 'If-Match': String(headers.etag) } },
  );
  expect(changed.status).toBe(200);
});

test('when a document is printed, then it is sent uncompressed', async () => {
  const body = {
    ...{ title: 'Invoice', number: '1', date: '2026-01-02', clientName: 'A', clientEmail: 'a@example.com' },
    ...{ partnerName: 'B', partnerEmail: 'b@example.com', amount: 1, lineItems: [] },
  };
  const { headers, bytes } = await send('POST', '/api/tools/generate-pdf', 'gzip, br', JSON.stringify(body));

  expect([headers['content-type'], headers['content-encoding']]).toEqual(['application/pdf', undefined]);
  expect(headers['content-length']).toBe(String(bytes.length));
});

test('when a list is requested by HEAD, then the response has no content coding', async () => {
  const { headers, bytes } = await send('HEAD', LIST, 'gzip');

  expect([headers['content-encoding'], headers.vary, bytes.length]).toEqual([undefined, 'Accept-Encoding', 0]);
});

interface Sent {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** Not `fetch`, which would decompress the body. */
function send(method: string, path: string, accepted?: string, body?: string): Promise<Sent> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${gateway.account.key}`,
      ...(accepted === undefined ? {} : { 'Accept-Encoding': accepted }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      Connection: 'close',
    };
    const call = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(chunks) }));
    });
    call.once('error', reject).end(body);
  });
}

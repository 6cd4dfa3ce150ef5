// The head of a response that an attempt keeps, from receivers that send anything.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { HEAD_BYTES_MAX, HEADER_BYTES, HEADERS_KEPT, type ResponseHeader } from '#libs/models/webhooks/delivery.ts';
import { makeSecret } from '#libs/models/webhooks/endpoint-secrets.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { makePostSigned } from '../../../services/webhooks/post-signed.ts';
import { shortHead } from '../../../services/webhooks/response-head.ts';
import { LOOPBACK } from '../../support/webhooks.ts';

const outbound = openOutbound({ allow: LOOPBACK });
afterAll(() => outbound.close());
const post = makePostSigned({ outbound, timeoutMs: 10_000, userAgent: 'Billhook/test' });

/** Calls a receiver that sends these bytes as the lines of its head. */
async function callReceiver(lines: readonly string[]) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(Buffer.from(`HTTP/1.1 503 Busy\r\n${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`, 'latin1')),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const outcome = await post({ url, eventId: 'event', body: '{}', secrets: [makeSecret()], isTest: false });
  server.close();
  return outcome;
}

const bytesOf = (head: readonly ResponseHeader[]) =>
  head.reduce((sum, { name, value }) => sum + HEADER_BYTES + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
const headerOf = (head: readonly ResponseHeader[] | undefined, wanted: string) =>
  head?.find(({ name }) => name === wanted)?.value;

test('when a receiver responds, then the attempt has the names in lower case, and those that explain the outcome first', async () => {
  const { head, status } = await callReceiver(['X-Powered-By: PHP', 'Retry-After: 30', 'Content-Type: text/html']);

  expect(status).toBe(503);
  expect(head).toEqual([
    { name: 'retry-after', value: '30' },
    { name: 'content-type', value: 'text/html' },
    { name: 'x-powered-by', value: 'PHP' },
    { name: 'content-length', value: '0' },
  ]);
});

test('when a receiver sends many headers, then the kept ones are within their bounds, and the explaining ones are among them', async () => {
  const many = Array.from({ length: 900 }, (_, index) => `X-${index}: ${index}`);

  const { head = [] } = await callReceiver([...many, 'Retry-After: 30']);

  expect(head.length).toBe(HEADERS_KEPT);
  expect(bytesOf(head)).toBeLessThanOrEqual(HEAD_BYTES_MAX);
  expect(head[0]).toEqual({ name: 'retry-after', value: '30' });
});

test('when a receiver sends huge headers, then their values are cut, and the head has its bound of bytes', async () => {
  const wide = '\u00ff'.repeat(1_000);
  const huge = Array.from({ length: 12 }, (_, index) => `X-${'n'.repeat(100)}-${index}: ${wide}`);

  const { head = [] } = await callReceiver([...huge, 'X-Short: kept']);

  expect(head.length).toBeGreaterThan(1);
  expect(bytesOf(head)).toBeLessThanOrEqual(HEAD_BYTES_MAX);
  expect(head[0]?.value).toMatch(/^ÿ{199}…$/);
  expect(head[0]?.name).toHaveLength(60);
  expect(headerOf(head, 'x-short')).toBe('kept');
});

test.each([
  ['10,000 headers', Array.from({ length: 10_000 }, (_, index) => `X-${index}: ${index}`)],
  ['one header of a megabyte', [`X-Long: ${'x'.repeat(2 ** 20)}`]],
  ['a null character', ['X-Odd: a\u0000b']],
])('when a receiver sends %s, then the call counts as unreachable, and nothing is kept', async (_case, lines) => {
  expect(await callReceiver(lines)).toMatchObject({ isWell: false, errorClass: 'unreachable' });
  expect(await callReceiver(lines)).not.toHaveProperty('head');
});

test('when values contain control characters or tabs, then they are replaced', async () => {
  const { head } = await callReceiver(['X-Odd: a\u0085b\u009b31mc\td']);

  expect(headerOf(head, 'x-odd')).toMatch(/^a[ \ufffd]b\ufffd31mc d$/);
});

test('when headers may carry credentials, then their values are masked, and URLs lose user and query', async () => {
  const secret = 'S3CR3T';
  const { head } = await callReceiver([
    `Set-Cookie: session=${secret}`,
    `Set-Cookie: other=${secret}`,
    `Authorization: Bearer ${secret}`,
    `X-Api-Key: ${secret}`,
    `X-CSRF-Token: ${secret}`,
    `X-Amz-Security-Token: ${secret}`,
    `Location: https://ada:${secret}@example.com/in?token=${secret}#${secret}`,
    `Link: <https://example.com/next?key=${secret}>; rel="next"`,
    'WWW-Authenticate: Basic realm="hooks"',
  ]);

  expect(JSON.stringify(head)).not.toContain(secret);
  expect(head?.filter(({ name }) => name === 'set-cookie').map(({ value }) => value)).toEqual(['(masked)', '(masked)']);
  expect(headerOf(head, 'location')).toBe('https://…@example.com/in?…');
  expect(headerOf(head, 'link')).toBe('<https://example.com/next?…>; rel="next"');
  expect(headerOf(head, 'www-authenticate')).toBe('Basic realm="hooks"');
});

test('when a head ends in the middle, then the name has an empty value', () => {
  expect(shortHead(['Odd'])).toEqual([{ name: 'odd', value: '' }]);
});

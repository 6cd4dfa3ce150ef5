// The guard of mail servers: which ports and addresses are dialled, and a name that changes its address meanwhile.
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { OutboundRefused } from '#libs/outbound/target-rules.ts';
import { hostileUrls } from '../../support/ssrf/urls.ts';

let canary: Server;
let port: number;
let hits = 0;
beforeAll(async () => {
  canary = createServer((socket) => {
    hits += 1;
    socket.on('error', () => undefined);
    socket.end('220 canary\r\n');
  });
  await once(canary.listen(0, '127.0.0.1'), 'listening');
  ({ port } = canary.address() as { port: number });
});
afterAll(() => void canary.close());

const LIMIT_MS = 1_000;
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'dialled',
    (error: unknown) => (error instanceof OutboundRefused ? error.reason : `another error: ${String(error)}`),
  );

test.each([
  [25, 'address'],
  [465, 'address'],
  [587, 'address'],
  [80, 'port'],
  [22, 'port'],
  [27_017, 'port'],
])('when a name leads to a private address on port %i, then it is refused for its %s', async (at, reason) => {
  const resolve = async () => ['10.0.0.5'];
  const place = { host: 'smtp.example.com', port: at };
  expect(await reasonOf(openMailDialler({ allow: '', resolve })(place, LIMIT_MS))).toBe(reason);
  expect(await reasonOf(openOutbound({ allow: '', resolve }).vetMailServer(place))).toBe(reason);
});

test('when one of the addresses of a name is private, then none is dialled', async () => {
  const dial = openMailDialler({ allow: '', resolve: async () => ['203.0.113.9', '127.0.0.1'] });
  expect(await reasonOf(dial({ host: 'smtp.example.com', port: 587 }, LIMIT_MS))).toBe('address');
});

test('when a name has another address at the second look, then there is no second look', async () => {
  let looks = 0;
  const resolve = async () => {
    looks += 1;
    return looks === 1 ? ['127.0.0.1'] : ['10.0.0.5'];
  };
  const socket = await openMailDialler({ allow: '127.0.0.1', resolve })({ host: 'smtp.example.com', port }, LIMIT_MS);
  expect([looks, socket.remoteAddress]).toEqual([1, '127.0.0.1']);
  socket.destroy();
});

test('when the operator allows an address, then any port of it is dialled, and no other address', async () => {
  const dial = openMailDialler({ allow: '127.0.0.1' });
  (await dial({ host: '127.0.0.1', port }, LIMIT_MS)).destroy();
  expect(await reasonOf(dial({ host: '127.0.0.2', port: 587 }, LIMIT_MS))).toBe('address');
});

test('when any hostile spelling of an address is the host of a mail server, then nothing is called', async () => {
  const before = hits;
  const hosts = hostileUrls
    .filter(({ isPublic }) => !isPublic)
    .flatMap(({ url }) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url.replaceAll('{at}', `http://127.0.0.1:${port}`))?.[1] ?? []);
  // Names are looked up on the ground of the system tier alone.
  const dial = openMailDialler({ allow: '', resolve: async () => ['127.0.0.1'] });
  const outcomes = await Promise.all(
    [...new Set(hosts)].map(async (text) => {
      const host = text.replaceAll(':{c}', '');
      return [text, await reasonOf(dial({ host, port: 587 }, LIMIT_MS))];
    }),
  );
  expect(outcomes.length).toBeGreaterThan(80);
  expect(
    outcomes.filter(([, reason]) => !/^(address|host|malformed|userinfo|length|scheme)$/.test(String(reason))),
  ).toEqual([]);
  expect(hits).toBe(before);
});

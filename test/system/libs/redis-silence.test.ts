// A network that loses every packet of a connection, as when a node has failed: connections to Redis are replaced.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  connectFailFast,
  connectWorker,
  primariesOf,
  type Redis,
  type Server,
  whenReady,
} from '#libs/redis/connection.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const redisUrl = new URL(String(process.env['TEST_REDIS_URL']));
const open = new Set<Socket>();
let mute = () => {};
let url: string;

const proxy = createServer((near) => {
  const far = connect(Number(redisUrl.port), redisUrl.hostname);
  for (const socket of [near, far]) {
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
  }
  near.pipe(far).pipe(near);
});

beforeAll(async () => {
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const through = new URL(redisUrl);
  through.port = String((proxy.address() as AddressInfo).port);
  url = through.href;
  // Existing connections stay open but carry nothing any more. New connections work.
  mute = () => {
    for (const socket of open) socket.unpipe().resume();
  };
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((resolve) => proxy.close(resolve));
});

async function becomesUsable(redis: Redis) {
  const [server] = primariesOf(redis) as [Server];
  const first = server.stream;
  await eventually(async () => (await server.ping()) === 'PONG' && server.stream !== first);
}

test.each([
  ['of a waiting caller', (at: string) => connectFailFast(at, testLog)],
  ['of a worker', (at: string) => connectWorker(at, testLog, 500)],
])('when a connection %s gets no responses any more, then it is replaced and works', async (_whose, connectTo) => {
  const redis = connectTo(url);
  try {
    await whenReady(redis, 60_000);
    mute();

    await becomesUsable(redis);

    expect(redis.status).toBe('ready');
  } finally {
    redis.disconnect();
  }
});

// The bytes of unread responses are limited per account, so that one account cannot fill the memory of a gateway.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openResponseCapacity } from '../../../services/gateway/limits/large-responses.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient } from '../../support/records.ts';

const KIB = 1024;
/** One list of these clients exceeds the kernel's socket buffers. */
const CLIENTS = 100;
const ADDRESS = '字'.repeat(20_000);

let gateway: TestGateway;
let small: string;
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway({ responses: openResponseCapacity({ perAccount: 8_000 * KIB, all: 100_000 * KIB }) });
  small = (await createClient(gateway)).id;
  for (let count = 0; count < CLIENTS; count += 1) {
    await create(gateway, '/api/v1/clients', { name: 'Ada', email: `ada${count}@example.com`, address: ADDRESS });
  }
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await gateway.close();
});

test('when an account leaves responses unread, then its next large one is rejected, small ones and other accounts are not', async () => {
  const list = `/api/v1/clients?limit=${CLIENTS}`;
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1', () =>
    socket.write(`GET ${list} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.account.key}\r\n\r\n`),
  );
  sockets.push(socket);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();

  const rejected = await gateway.get(list);
  expect([rejected.status, rejected.body]).toEqual([
    429,
    expect.objectContaining({ error: 'Too many responses are waiting to be read' }),
  ]);
  expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(rejected.headers.get('Link')).toBeNull();
  expect((await gateway.get(`/api/v1/clients/${small}`)).status).toBe(200);
  const other = await gateway.workspace.account();
  expect((await gateway.get(list, { key: other.key })).status).toBe(200);

  socket.destroy();
  await eventually(async () => (await gateway.get(list)).status === 200);
});

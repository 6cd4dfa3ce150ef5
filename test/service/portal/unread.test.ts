// Files that readers of links do not read: the portal holds a bounded number of their bytes.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { make } from '../../support/operations.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import type { TestAccount } from '../../support/workspace.ts';

const MIB = 2 ** 20;
/** Nearly the largest original that is kept. */
const FILE = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(7.5 * MIB), Buffer.from('\n%%EOF\n')]);
const READERS = 24;
/** Bytes of files of one account that wait to be read. */
const OF_ACCOUNT = 64 * MIB;

let gateway: TestGateway;
let portal: TestPortal;
const sockets: Socket[] = [];
beforeAll(async () => {
  gateway = await startGateway();
  portal = await startPortal(gateway.workspace, { client: { print: async () => ({ bytes: FILE, warnings: [] }) } });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await portal.close();
  await gateway.close();
});

async function linkOf(account: TestAccount): Promise<string> {
  const id = await make(gateway, 'sent-invoices', account, 'own-');
  return pathOf((await gateway.post(`/api/v1/invoices/${id}/links`, {}, account)).body.data.url);
}

/** Asks for a file on a connection of its own. @returns the status, once the head of the response has come. No more is read. */
function ask(path: string): Promise<number> {
  const { hostname, port } = new URL(portal.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.write(`GET ${path}/pdf HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (chunk: Buffer) => {
      socket.pause();
      resolve(Number(chunk.toString('latin1', 9, 12)));
    });
  });
}

test('when many readers do not read a file, then further ones are 429, those of another account are served, and room comes again', async () => {
  const path = await linkOf(gateway.account);
  const other = await linkOf(await gateway.workspace.account());
  expect((await portal.browser().get(`${path}/pdf`)).status).toBe(200);

  const statuses = await Promise.all(Array.from({ length: READERS }, () => ask(path)));
  const served = statuses.filter((status) => status === 200).length;
  expect([...new Set(statuses)].toSorted()).toEqual([200, 429]);
  expect(served * FILE.length).toBeLessThanOrEqual(OF_ACCOUNT);
  expect(await ask(other)).toBe(200);
  const refused = await portal.browser().get(`${path}/pdf`);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);

  for (const socket of sockets.splice(0)) socket.destroy();
  let status = 429;
  while (status === 429) ({ status } = await portal.browser().get(`${path}/pdf`));
  expect(status).toBe(200);
});

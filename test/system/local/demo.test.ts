// The demo account keeps its key until the gateway rejects it, because a new key comes with a new, empty account.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { openDemoAccount, openDemoEndpoint, openDemoOperator } from '../../../deploy/local/demo.ts';
import { scratchFolders } from '../../support/scratch.ts';
import { PRETENDED } from './start-and-run.ts';

const KEPT = { accountId: 'account-0', key: 'bh_test_kept' };
const MADE = { accountId: 'account-1', key: 'bh_test_pretended' };
const scratch = scratchFolders();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test.each([
  ['is busy and then accepts the key', [503, 429, 500, 200], KEPT],
  ['is busy for long', [503], KEPT],
  ['rejects the key', [401], MADE],
  ['is busy and then rejects the key', [503, 403], MADE],
])('when the gateway %s, then the account is new only if the key was rejected', async (_what, statuses, expected) => {
  const dataFolder = await scratch();
  await writeFile(join(dataFolder, 'demo.json'), JSON.stringify(KEPT));
  const { url } = await gateway(statuses);

  const account = await openDemoAccount({ root: dirname(PRETENDED), dataFolder, env: process.env }, url);

  expect(account).toEqual(expected);
  expect(JSON.parse(await readFile(join(dataFolder, 'demo.json'), 'utf8'))).toEqual(expected);
});

const LATER = [{ name: 'demo', created_at: '2026-02-28T12:00:00.000Z' }];

test.each([
  ['is unchanged', undefined, { name: 'demo', password: 'kept' }],
  ['has another password now', LATER, { name: 'demo' }],
  ['was removed', [], { name: 'demo', password: 'pretended' }],
])('when the demo operator %s, then no outdated password is shown', async (...row) => {
  const [, operators, expected] = row;
  const dataFolder = await scratch();
  const kept = { accountId: 'account-0', name: 'demo', password: 'kept', createdAt: '2026-01-31T12:00:00.000Z' };
  await writeFile(join(dataFolder, 'operator.json'), JSON.stringify(kept));
  const env = { ...process.env, ...(operators ? { PRETENDED_OPERATORS: JSON.stringify(operators) } : {}) };

  const operator = await openDemoOperator({ root: dirname(PRETENDED), dataFolder, env }, 'account-0');

  expect(operator).toEqual({ accountId: 'account-0', ...expected });
});

test('when the gateway is busy while the endpoint is moved, then no second one is registered', async () => {
  const dataFolder = await scratch();
  const endpoint = JSON.stringify({ id: 'endpoint-0', secret: 'whsec_kept', url: 'http://127.0.0.1:1/hook' });
  await writeFile(join(dataFolder, 'receiver.json'), endpoint);
  const { url, asked } = await gateway([503, 201]);

  const opened = openDemoEndpoint(dataFolder, { url, key: KEPT.key }, 'http://127.0.0.1:2/hook');

  await expect(opened).rejects.toThrow('PATCH /api/v1/webhooks/endpoint-0 answered 503');
  expect(asked).toEqual(['PATCH']);
  expect(await readFile(join(dataFolder, 'receiver.json'), 'utf8')).toBe(endpoint);
});

// Responds with one status after the other, and with the last one from then on.
async function gateway(statuses: number[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    response.writeHead(statuses[Math.min(asked.length, statuses.length - 1)] ?? 500).end('{}');
    asked.push(request.method ?? '');
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

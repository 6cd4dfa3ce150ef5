// The endpoint of the demo account is moved to the receiver's new port, and never registered twice.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { openDemoEndpoint } from '../../../deploy/local/demo-endpoint.ts';
import { scratchFolders } from '../../support/scratch.ts';

const scratch = scratchFolders();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test('when the gateway is busy while the endpoint is moved, then no second one is registered', async () => {
  const dataFolder = await scratch();
  const endpoint = JSON.stringify({ id: 'endpoint-0', secret: 'whsec_kept', url: 'http://127.0.0.1:1/hook' });
  await writeFile(join(dataFolder, 'receiver.json'), endpoint);
  const { url, asked } = await gateway([503, 201]);

  const opened = openDemoEndpoint(dataFolder, { url, key: 'bh_test_kept' }, 'http://127.0.0.1:2/hook');

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

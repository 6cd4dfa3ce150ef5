// The operations dashboard as a real process: its port and host names, and its health port.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let operations: SpawnedService;
beforeAll(async () => {
  workspace = await openWorkspace();
  operations = await spawnService('operations', workspace, { OPERATIONS_ALLOWED_HOSTS: 'ops.example.com' });
});
afterAll(async () => {
  await operations.stop();
  await workspace.close();
});

/** The status of the login page under this `Host` header, which fetch would not send. */
function statusUnder(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${operations.url}/login`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('when a page is requested without a session, then the login is shown', async () => {
  const response = await fetch(operations.url);

  expect(response.url).toBe(`${operations.url}/login`);
  expect(await response.text()).toContain('type="password"');
  // A proxy in front closes an idle connection first, and never sends a request into a closed one.
  expect(response.headers.get('keep-alive')).toBe('timeout=65');
});

test('when the host name is not allowed, then the response is 421 and no page', async () => {
  expect(await statusUnder('ops.example.com')).toBe(200);
  expect(await statusUnder('evil.example')).toBe(421);
});

test('when its health port is requested, then MongoDB is required and Redis is not, and it does not serve the dashboard', async () => {
  const ready = await fetch(`${operations.healthUrl}/readyz?verbose`);

  expect(await ready.json()).toMatchObject({
    service: 'operations',
    status: 'ready',
    checks: { mongodb: { status: 'ok', required: true }, redis: { status: 'ok', required: false } },
  });
  expect((await fetch(`${operations.healthUrl}/login`)).status).toBe(404);
  expect((await fetch(`${operations.url}/metrics`)).url).toBe(`${operations.url}/login?next=%2Fmetrics`);
});

// Two gateway processes: a project moves to another client while a document for its client is created.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { openWorkspace, type TestAccount, type Workspace } from '../../support/workspace.ts';

const ROUNDS = 20;

let workspace: Workspace;
let account: TestAccount;
let gateways: Awaited<ReturnType<typeof spawnGateway>>[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  account = await workspace.account();
  gateways = await Promise.all([spawnGateway(workspace, account.key), spawnGateway(workspace, account.key)]);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await workspace.close();
});

const send = (gateway: number, method: string, path: string, body?: unknown) =>
  (gateways[gateway] as (typeof gateways)[0]).send(method, path, { key: account.key, body });
const makeClient = async (name: string) =>
  (await send(0, 'POST', '/api/v1/clients', { name, email: 'a@example.com' })).body.data.id as string;

test.each([
  ['invoices', { amount: 1, due_date: '2031-01-01' }],
  ['quotes', { amount: 1 }],
])(
  'when both happen at once, then one of the two is rejected, and no project of %s belongs to another client',
  async (kind, body) => {
    const [ada, grace] = [await makeClient('Ada'), await makeClient('Grace')];
    for (let round = 0; round < ROUNDS; round += 1) {
      const project = await send(0, 'POST', '/api/v1/projects', { client_id: ada, name: 'Site' });
      const project_id = project.body.data.id;
      const [moved, made] = await Promise.all([
        send(0, 'PATCH', `/api/v1/projects/${project_id}`, { client_id: grace }),
        send(1, 'POST', `/api/v1/${kind}`, { ...body, client_id: ada, project_id }),
      ]);

      expect([
        [200, 400],
        [409, 201],
      ]).toContainEqual([moved.status, made.status]);
    }
    const audit = (await send(0, 'GET', '/api/v1/numbering/audit')).body.data;
    expect(audit.gapless).toBe(true);
  },
);

// The rules about keys, envelopes, pages and versions: what holds for every operation.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { makeApiKey } from '#libs/api-key.ts';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { type Contract, startContract, TIMESTAMP, UNAUTHORIZED, UUID } from '../../support/contract/contract.ts';
import { proves } from '../../support/contract/proves.ts';

let contract: Contract;
beforeAll(async () => {
  contract = await startContract();
});
afterAll(() => contract.close());

const LISTS = ['clients', 'projects', 'tasks', 'time-entries', 'quotes', 'invoices'].map((name) => `/api/v1/${name}`);
const SHOWN: Array<[string, string]> = [
  ['POST', '/api/v1/clients'],
  ['POST', '/api/v1/quotes'],
  ['GET', '/api/v1/quotes'],
  ['GET', '/api/v1/quotes/{id}'],
  ['PATCH', '/api/v1/quotes/{id}'],
  ['POST', '/api/v1/invoices'],
  ['GET', '/api/v1/invoices'],
  ['GET', '/api/v1/invoices/{id}'],
  ['PATCH', '/api/v1/invoices/{id}'],
  ['DELETE', '/api/v1/invoices/{id}'],
  ['POST', '/api/v1/time-entries'],
  ['GET', '/api/v1/time-entries'],
  ['PATCH', '/api/v1/time-entries/{id}'],
  ['DELETE', '/api/v1/time-entries/{id}'],
  ['GET', '/api/v1/tasks'],
  ['DELETE', '/api/v1/tasks/{id}'],
  ['GET', '/api/v1/projects'],
  ['POST', '/api/tools/generate-pdf'],
];

proves(
  'general.key endpoint.header auth.header auth.refused auth.pdf error.key version.data version.pdf does.lists',
  'when any operation is called without a valid key, then 401 with the one text',
  async () => {
    const revoked = await contract.gateway.workspace.account();
    await ApiKey.updateMany({ account_id: revoked.id }, { $set: { revoked_at: new Date() } });
    for (const [method, path] of SHOWN) {
      const url = path.replace('{id}', 'd2719e4c-0000-7000-8000-000000000000');
      for (const key of [undefined, 'nonsense', makeApiKey(), revoked.key]) {
        const reply = await contract.call(method, url, { key, ...(method === 'GET' ? {} : { body: {} }) });
        expect([method, path, reply.status, reply.body]).toEqual([method, path, 401, UNAUTHORIZED]);
      }
    }
  },
);

proves('auth.header', 'when the key comes under another scheme, then it is not a key', async () => {
  for (const scheme of ['Basic', 'Token', '']) {
    const headers = { Authorization: `${scheme} ${contract.gateway.account.key}`.trim() };
    expect((await contract.get('/api/v1/clients', { key: undefined, headers })).status).toBe(401);
  }
});

proves(
  'general.scoped auth.own general.foreign',
  'when another account lists and reads, then it sees nothing of ours',
  async () => {
    const project = await contract.make.project();
    await contract.make.entry({
      project_id: project.id,
      task_id: (await contract.make.task({ project_id: project.id })).id,
    });
    await contract.make.quote({ client_id: project.client.id });
    await contract.make.invoice({ client_id: project.client.id });
    const key = await contract.stranger();
    for (const path of LISTS) {
      const ours = (await contract.get(path)).body;
      expect([path, ours.pagination.total > 0]).toEqual([path, true]);
      expect((await contract.get(path, { key })).body).toEqual({
        data: [],
        pagination: { total: 0, limit: 50, offset: 0 },
      });
      const reply = await contract.get(`${path}/${ours.data[0].id}`, { key });
      expect([path, reply.status, reply.body.error]).toEqual([path, 404, expect.stringMatching(/ not found/)]);
    }
  },
);

proves(
  'envelope.create envelope.get general.uuid general.timestamps general.json',
  'when a record is made and read, then in the two envelopes',
  async () => {
    const made = await contract.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' });
    const read = await contract.get(`/api/v1/clients/${made.body.data.id}`);

    expect(Object.keys(made.body).toSorted()).toEqual(['data', 'success']);
    expect(made.body.success).toBe(true);
    expect(Object.keys(read.body)).toEqual(['data']);
    expect(read.body.data.id).toMatch(UUID);
    expect(read.body.data.created_at).toMatch(TIMESTAMP);
    expect(read.headers.get('Content-Type')).toMatch(/^application\/json/);
  },
);

proves(
  'envelope.list pagination.total pagination.limit pagination.offset limit.page limit.offset',
  'when any list is read, then data and a pagination of three integers that say what was used',
  async () => {
    for (const path of LISTS) {
      const { body } = await contract.get(path);
      expect(Object.keys(body).toSorted()).toEqual(['data', 'pagination']);
      expect(body.pagination).toEqual({ total: body.data.length, limit: 50, offset: 0 });
      const page = (await contract.get(`${path}?limit=500&offset=1`)).body;
      expect(page.pagination).toEqual({ total: body.pagination.total, limit: 100, offset: 1 });
      expect(page.data).toEqual(body.data.slice(1));
    }
  },
);

/** Names that stand beside those of the specification in every error. */
const ADDED = ['code', 'params'];

proves(
  'envelope.error envelope.details error.shape',
  'when something is refused, then { error }, with details for validation only',
  async () => {
    const unknown = await contract.get('/api/v1/clients/nothing');
    const invalid = await contract.post('/api/v1/time-entries', {});

    expect(Object.keys(unknown.body)).toEqual(['error', ...ADDED]);
    expect(Object.keys(invalid.body)).toEqual(['error', 'details', ...ADDED, 'problems']);
    expect(typeof invalid.body.error).toBe('string');
  },
);

proves(
  'endpoint.content-type pdf.headers general.json',
  'when a body is not sent as JSON, then it is refused',
  async () => {
    for (const path of ['/api/v1/clients', '/api/tools/generate-pdf']) {
      const reply = await contract.call('POST', path, { raw: 'name=Ada', headers: { 'Content-Type': 'text/plain' } });
      expect([path, reply.status, Object.keys(reply.body)]).toEqual([path, 415, ['error', ...ADDED]]);
    }
  },
);

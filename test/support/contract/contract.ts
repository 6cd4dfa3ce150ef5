// A gateway whose every answer is held against its own OpenAPI document and against that of an account with other settings, and short ways to
// make records.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { type Call, callerOf, type Reply, startGateway, type TestGateway, verbsOf } from '../gateway.ts';
import { answerCheck } from './answer-check.ts';
import { openTwin } from './twin.ts';

type Fields = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: records of every shape.
type Maker = (fields?: Fields, call?: Call) => Promise<any>;

export interface Contract {
  gateway: TestGateway;
  /** Calls as the account, or as another key. */
  call(method: string, path: string, call?: Call): Promise<Reply>;
  get(path: string, call?: Call): Promise<Reply>;
  post(path: string, body?: unknown, call?: Call): Promise<Reply>;
  patch(path: string, body?: unknown, call?: Call): Promise<Reply>;
  delete(path: string, call?: Call): Promise<Reply>;
  /** Each makes a record from the least that is needed and returns its data. */
  make: Record<'client' | 'project' | 'task' | 'entry' | 'quote' | 'invoice', Maker>;
  /** A key of another account. */
  stranger(): Promise<string>;
  close(): Promise<void>;
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
export const UNAUTHORIZED = { error: 'Unauthorized: Invalid or revoked API key', code: 'unauthorized', params: {} };
export const unknownId = () => randomUUID();

/** The day that is `days` after today, in UTC as the test accounts count. */
export function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** The rules of pages, which all lists share: default 50, at most 100, offset from 0. */
export async function expectPages(contract: Contract, path: string) {
  expect((await contract.get(path)).body.pagination).toMatchObject({ limit: 50, offset: 0 });
  expect((await contract.get(`${path}?limit=1000`)).body.pagination.limit).toBe(100);
  const reply = await contract.get(`${path}?limit=1&offset=1`);
  expect(reply.body.data).toHaveLength(1);
  expect(reply.body.pagination).toEqual({ total: expect.any(Number), limit: 1, offset: 1 });
  for (const wrong of ['limit=0', 'limit=-1', 'limit=1.5', 'limit=ten', 'offset=-1', 'limit=1&limit=2']) {
    expect([wrong, (await contract.get(`${path}?${wrong}`)).status]).toEqual([wrong, 400]);
  }
}

export async function startContract(): Promise<Contract> {
  const gateway = await startGateway();
  const check = answerCheck((await gateway.get('/openapi.json')).body);
  const plain = callerOf(gateway.url, gateway.account.key);
  const twin = await openTwin(gateway);
  const call: Contract['call'] = async (method, path, options) => {
    const reply = await plain(method, path, options);
    check(method, path, reply);
    if (!(options && 'key' in options)) await twin(method, path, options, reply);
    // A response with an ETag is requested once more by it.
    const tag = method === 'GET' && reply.status === 200 && reply.headers.get('etag');
    if (tag)
      check(
        method,
        path,
        await plain(method, path, { ...options, headers: { ...options?.headers, 'If-None-Match': tag } }),
      );
    return reply;
  };

  async function made(path: string, body: Fields, options?: Call) {
    const reply = await call('POST', `/api/v1/${path}`, { body, ...options });
    if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body.data;
  }

  const make: Contract['make'] = {
    client: (fields, options) => made('clients', { name: 'Ada', email: 'ada@example.com', ...fields }, options),
    project: async (fields, options) =>
      made('projects', { name: 'Engine', client_id: await clientOf(fields, options), ...fields }, options),
    task: async (fields, options) =>
      made('tasks', { name: 'Drawing', project_id: await projectOf(fields, options), ...fields }, options),
    entry: async (fields, options) =>
      made(
        'time-entries',
        { hours: 1.5, date: '2026-11-02', project_id: await projectOf(fields, options), ...fields },
        options,
      ),
    quote: async (fields, options) =>
      made('quotes', { amount: 100, client_id: await clientOf(fields, options), ...fields }, options),
    invoice: async (fields, options) =>
      made(
        'invoices',
        { amount: 100, due_date: '2099-12-31', client_id: await clientOf(fields, options), ...fields },
        options,
      ),
  };
  const clientOf = async (fields: Fields = {}, options?: Call) =>
    fields['client_id'] ?? (await make.client({}, options)).id;
  const projectOf = async (fields: Fields = {}, options?: Call) =>
    fields['project_id'] ?? (await make.project({}, options)).id;

  return {
    gateway,
    ...verbsOf(call),
    make,
    stranger: async () => (await gateway.workspace.account()).key,
    close: () => gateway.close(),
  };
}

// Journey: a freelancer's month through the typed client, as its package has it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Billhook } from '../../client/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { generateClient } from '../support/generated-client.ts';
import { withErrors } from '../support/mongodb-errors.ts';

const { ApiError, billhook } = await generateClient();

let gateway: TestGateway;
let api: Billhook;
beforeAll(async () => {
  gateway = await startGateway();
  api = billhook({ url: gateway.url, key: gateway.account.key });
});
afterAll(() => gateway.close());

test('when work is quoted, done, logged, invoiced and paid, then every step is there and the numbers have no hole', async () => {
  const { data: ada } = await api.addClient({ body: { name: 'Ada Lovelace', email: 'ada@example.com' } });
  const { data: project } = await api.createProject({ body: { name: 'Difference engine', client_id: ada.id } });
  const offer = { client_id: ada.id, project_id: project.id, amount: 1200 };
  const { data: quote } = await api.createQuote({ body: offer });
  const accepted = await api.updateQuote({ path: { id: quote.id }, body: { status: 'Accepted' } });
  expect(accepted.data.status).toBe('Accepted');

  const { data: task } = await api.createTask({ body: { project_id: project.id, name: 'Drawings', rate: 95 } });
  for (const hours of [2.25, 3.5]) {
    await api.createTimeEntry({ body: { project_id: project.id, task_id: task.id, hours, date: '2026-11-02' } });
  }
  expect((await api.getTask({ path: { id: task.id } })).data.total_seconds).toBe(5.75 * 3600);

  const line_items = [{ description: 'Drawings', quantity: 5.75, rate: 95 }];
  const { data: draft } = await api.createInvoice({
    body: { client_id: ada.id, due_date: '2099-12-31', tax_rate: 19, line_items },
  });
  const path = { id: draft.id };
  await api.updateInvoice({ path, body: { status: 'Sent' } });
  await api.updateInvoice({ path, body: { status: 'Paid' } });

  expect((await api.getInvoice({ path })).data).toMatchObject({ amount: 546.25, tax_amount: 103.79, amount_due: 0 });
  const paid = await api.listInvoices({ query: { status: 'Paid', client_id: ada.id } });
  expect(paid.data.map(({ invoice_number }) => invoice_number)).toEqual(['INV-0001']);
  expect((await api.auditNumbering()).data.gapless).toBe(true);
});

test('when a list is read item by item, then all of it comes, also while what was read is deleted', async () => {
  for (const name of ['Ada', 'Grace', 'Mary', 'Hedy', 'Joan']) {
    await api.addClient({ body: { name, email: 'pages@example.com' } });
  }
  const query = { q: 'pages@example.com', sort: 'created_at', limit: 2 } as const;
  const names: string[] = [];
  for await (const { id, name } of api.listClients.items({ query })) {
    names.push(name);
    await api.deleteClient({ path: { id } });
  }

  expect(names).toEqual(['Ada', 'Grace', 'Mary', 'Hedy', 'Joan']);
});

test('when an operation has a cursor, then its method has iterators', async () => {
  const { OPERATIONS } = await import('../../client/generated/billhook.ts');
  const operations = Object.entries(OPERATIONS) as [keyof Billhook, { params?: readonly { name: string }[] }][];
  const lists = operations.filter(([, { params }]) => params?.some(({ name }) => name === 'after'));

  expect(lists.length).toBeGreaterThan(20);
  expect(lists.filter(([name]) => !('items' in api[name] && 'pages' in api[name]))).toEqual([]);
});

test('when something is refused, then the client throws what the service said, also while a list is read', async () => {
  const refused = api.addClient({ body: { name: 'Ada', email: '' } });

  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({
    status: 400,
    message: 'Missing required fields: name, email; email is required (400)',
    code: 'missing_required_fields',
    params: { fields: ['email'] },
    problems: [{ field: 'email', code: 'required', message: 'email is required', params: {} }],
    requestId: expect.stringMatching(/./),
  });

  const list = api.listClients.items({ query: { after: 'nowhere' } });
  await expect(list.next()).rejects.toMatchObject({
    status: 400,
    details: { after: [expect.any(String)] },
    problems: [{ field: 'after', code: 'cursor_malformed' }],
  });
});

test('when a call is given up and sent again while the first try is at work, then the client gets its one answer', async () => {
  const statuses: number[] = [];
  const watched = billhook({
    url: gateway.url,
    key: gateway.account.key,
    timeout: 1_000,
    retries: 20,
    async fetch(...call) {
      const response = await fetch(...call);
      statuses.push(response.status);
      return response;
    },
  });
  const slowly = { failCommands: ['commitTransaction'], blockConnection: true, blockTimeMS: 4_000 };
  const body = { name: 'Once', email: 'once@example.com' };

  const { data } = await withErrors(slowly, () => watched.addClient({ body }));

  expect(statuses).toContain(409);
  const { data: found } = await api.listClients({ query: { q: 'once@example.com' } });
  expect(found.map(({ id }) => id)).toEqual([data.id]);
});

/** A client that loses its first response: on the way, or halfway through the body. */
function losing(at: 'the way' | 'the body') {
  const sent: { method: string | undefined; key: string | null }[] = [];
  const client = billhook({
    url: gateway.url,
    key: gateway.account.key,
    async fetch(...[url, init]) {
      const response = await fetch(url, init);
      sent.push({ method: init?.method, key: new Headers(init?.headers).get('idempotency-key') });
      if (sent.length > 1) return response;
      await response.arrayBuffer();
      if (at === 'the way') throw new TypeError('fetch failed');
      const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
      return new Response(broken, response);
    },
  });
  return { client, sent };
}

test.each(['the way', 'the body'] as const)(
  'when the response of a POST is lost on %s, then the client sends it again with its key, and one record is made',
  async (at) => {
    const { client, sent } = losing(at);

    const { data } = await client.addClient({ body: { name: 'Lost', email: `${at.length}@lost.example` } });

    expect(sent.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(sent[0]?.key).toMatch(/^[\w-]{36}$/);
    expect(sent[1]?.key).toBe(sent[0]?.key);
    const { data: found } = await api.listClients({ query: { q: `${at.length}@lost.example` } });
    expect(found.map(({ id }) => id)).toEqual([data.id]);
  },
);

test('when the response of a change is lost, then the client does not make the change again by itself', async () => {
  const { data: ada } = await api.addClient({ body: { name: 'Ada', email: 'lost@example.com' } });
  const { client, sent } = losing('the way');

  const lost = client.updateClient({ path: { id: ada.id }, body: { name: 'Countess of Lovelace' } });

  await expect(lost).rejects.toThrow('fetch failed');
  expect(sent.map(({ method }) => method)).toEqual(['PATCH']);
});

test('when the caller cancels a call, then its reason is thrown and nothing is sent again', async () => {
  const { client, sent } = losing('the way');

  const cancelled = client.listClients({}, { signal: AbortSignal.abort(new Error('closed')) });

  await expect(cancelled).rejects.toThrow('closed');
  expect(sent).toEqual([]);
});

test('when url or key is missing, then the client says so before any call', () => {
  expect(() => billhook({ url: 'localhost', key: 'bh_live_x' })).toThrow('url must be the address of the gateway');
  expect(() => billhook({ url: gateway.url, key: undefined })).toThrow('key must be an API key');
});

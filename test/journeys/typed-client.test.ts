// Journey: a freelancer's month through the typed client that is generated from the OpenAPI document.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { generateClient } from '../support/generated-client.ts';
import { withErrors } from '../support/mongodb-errors.ts';

const {
  ApiError,
  addClient,
  auditNumbering,
  client,
  createInvoice,
  createProject,
  createQuote,
  createTask,
  createTimeEntry,
  defaultRetryOn,
  deleteClient,
  getInvoice,
  getTask,
  listClients,
  listInvoices,
  updateClient,
  updateInvoice,
  updateQuote,
} = await generateClient();

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  client.configure({ serverUrl: gateway.url, auth: { bearer: gateway.account.key } });
});
afterAll(() => gateway.close());

test('when work is quoted, done, logged, invoiced and paid, then every step is there and the numbers have no hole', async () => {
  const { data: ada } = await addClient({ body: { name: 'Ada Lovelace', email: 'ada@example.com' } });
  const { data: project } = await createProject({ body: { name: 'Difference engine', client_id: ada.id } });
  const offer = { client_id: ada.id, project_id: project.id, amount: 1200 };
  const { data: quote } = await createQuote({ body: offer });
  const accepted = await updateQuote({ path: { id: quote.id }, body: { status: 'Accepted' } });
  expect(accepted.data.status).toBe('Accepted');

  const { data: task } = await createTask({ body: { project_id: project.id, name: 'Drawings', rate: 95 } });
  for (const hours of [2.25, 3.5]) {
    await createTimeEntry({ body: { project_id: project.id, task_id: task.id, hours, date: '2026-11-02' } });
  }
  expect((await getTask({ path: { id: task.id } })).data.total_seconds).toBe(5.75 * 3600);

  const line_items = [{ description: 'Drawings', quantity: 5.75, rate: 95 }];
  const { data: draft } = await createInvoice({
    body: { client_id: ada.id, due_date: '2099-12-31', tax_rate: 19, line_items },
  });
  const path = { id: draft.id };
  await updateInvoice({ path, body: { status: 'Sent' } });
  await updateInvoice({ path, body: { status: 'Paid' } });

  expect((await getInvoice({ path })).data).toMatchObject({ amount: 546.25, tax_amount: 103.79, amount_due: 0 });
  const paid = await listInvoices({ query: { status: 'Paid', client_id: ada.id } });
  expect(paid.data.map(({ invoice_number }) => invoice_number)).toEqual(['INV-0001']);
  expect((await auditNumbering()).data.gapless).toBe(true);
});

test('when a list is read item by item, then all of it comes, also while what was read is deleted', async () => {
  for (const name of ['Ada', 'Grace', 'Mary', 'Hedy', 'Joan']) {
    await addClient({ body: { name, email: 'pages@example.com' } });
  }
  const query = { q: 'pages@example.com', sort: 'created_at', limit: 2 } as const;
  const names: string[] = [];
  for await (const { id, name } of client.listClients.items({ query })) {
    names.push(name);
    await deleteClient({ path: { id } });
  }

  expect(names).toEqual(['Ada', 'Grace', 'Mary', 'Hedy', 'Joan']);
});

test('when something is refused, then the client throws what the service said', async () => {
  const refused = addClient({ body: { name: '', email: '' } });

  await expect(refused).rejects.toBeInstanceOf(ApiError);
  await expect(refused).rejects.toMatchObject({ status: 400, body: { error: 'Missing required fields: name, email' } });
});

test('when a call is given up and sent again while the first try is at work, then the client gets its one answer', async () => {
  // The example of client/README.md, with shorter waits.
  const isStillRunning = (response?: Response) => response?.status === 409 && response.headers.has('Retry-After');
  const statuses: (number | undefined)[] = [];
  client.configure({
    timeout: 500,
    idempotencyKey: true,
    retry: { retries: 20, retryDelay: 100, retryOn: (call) => defaultRetryOn(call) || isStillRunning(call.response) },
    onResponse: (response) => void statuses.push(response.status),
  });
  const slowly = { failCommands: ['commitTransaction'], blockConnection: true, blockTimeMS: 2_000 };
  const body = { name: 'Once', email: 'once@example.com' };

  const { data } = await withErrors(slowly, () => addClient({ body }));

  expect(statuses).toContain(409);
  const { data: found } = await listClients({ query: { q: 'once@example.com' } });
  expect(found.map(({ id }) => id)).toEqual([data.id]);
});

test('when the answer of a change is lost, then the client does not make the change again by itself', async () => {
  const { data: ada } = await addClient({ body: { name: 'Ada', email: 'lost@example.com' } });
  const sent: string[] = [];
  client.configure({
    idempotencyKey: true,
    retry: { retries: 3, retryDelay: 10, retryOn: defaultRetryOn },
    async fetch(...args: Parameters<typeof fetch>) {
      const response = await fetch(...args);
      sent.push(String(args[1]?.method));
      if (sent.length > 1) return response;
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    },
  });

  const lost = updateClient({ path: { id: ada.id }, body: { name: 'Countess of Lovelace' } });

  await expect(lost).rejects.toThrow('fetch failed');
  expect(sent).toEqual(['PATCH']);
});

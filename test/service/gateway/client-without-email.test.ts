// A client without an e-mail address, in an account that allows it: everything that shows a client works without one.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { callerOf, type PrintingGateway, startPrintingGateway, verbsOf } from '../../support/gateway.ts';

let gateway: PrintingGateway;
beforeAll(async () => {
  gateway = await startPrintingGateway();
});
afterAll(() => gateway.close());

const path = '/api/v1/clients';

async function account(settings: object) {
  const { key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  expect((await api.patch('/api/v1/account', settings)).status).toBe(200);
  return api;
}

test('when the account requires an e-mail address, then it is required of new clients, and none loses its own', async () => {
  for (const before of [true, false]) {
    const api = await account({ require_client_email: before });
    if (!before) await api.patch('/api/v1/account', { require_client_email: null });
    for (const body of [{ name: 'Ada' }, { name: 'Ada', email: null }, { name: 'Ada', email: '' }]) {
      const { status, body: answer } = await api.post(path, body);
      expect([status, answer]).toMatchObject([
        400,
        { error: 'Missing required fields: name, email', details: { email: ['email is required'] } },
      ]);
    }
    const { id } = (await api.post(path, { name: 'Ada', email: 'ada@example.com' })).body.data;
    expect((await api.patch(`${path}/${id}`, { email: '' })).body.details).toEqual({
      email: ['email is not allowed to be empty'],
    });
    expect((await api.patch(`${path}/${id}`, { email: null })).body.details).toEqual({
      email: ['email must be a string'],
    });
    expect((await api.get(`${path}/${id}`)).body.data.email).toBe('ada@example.com');
  }
});

test('when the account requires none, then a client has an empty one, which may be sent back, set and taken away', async () => {
  const api = await account({ require_client_email: false });
  for (const body of [{ name: 'Ada' }, { name: 'Ada', email: null }, { name: 'Ada', email: '' }]) {
    const { status, body: answer } = await api.post(path, body);
    expect([status, answer.data]).toMatchObject([201, { name: 'Ada', email: '' }]);
  }
  expect((await api.post(path, {})).body.details).toEqual({ name: ['name is required'] });
  expect((await api.post(path, { name: 'Ada', email: 'no' })).body.details).toEqual({
    email: ['email must be a valid email'],
  });
  const { id } = (await api.post(path, { name: 'Zed' })).body.data;
  const change = async (email: string | null) => (await api.patch(`${path}/${id}`, { email })).body.data.email;
  expect([await change(''), await change('z@example.com'), await change(null)]).toEqual(['', 'z@example.com', '']);
  expect((await api.get(`${path}?q=zed`)).body.data).toMatchObject([{ id, email: '' }]);
  const anonymised = await api.post(`${path}/${id}/anonymise`);
  expect(anonymised.body.data.email).toBe('anonymised@example.invalid');
});

test('when such a client has projects and documents, then they show the empty address and print none', async () => {
  const api = await account({ require_client_email: false });
  const { id: client_id } = (await api.post(path, { name: 'Ada' })).body.data;
  const client = { id: client_id, name: 'Ada', email: '' };
  const invoice = { client_id, due_date: '2099-12-31', amount: 100, description: 'Mill', status: 'Sent' };
  const made = [
    await api.post('/api/v1/projects', { client_id, name: 'Mill' }),
    await api.post('/api/v1/invoices', invoice),
    await api.post('/api/v1/quotes', { client_id, amount: 100, status: 'Sent' }),
    await api.post('/api/v1/payments', { client_id, amount: 10, currency: 'USD' }),
  ];
  expect(made.map(({ body }) => body.data.client)).toEqual(made.map(() => client));
  expect((await api.get(`${path}/${client_id}/balance`)).body.data.client).toEqual(client);
  const invoiceId = made[1]?.body.data.id;
  expect((await api.get('/api/v1/invoices')).body.data[0].client).toEqual(client);
  expect((await api.get(`/api/v1/invoices/${invoiceId}/pdf`)).status).toBe(200);
  expect(gateway.printed()).toMatchObject({ clientName: 'Ada', clientEmail: '' });
});

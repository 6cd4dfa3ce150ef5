// Anonymising a client: what is removed from records, events and searches, and what stays because it was issued.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Client } from '#libs/models/accounts/client.ts';
import { storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createClient, eventsOf, UNKNOWN_ID } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const NOBODY = { name: 'Anonymised client', email: 'anonymised@example.invalid' };
const PERSON = {
  name: 'Zora Quillfeather',
  email: 'zora@quillfeather.example',
  company_name: 'Quillfeather Ltd',
  phone: '+44 20 5550 1234',
  address: '7 Quillfeather Lane',
  tax_id: 'GB-QUILL-7',
  legal_id: { value: 'Quillfeather 0815' },
  vat_id: 'GB220430231',
  electronic_address: { scheme: 'EM', value: 'bills@quillfeather.example' },
  postal_address: { line1: '7 Quillfeather Lane', city: 'London', country: 'GB' },
  buyer_reference: 'Zora 12',
};
const TRACES = /quillfeather|zora|5550|quill-7|220430231|London/i;
const rejection = expect.objectContaining({ error: 'Client was anonymised: it takes no new projects and documents' });

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, PERSON, account);
});

const make = (resource: string, body: object) =>
  create(gateway, `/api/v1/${resource}`, { client_id: client.id, ...body }, account);
const get = async (path: string) => (await gateway.get(`/api/v1/${path}`, account)).body.data;
const anonymise = (id: string = client.id) => gateway.post(`/api/v1/clients/${id}/anonymise`, {}, account);
const dueLater = { due_date: '2031-01-01', amount: 10 };

test('when a client is anonymised, then its record, events and searches no longer hold its data; projects and drafts show that', async () => {
  const project = await make('projects', { name: 'Engine' });
  const draft = await make('invoices', { ...dueLater, project_id: project.id });
  await make('quotes', { amount: 5 });
  await gateway.patch(`/api/v1/clients/${client.id}`, { phone: '+44 20 5550 9999' }, account);

  const reply = await anonymise();

  expect(reply.status).toBe(200);
  expect(reply.body.data).toEqual({
    id: client.id,
    ...NOBODY,
    status: 'invited',
    anonymised_at: expect.any(String),
    created_at: client.created_at,
    updated_at: expect.any(String),
  });
  expect(await get(`clients/${client.id}`)).toEqual(reply.body.data);
  const stored = await Client.collection.findOne({ _id: storedId(client.id) as never });
  expect(JSON.stringify(stored)).not.toMatch(TRACES);
  const events = await Event.find({ account_id: account.id }).sort({ sequence: 1 }).lean();
  expect(events.map(({ type }) => type)).toEqual([
    'client.created',
    'project.created',
    'invoice.created',
    'quote.created',
    'client.updated',
    'client.anonymised',
  ]);
  for (const { body } of events) {
    expect(body).not.toMatch(TRACES);
    expect(body).toContain(NOBODY.email);
  }
  expect(JSON.parse(events[2]?.body ?? '').data).toEqual({ ...draft, client: { id: client.id, ...NOBODY } });
  expect(JSON.parse(events.at(-1)?.body ?? '').data).toEqual(reply.body.data);
  expect(await get('clients?q=quillfeather')).toEqual([]);
  expect(await get('clients?q=220430231')).toEqual([]);
  for (const path of [`projects/${project.id}`, `invoices/${draft.id}`]) {
    expect((await get(path)).client).toEqual({ id: client.id, ...NOBODY });
  }
});

test('when documents were issued before, then they stay as they were issued', async () => {
  const invoice = await make('invoices', { ...dueLater, status: 'Sent' });
  const quote = await make('quotes', { amount: 5, status: 'Sent' });
  await anonymise();

  expect(await get(`invoices/${invoice.id}`)).toEqual(invoice);
  expect((await get(`quotes/${quote.id}`)).client).toEqual(quote.client);
});

test('when an invoice and its credit note have references of the client, then both keep them, and their events do not', async () => {
  const own = { buyer_reference: 'Zora 1', order_reference: 'Zora 2', contract_reference: 'Zora 3' };
  const invoice = await make('invoices', { ...dueLater, ...own, status: 'Sent' });
  const note = await create(gateway, `/api/v1/invoices/${invoice.id}/credit-notes`, { reason: 'goodwill' }, account);
  await anonymise();

  expect(await get(`credit-notes/${note.id}`)).toMatchObject(own);
  const bodies = (await Event.find({ account_id: account.id }).lean()).map(({ body }) => body);
  expect(bodies.filter((body) => body.includes(note.id))).not.toEqual([]);
  for (const body of bodies) expect(body).not.toMatch(TRACES);
});

test('when a client is anonymised twice, even concurrently, then it happens once, and the repeat clears the events since then', async () => {
  const invoice = await make('invoices', { ...dueLater, status: 'Sent' });
  const replies = await Promise.all([anonymise(), anonymise(), anonymise()]);

  expect(new Set(replies.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
  expect((await eventsOf(account.id)).filter((type) => type === 'client.anonymised')).toHaveLength(1);
  // The issued invoice names its client, and so do its later events.
  await gateway.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Paid' }, account);
  await anonymise();
  for (const { body } of await Event.find({ account_id: account.id }).lean()) expect(body).not.toMatch(TRACES);
});

test('when a client has more events than one batch, then all of them are rewritten and those of other clients are not', async () => {
  const other = await createClient(gateway, PERSON, account);
  const stranger = await createClient(gateway, PERSON);
  for (let count = 0; count < 210; count += 1) {
    await gateway.patch(`/api/v1/clients/${client.id}`, { phone: `+44 20 5550 ${count}` }, account);
  }
  await anonymise();

  const bodies = (await Event.find({ account_id: account.id }).lean()).map(({ body }) => body);
  expect(bodies.filter((body) => TRACES.test(body)).map((body) => JSON.parse(body).data.id)).toEqual([other.id]);
  expect(bodies).toHaveLength(213);
  const foreign = await Event.find({ account_id: gateway.account.id }).lean();
  expect(foreign.filter(({ body }) => body.includes(stranger.id) && TRACES.test(body))).toHaveLength(1);
});

test('when a client was anonymised, then every request that needs its data is 409', async () => {
  const draft = await make('invoices', dueLater);
  const quote = await make('quotes', { amount: 5 });
  const other = await createClient(gateway, {}, account);
  const elsewhere = await make('invoices', { ...dueLater, client_id: other.id });
  const project = await create(gateway, '/api/v1/projects', { name: 'x', client_id: other.id }, account);
  await anonymise();

  for (const [resource, body] of [
    ['projects', { name: 'New' }],
    ['invoices', dueLater],
    ['quotes', { amount: 1 }],
  ] as const) {
    const reply = await gateway.post(`/api/v1/${resource}`, { client_id: client.id, ...body }, account);
    expect([resource, ...answerOf(reply)]).toEqual([resource, 409, rejection]);
  }
  for (const [path, body] of [
    [`invoices/${draft.id}`, { status: 'Sent' }],
    [`quotes/${quote.id}`, { status: 'Sent' }],
    [`projects/${project.id}`, { client_id: client.id }],
    [`invoices/${elsewhere.id}`, { client_id: client.id }],
  ] as const) {
    expect([path, ...answerOf(await gateway.patch(`/api/v1/${path}`, body, account))]).toEqual([path, 409, rejection]);
  }
  expect(answerOf(await gateway.patch(`/api/v1/clients/${client.id}`, { name: 'Back' }, account))).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot change a client that was anonymised' }),
  ]);
});

test('when documents and events are created concurrently, then none keeps the name', async () => {
  const project = await make('projects', { name: 'Engine' });
  const changes = Array.from({ length: 8 }, (_, index) =>
    gateway.patch(`/api/v1/projects/${project.id}`, { name: `Engine ${index}` }, account),
  );
  const drafts = Array.from({ length: 8 }, () =>
    gateway.post('/api/v1/invoices', { client_id: client.id, ...dueLater }, account),
  );
  const [reply] = await Promise.all([anonymise(), ...changes, ...drafts]);

  expect(reply.status).toBe(200);
  for (const { body } of await Event.find({ account_id: account.id }).lean()) expect(body).not.toMatch(TRACES);
});

test('when the id is unknown or of another account, or the key has only read scopes, then nothing is erased', async () => {
  const stranger = await createClient(gateway, PERSON);
  const { key } = await create(gateway, '/api/v1/keys', { name: 'r', scopes: ['clients:read'] }, account);
  for (const id of [UNKNOWN_ID, stranger.id]) {
    expect(answerOf(await anonymise(id))).toEqual([
      404,
      expect.objectContaining({ error: 'Client not found or access denied' }),
    ]);
  }
  const reply = await gateway.post(`/api/v1/clients/${client.id}/anonymise`, {}, { key });

  expect(answerOf(reply)).toEqual([
    403,
    expect.objectContaining({ error: 'Forbidden: API key lacks the clients:write scope' }),
  ]);
  expect((await get(`clients/${client.id}`)).name).toBe(PERSON.name);
  expect((await gateway.get(`/api/v1/clients/${stranger.id}`)).body.data.name).toBe(PERSON.name);
});

// The specification's rules about clients.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { Event } from '#libs/models/webhooks/event.ts';
import { type Contract, startContract, TIMESTAMP, UNAUTHORIZED, UUID } from '../../support/contract/contract.ts';
import { proves } from '../../support/contract/proves.ts';

let contract: Contract;
beforeAll(async () => {
  contract = await startContract();
});
afterAll(() => contract.close());

const path = '/api/v1/clients';
const ada = { name: 'Ada Lovelace', email: 'ada@example.com', company_name: 'Analytical Engines' };

proves(
  'does.clients client.fields client.status client-state create-client.company create-client.answer create-client.event event.client-created',
  'when a client is created, then it is answered with the fields of the table and announced',
  async () => {
    const reply = await contract.post(path, ada);

    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ success: true, data: { ...ada, status: 'invited' } });
    expect(reply.body.data.id).toMatch(UUID);
    expect(reply.body.data.created_at).toMatch(TIMESTAMP);
    const events = await Event.find({ account_id: contract.gateway.account.id, type: 'client.created' });
    expect(events.map(({ body }) => JSON.parse(body).data.id)).toContain(reply.body.data.id);
  },
);

proves(
  'client.company',
  'when no company is given, then the field may be absent and the client is created',
  async () => {
    const client = await contract.make.client();

    expect(client.company_name ?? null).toBeNull();
  },
);

proves('client.phone', 'when a phone number is given, then it is accepted', async () => {
  const reply = await contract.post(path, { ...ada, phone: '+44 20 7946 0018' });

  expect(reply.status).toBe(201);
});

proves(
  'create-client.required create-client.errors error.client-fields',
  'when name or email is absent, then the literal text and no client',
  async () => {
    const before = (await contract.get(path)).body.pagination.total;
    for (const body of [{ name: 'Ada' }, { email: 'ada@example.com' }, {}]) {
      const reply = await contract.post(path, body);
      expect([reply.status, reply.body]).toEqual([
        400,
        expect.objectContaining({ error: 'Missing required fields: name, email' }),
      ]);
    }
    for (const wrong of [
      { ...ada, name: 7 },
      { ...ada, email: false },
    ]) {
      expect((await contract.post(path, wrong)).body.error).toBe('Validation failed');
    }
    expect((await contract.get(path)).body.pagination.total).toBe(before);
  },
);

proves('create-client.errors', 'when the key is not valid, then no client can be created', async () => {
  const reply = await contract.post(path, ada, { key: 'nonsense' });

  expect([reply.status, reply.body]).toEqual([401, UNAUTHORIZED]);
});

proves('client.embedded', 'when a client is embedded, then with id, name, email and company_name alone', async () => {
  const client = await contract.make.client(ada);
  const embedded = { id: client.id, ...ada };
  const project = await contract.make.project({ client_id: client.id });
  const quote = await contract.make.quote({ client_id: client.id });
  const invoice = await contract.make.invoice({ client_id: client.id });

  expect([project.client, quote.client, invoice.client]).toEqual([embedded, embedded, embedded]);
});

proves('other.exist', 'when a client is read, listed, changed and deleted, then it works', async () => {
  const { id } = await contract.make.client(ada);

  expect((await contract.get(`${path}/${id}`)).body.data).toMatchObject(ada);
  expect((await contract.get(path)).body.data[0].id).toBe(id);
  const changed = await contract.patch(`${path}/${id}`, { name: 'Ada King' });
  expect(changed.body).toMatchObject({ success: true, data: { ...ada, name: 'Ada King' } });
  expect((await contract.delete(`${path}/${id}`)).body).toMatchObject({ success: true });
  expect((await contract.get(`${path}/${id}`)).status).toBe(404);
});

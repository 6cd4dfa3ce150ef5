// The specification's rules about quotes.
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  type Contract,
  dayFromNow,
  expectPages,
  startContract,
  TIMESTAMP,
  UUID,
  unknownId,
} from '../../support/contract/contract.ts';
import { proves } from '../../support/contract/proves.ts';

let contract: Contract;
beforeAll(async () => {
  contract = await startContract();
});
afterAll(() => contract.close());

const path = '/api/v1/quotes';
const STATUSES = ['Draft', 'Sent', 'Accepted', 'Declined', 'Expired'];
const line = { description: 'Design', quantity: 2, rate: 50 };

proves(
  'does.quotes general.quote-number general.numbers-generated quote.fields quote.client quote.create quote.expires quote.description quote.lines create-quote.client create-quote.answer create-quote.expires create-quote.currency create-quote.tax create-quote.status endpoint.201 limit.quote-days limit.tax quote-state.draft',
  'when a quote is created from the least, then it has a number, the defaults and its client',
  async () => {
    const client = await contract.make.client();
    const reply = await contract.post(path, { client_id: client.id, amount: 120.5, quote_number: 'MINE-1' });

    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({
      success: true,
      data: {
        amount: 120.5,
        currency: 'USD',
        status: 'Draft',
        tax_rate: 0,
        description: null,
        client: { id: client.id, name: client.name, email: client.email },
      },
    });
    expect(reply.body.data.id).toMatch(UUID);
    expect(reply.body.data.quote_number).toMatch(/^QUO-\d{4}$/);
    expect(reply.body.data.created_at).toMatch(TIMESTAMP);
    expect([dayFromNow(30), dayFromNow(29)]).toContain(reply.body.data.expires_at);
  },
);

proves('general.quote-number', 'when quotes follow each other, then so do their numbers', async () => {
  const [first, second] = [await contract.make.quote(), await contract.make.quote()];

  expect(Number(second.quote_number.slice(4))).toBe(Number(first.quote_number.slice(4)) + 1);
});

proves(
  'create-quote.project create-quote.description create-quote.expires create-quote.currency create-quote.tax create-quote.status create-quote.lines quote.project quote.lines quote-state.sent get-quote.answer',
  'when every field is given, then every field is kept',
  async () => {
    const project = await contract.make.project();
    const given = { expires_at: '2099-01-31', description: 'Scope', currency: 'EUR', tax_rate: 19, status: 'Sent' };
    const quote = await contract.make.quote({
      client_id: project.client.id,
      project_id: project.id,
      line_items: [line],
      ...given,
    });
    const { data } = (await contract.get(`${path}/${quote.id}`)).body;

    expect(quote).toMatchObject(given);
    expect(data).toMatchObject({
      ...given,
      client: { id: project.client.id },
      project: { id: project.id, name: project.name },
    });
    expect(data.line_items).toHaveLength(1);
  },
);

proves(
  'create-quote.error create-quote.client create-quote.amount error.quote-details error.400 envelope.details',
  'when required fields are absent, then 400 with details as an array of strings',
  async () => {
    const reply = await contract.post(path, {});

    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('Validation failed');
    expect(reply.body.details).toEqual(expect.arrayContaining(['client_id is required', 'amount is required']));
  },
);

proves(
  'create-quote.amount create-quote.currency create-quote.tax create-quote.status create-quote.expires create-quote.lines limit.amount limit.tax limit.discount line.description line.quantity line.rate line.discount',
  'when a field breaks its rule, then 400 and no quote',
  async () => {
    const client = await contract.make.client();
    const before = (await contract.get(path)).body.pagination.total;
    const wrong = [
      { amount: -1 },
      { amount: '5' },
      { currency: 'EURO' },
      { tax_rate: 101 },
      { tax_rate: -1 },
      { status: 'Accepted' },
      { expires_at: '2026-02-30' },
      { line_items: 'none' },
      { line_items: [{ ...line, description: undefined }] },
      { line_items: [{ ...line, quantity: undefined }] },
      { line_items: [{ ...line, quantity: 'two' }] },
      { line_items: [{ ...line, rate: undefined }] },
      { line_items: [{ ...line, discount: 101 }] },
      { line_items: [{ ...line, discount: -1 }] },
    ];
    for (const fields of wrong) {
      const reply = await contract.post(path, { client_id: client.id, amount: 100, ...fields });
      expect([fields, reply.status, Array.isArray(reply.body.details)]).toEqual([fields, 400, true]);
    }
    for (const fields of [{ amount: 0 }, { tax_rate: 100 }, { line_items: [{ ...line, discount: 100 }] }]) {
      await contract.make.quote({ client_id: client.id, ...fields });
    }
    expect((await contract.get(path)).body.pagination.total).toBe(before + 3);
  },
);

proves('create-quote.client', "when the client is another account's, then 404 and no quote", async () => {
  const key = await contract.stranger();
  const theirs = await contract.make.client({}, { key });
  for (const client_id of [theirs.id, unknownId()]) {
    const reply = await contract.post(path, { client_id, amount: 1 });
    expect([reply.status, reply.body]).toEqual([
      404,
      expect.objectContaining({ error: 'Client not found or access denied' }),
    ]);
  }
});

proves(
  'list-quotes.client list-quotes.status list-quotes.answer quote.due-date pagination.total',
  'when quotes are listed with filters, then those that match',
  async () => {
    const client = await contract.make.client();
    for (const status of STATUSES) {
      const quote = await contract.make.quote({ client_id: client.id, expires_at: '2099-01-01' });
      await contract.patch(`${path}/${quote.id}`, { status });
    }
    const all = (await contract.get(`${path}?client_id=${client.id}`)).body;

    expect(all.pagination.total).toBe(5);
    expect(all.data.map(({ status }: { status: string }) => status).toSorted()).toEqual(STATUSES.toSorted());
    expect(all.data[0]).toMatchObject({ due_date: null, client: { id: client.id } });
    for (const status of STATUSES) {
      const some = (await contract.get(`${path}?client_id=${client.id}&status=${status}`)).body;
      expect([some.pagination.total, some.data[0].status]).toEqual([1, status]);
    }
    expect((await contract.get(`${path}?client_id=${unknownId()}`)).body.data).toEqual([]);
    expect((await contract.get(`${path}?status=Lost`)).status).toBe(400);
  },
);

proves('list-quotes.page limit.page limit.offset', 'when quotes are paged, then by the shared rules', async () => {
  await contract.make.quote();
  await contract.make.quote();

  await expectPages(contract, path);
});

proves(
  'get-quote.error error.quote-missing general.foreign',
  'when a quote is unknown or foreign, then `Quote not found`',
  async () => {
    const { id } = await contract.make.quote();
    const replies = [
      await contract.get(`${path}/${unknownId()}`),
      await contract.get(`${path}/not-an-id`),
      await contract.get(`${path}/${id}`, { key: await contract.stranger() }),
    ];

    for (const { status, body } of replies)
      expect([status, body]).toEqual([404, expect.objectContaining({ error: 'Quote not found' })]);
  },
);

proves(
  'update-quote.one update-quote.fields update-quote.answer quote-state.together envelope.update does.quotes',
  'when some fields are sent, then these change and the others do not',
  async () => {
    const quote = await contract.make.quote({ description: 'Before', tax_rate: 7 });
    const changes = { status: 'Sent', expires_at: '2099-05-05', amount: 75.25, currency: 'EUR', tax_rate: 19 };
    const reply = await contract.patch(`${path}/${quote.id}`, changes);

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      success: true,
      data: { id: quote.id, quote_number: quote.quote_number, ...changes, created_at: quote.created_at },
    });
    const { data } = (await contract.get(`${path}/${quote.id}`)).body;
    expect(data).toMatchObject({ ...changes, description: 'Before' });
    expect((await contract.patch(`${path}/${quote.id}`, { description: 'After' })).status).toBe(200);
    expect((await contract.get(`${path}/${quote.id}`)).body.data).toMatchObject({ ...changes, description: 'After' });
  },
);

proves('update-quote.status quote-state.any', 'when any status follows any other, then it is taken', async () => {
  const { id } = await contract.make.quote({ expires_at: '2099-01-01' });
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      await contract.patch(`${path}/${id}`, { status: from });
      expect((await contract.patch(`${path}/${id}`, { status: to })).body.data.status).toBe(to);
    }
  }
});

proves(
  'update-quote.rules update-quote.status limit.tax limit.amount',
  'when a change breaks its rule, then 400',
  async () => {
    const { id } = await contract.make.quote();
    for (const wrong of [
      { currency: 'EU' },
      { tax_rate: 101 },
      { status: 'Lost' },
      { amount: -1 },
      { expires_at: 'soon' },
    ]) {
      expect([wrong, (await contract.patch(`${path}/${id}`, wrong)).status]).toEqual([wrong, 400]);
    }
  },
);

proves(
  'update-quote.none update-quote.one error.no-fields',
  'when no known field is sent, then `No valid fields to update`',
  async () => {
    const { id } = await contract.make.quote();
    for (const body of [{}, { unknown: 1 }]) {
      const reply = await contract.patch(`${path}/${id}`, body);
      expect([reply.status, reply.body]).toEqual([
        400,
        expect.objectContaining({ error: 'No valid fields to update' }),
      ]);
    }
  },
);

proves(
  'update-quote.missing error.quote-denied general.foreign',
  'when the quote to change is unknown or foreign, then the stated text',
  async () => {
    const { id } = await contract.make.quote();
    const key = await contract.stranger();
    const replies = [
      await contract.patch(`${path}/${unknownId()}`, { amount: 1 }),
      await contract.patch(`${path}/${id}`, { amount: 1 }, { key }),
    ];
    for (const { status, body } of replies) {
      expect([status, body]).toEqual([404, expect.objectContaining({ error: 'Quote not found or access denied' })]);
    }
  },
);

// Quotes over HTTP: defaults, unrestricted status changes, and the events of each change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  type AnyRecord,
  answerOf,
  create,
  createClient,
  createProject,
  eventsOf,
  lastEvent,
  UNKNOWN_ID,
} from '../../support/records.ts';

const path = '/api/v1/quotes';
const today = dayIn('UTC');
const yesterday = addDays(today, -1);
const STATUSES = ['Draft', 'Sent', 'Accepted', 'Declined', 'Expired'];

let gateway: TestGateway;
let account: { id: string; key: string };
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, { company_name: 'Engines' }, account);
});

const post = (body: object, query = '') => gateway.post(path + query, { client_id: client.id, ...body }, account);
const make = (body: object = {}) => create(gateway, path, { client_id: client.id, amount: 100, ...body }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const read = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data;
const list = (query = '') => gateway.get(path + query, account);

describe('POST /api/v1/quotes', () => {
  test('when only the required fields are given, then the others have their defaults, and it is valid for 30 days', async () => {
    const reply = await post({ amount: 1234.5 });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        quote_number: 'QUO-0001',
        amount: 1234.5,
        currency: 'USD',
        status: 'Draft',
        expires_at: addDays(today, 30),
        due_date: null,
        issue_date: null,
        service_date: null,
        service_period: null,
        tax_rate: 0,
        description: null,
        line_items: null,
        client: { id: client.id, name: client.name, email: client.email, company_name: 'Engines' },
        project: null,
        acceptance: null,
        converted_at: null,
        invoices: [],
        left_to_bill: 1234.5,
        ...{ discount_amount: 0, discount_percent: null, notes: null, terms: null, rounding_amount: 0 },
        ...{ shipping_amount: 0, shipping_tax_rate: null, shipping_tax_category: null },
        subtotal: 1234.5,
        tax_amount: 0,
        taxes: [{ rate: 0, category: null, taxable: 1234.5, tax: 0, note: null }],
        prices_include_tax: false,
        total: 1234.5,
        amount_paid: 0,
        amount_due: 1234.5,
        delivery: null,
        decline: null,
        early_payment_discounts: null,
        order_reference: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
    expect((await list()).body).toEqual({ data: [reply.body.data], pagination: { total: 1, limit: 50, offset: 0 } });
    expect((await lastEvent(account.id)).data).toEqual(reply.body.data);
  });

  test('when all fields are given, then they are stored, and the amount is the one that was sent', async () => {
    const project = await createProject(gateway, { client_id: client.id }, account);
    const { data } = (
      await post({
        amount: 10,
        project_id: project.id,
        expires_at: '2031-12-31',
        description: 'Scope',
        currency: 'eur',
        tax_rate: 21,
        status: 'Sent',
        line_items: [{ description: 'x', quantity: 2, rate: 120.5 }],
      })
    ).body;

    expect(data).toMatchObject({
      amount: 10,
      tax_amount: 2.1,
      total: 12.1,
      expires_at: '2031-12-31',
      description: 'Scope',
      currency: 'EUR',
      status: 'Sent',
      line_items: [{ description: 'x', qty: '2', rate: '120.5', discount: '0' }],
      project: { id: project.id, name: project.name },
    });
    expect((await eventsOf(account.id)).slice(-2)).toEqual(['quote.created', 'quote.sent']);
  });

  test('when fields are invalid, then details is a list that names all of them', async () => {
    expect((await gateway.post(path, {}, account)).body).toMatchObject({
      error: 'Validation failed',
      details: ['client_id is required', 'amount is required'],
    });
    const reply = await post({ amount: -1, status: 'Accepted', expires_at: '2026-13-01', line_items: [{}] });
    expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
    expect(reply.body.details).toEqual([
      'amount must be greater than or equal to 0',
      'expires_at must be a calendar day written YYYY-MM-DD',
      'status must be one of Draft, Sent',
      'line_items[0].description is required',
      'line_items[0].quantity is required',
      'line_items[0].rate is required',
    ]);
    expect((await post({ amount: 1e12, currency: 'CLF' })).body.details).toEqual(['amount is too large in CLF']);
  });

  test('when a line is larger than a document can show, or becomes so in another currency, then 400', async () => {
    const line = { description: 'x', quantity: 4, rate: 1e12 };
    const reply = await post({ amount: 1, line_items: [line, { ...line, quantity: 5 }] });
    expect([reply.status, reply.body.details]).toEqual([400, ['line_items[1] is too large in USD']]);
    const { id } = await make({ amount: 1, currency: 'JPY', line_items: [line] });
    const changed = await patch(id, { currency: 'KWD' });
    expect([changed.status, changed.body.details]).toEqual([400, ['line_items[0] is too large in KWD']]);
    expect((await patch(id, { currency: 'USD' })).status).toBe(200);
  });

  test("when the client or project is unknown or another account's, then 404 and no number is lost", async () => {
    const foreign = { client: (await createClient(gateway)).id, project: (await createProject(gateway)).id };
    for (const client_id of [UNKNOWN_ID, foreign.client]) {
      expect(answerOf(await post({ amount: 1, client_id }))).toEqual([
        404,
        expect.objectContaining({ error: 'Client not found or access denied' }),
      ]);
    }
    for (const project_id of [UNKNOWN_ID, foreign.project]) {
      expect(answerOf(await post({ amount: 1, project_id }))).toEqual([
        404,
        expect.objectContaining({ error: 'Project not found or access denied' }),
      ]);
    }
    expect((await make()).quote_number).toBe('QUO-0001');
  });

  test('when it is a dry run, then nothing is stored and no number is drawn', async () => {
    const reply = await post({ amount: 5, tax_rate: 10 }, '?dry_run=true');

    expect([reply.status, reply.headers.get('Dry-Run')]).toEqual([200, 'true']);
    expect(reply.body.data).toMatchObject({ id: null, quote_number: null, total: 5.5 });
    expect((await list()).body.pagination.total).toBe(0);
    expect((await make()).quote_number).toBe('QUO-0001');
  });

  test('when quotes and invoices are created, then each kind has its own sequence', async () => {
    const invoice = () =>
      create(gateway, '/api/v1/invoices', { client_id: client.id, amount: 1, due_date: today }, account);

    expect([(await make()).quote_number, (await invoice()).invoice_number]).toEqual(['QUO-0001', 'INV-0001']);
    expect([(await invoice()).invoice_number, (await make()).quote_number]).toEqual(['INV-0002', 'QUO-0002']);
  });
});

describe('GET /api/v1/quotes', () => {
  test('when a sent quote is past its expiry day, then it reads, lists and filters as Expired', async () => {
    const late = await make({ status: 'Sent', expires_at: yesterday });
    const open = await make({ status: 'Sent', expires_at: today });
    const draft = await make({ expires_at: yesterday });
    const set = await make();
    await patch(set.id, { status: 'Expired' });
    const found = async (status: string) => (await list(`?status=${status}`)).body.data.map(({ id }: AnyRecord) => id);

    expect((await read(late.id)).status).toBe('Expired');
    expect(await found('Expired')).toEqual([set.id, late.id]);
    expect(await found('Sent')).toEqual([open.id]);
    expect(await found('Draft')).toEqual([draft.id]);
    expect(await found('Accepted')).toEqual([]);
  });

  test.each(['status=draft', 'client_id=me', 'limit=x', 'sort=amount'])(
    'when the query is %s, then 400 with a list of details',
    async (query) => {
      const reply = await list(`?${query}`);

      expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
      expect(reply.body.details).toEqual([expect.any(String)]);
    },
  );

  test('when the id is unknown, then 404 with the text of a read', async () => {
    expect(answerOf(await gateway.get(`${path}/${UNKNOWN_ID}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Quote not found' }),
    ]);
  });
});

describe('PATCH /api/v1/quotes/{id}', () => {
  test.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))(
    'when a %s quote is set to %s, then it has that status',
    async (from, to) => {
      const { id } = await make();
      await patch(id, { status: from });
      const reply = await patch(id, { status: to, description: `${from} to ${to}` });

      expect(reply.status).toBe(200);
      expect(reply.body.data).toMatchObject({ id, status: to, description: `${from} to ${to}` });
      expect(await read(id)).toEqual(reply.body.data);
    },
  );

  test('when the status changes, then its event follows the one of the update', async () => {
    const { id } = await make();
    for (const status of ['Sent', 'Sent', 'Declined', 'Accepted', 'Expired', 'Draft']) await patch(id, { status });

    expect((await eventsOf(account.id)).slice(2)).toEqual([
      'quote.updated',
      'quote.sent',
      'quote.updated',
      'quote.declined',
      'quote.updated',
      'quote.accepted',
      'quote.updated',
      'quote.expired',
      'quote.updated',
    ]);
  });

  test('when amounts change, then totals are recomputed', async () => {
    const { id } = await make({ tax_rate: 10, amount: 10.55 });

    expect((await patch(id, { currency: 'JPY' })).body.data).toMatchObject({ amount: 11, tax_amount: 1, total: 12 });
    expect((await patch(id, { amount: 7, currency: 'USD', tax_rate: 20 })).body.data).toMatchObject({ total: 8.4 });
    expect((await patch(id, { expires_at: '2031-01-01', description: null })).body.data).toMatchObject({
      expires_at: '2031-01-01',
      description: null,
      total: 8.4,
    });
  });

  test('when no known field is given, then 400; when the quote is unknown, then 404', async () => {
    const { id } = await make();

    expect(answerOf(await patch(id, { quote_number: 'QUO-9' }))).toEqual([
      400,
      expect.objectContaining({ error: 'No valid fields to update' }),
    ]);
    expect((await patch(id, { status: 'Gone', amount: -1 })).body.details).toHaveLength(2);
    expect(answerOf(await patch(UNKNOWN_ID, { amount: 1 }))).toEqual([
      404,
      expect.objectContaining({ error: 'Quote not found or access denied' }),
    ]);
  });

  test('when If-Match names an older version, then 412', async () => {
    const { id } = await make();
    const headers = { 'If-Match': String((await gateway.get(`${path}/${id}`, account)).headers.get('ETag')) };

    expect((await gateway.patch(`${path}/${id}`, { amount: 7 }, { ...account, headers })).status).toBe(200);
    expect((await gateway.patch(`${path}/${id}`, { amount: 8 }, { ...account, headers })).status).toBe(412);
  });
});

// Invoices over HTTP: amounts, numbers, statuses, and the events of each change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
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
import { emitExpirations } from '../../support/rounds.ts';

const path = '/api/v1/invoices';
const today = dayIn('UTC');
const tomorrow = addDays(today, 1);
const yesterday = addDays(today, -1);

let gateway: TestGateway;
let account: { id: string; key: string };
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

const post = (body: object, query = '') =>
  gateway.post(path + query, { client_id: client.id, due_date: tomorrow, ...body }, account);
const make = (body: object = {}) =>
  create(gateway, path, { client_id: client.id, due_date: tomorrow, amount: 100, ...body }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const read = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data;
const list = (query = '') => gateway.get(path + query, account);

describe('POST /api/v1/invoices', () => {
  test('when only the required fields are given, then the others have their defaults', async () => {
    const reply = await post({ amount: 100.5 });

    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        invoice_number: 'INV-0001',
        amount: 100.5,
        currency: 'USD',
        status: 'Draft',
        due_date: tomorrow,
        issue_date: null,
        service_date: null,
        service_period: null,
        tax_rate: 0,
        description: null,
        line_items: null,
        client: { id: client.id, name: client.name, email: client.email },
        project: null,
        quote: null,
        quote_part: null,
        recurring: null,
        fixed_part: null,
        ...{ discount_amount: 0, discount_percent: null, notes: null, terms: null, rounding_amount: 0 },
        ...{ shipping_amount: 0, shipping_tax_rate: null, shipping_tax_category: null },
        subtotal: 100.5,
        tax_amount: 0,
        taxes: [{ rate: 0, category: null, taxable: 100.5, tax: 0, note: null }],
        prices_include_tax: false,
        total: 100.5,
        amount_paid: 0,
        amount_credited: 0,
        total_credited: 0,
        amount_written_off: 0,
        amount_discounted: 0,
        early_payment_discounts: null,
        delivery: null,
        reminder_rest: null,
        reminders: null,
        cancelled_on: null,
        paid_on: null,
        buyer_reference: null,
        order_reference: null,
        contract_reference: null,
        corrects: null,
        corrects_number: null,
        amount_due: 100.5,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        updated_at: expect.any(String),
      },
    });
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
    expect((await list()).body.data).toEqual([reply.body.data]);
  });

  test('when lines are given, then each is rounded and their sum is the amount, whatever amount was sent', async () => {
    const line_items = [
      { description: 'Design', quantity: 3, rate: 33.335, discount: 50 },
      { description: 'Hosting', qty: 1, rate: 1.005 },
      { description: 'Credit', quantity: -1, rate: 10, discount: 0 },
    ];
    const summed = await post({ line_items, tax_rate: 8.25 });
    const overruled = await post({ line_items, tax_rate: 8.25, amount: 9999 });

    for (const { body } of [summed, overruled]) {
      expect(body.data).toMatchObject({ amount: 41.01, subtotal: 41.01, tax_amount: 3.38, total: 44.39 });
      expect(body.data.line_items).toEqual([
        { description: 'Design', qty: '3', rate: '33.335', discount: '50' },
        { description: 'Hosting', qty: '1', rate: '1.005', discount: '0' },
        { description: 'Credit', qty: '-1', rate: '10', discount: '0' },
      ]);
    }
  });

  test.each([
    ['JPY', 100.5, 101],
    ['USD', 1.005, 1.01],
    ['kwd', 1.0005, 1.001],
  ])('when the currency is %s, then %d is %d', async (currency, amount, expected) => {
    const { body } = await post({ amount, currency });

    expect(body.data).toMatchObject({ currency: currency.toUpperCase(), amount: expected, total: expected });
    expect((await read(body.data.id)).amount).toBe(expected);
  });

  test('when it is created as Sent, then it is announced as created and as sent, and its parties are frozen', async () => {
    const invoice = await make({ status: 'Sent' });
    await gateway.patch(`/api/v1/clients/${client.id}`, { name: 'Renamed' }, account);

    expect(await eventsOf(account.id)).toEqual(['client.created', 'invoice.created', 'invoice.sent', 'client.updated']);
    expect((await read(invoice.id)).client.name).toBe(client.name);
    const stored = await Invoice.findOne({ account_id: account.id, _id: invoice.id }).lean();
    expect(stored?.parties).toMatchObject({ issuer: { name: 'Test' }, client: { name: client.name } });
  });

  test('when every field is invalid, then 400 names each of them, and no number is drawn', async () => {
    const reply = await gateway.post(
      path,
      {
        client_id: 'x',
        due_date: '2026-02-30',
        amount: -1,
        currency: 'XXQ',
        tax_rate: 101,
        status: 'Paid',
        line_items: [{ quantity: '2e1', discount: 101 }],
      },
      account,
    );

    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('Validation failed');
    expect(reply.body.details).toEqual({
      client_id: ['client_id must be a UUID'],
      due_date: ['due_date must be a calendar day written YYYY-MM-DD'],
      amount: ['amount must be greater than or equal to 0'],
      currency: ['currency must be a 3-letter ISO 4217 currency code'],
      tax_rate: ['tax_rate must be less than or equal to 100'],
      status: ['status must be one of Draft, Sent'],
      'line_items.0.description': ['line_items[0].description is required'],
      'line_items.0.quantity': ['line_items[0].quantity must be a number or a plain decimal such as "1.50"'],
      'line_items.0.rate': ['line_items[0].rate is required'],
      'line_items.0.discount': ['line_items[0].discount must be less than or equal to 100'],
    });
    expect((await make()).invoice_number).toBe('INV-0001');
  });

  test.each([
    ['nothing', {}, ['client_id', 'amount', 'due_date']],
    ['an empty list of lines', { client_id: UNKNOWN_ID, due_date: tomorrow, line_items: [] }, ['amount']],
    [
      'lines that sum to less than nothing',
      { client_id: UNKNOWN_ID, due_date: tomorrow, line_items: [{ description: 'x', quantity: 1, rate: -1 }] },
      ['line_items'],
    ],
    [
      'lines beyond every amount',
      { client_id: UNKNOWN_ID, due_date: tomorrow, line_items: [{ description: 'x', quantity: 1e9, rate: 1e12 }] },
      ['line_items'],
    ],
    [
      '501 lines',
      {
        client_id: UNKNOWN_ID,
        due_date: tomorrow,
        line_items: Array.from({ length: 501 }, () => ({ description: 'x', quantity: 1, rate: 1 })),
      },
      ['line_items'],
    ],
    [
      'an amount too large for the decimals',
      { client_id: UNKNOWN_ID, due_date: tomorrow, amount: 1e12, currency: 'CLF' },
      ['amount'],
    ],
  ])('when the body has %s, then 400 names %j', async (_what, body, fields) => {
    const reply = await gateway.post(path, body, account);

    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details).sort()).toEqual([...(fields as string[])].sort());
  });

  test('when lines or their sum exceed what a double can hold to the cent, then 400; the largest sum is exact', async () => {
    const x = (quantity: number, rate: number) => ({ description: 'x', quantity, rate });
    const problems = async (line_items: object[], tax_rate: number) => {
      const reply = await post({ line_items, tax_rate });
      return [reply.status, reply.body.details];
    };
    expect(await problems([x(45, 1e12), x(1, 0.02)], 99)).toEqual([
      400,
      { line_items: ['line_items[0] is too large in USD'] },
    ]);
    // Two huge lines that cancel out could not be printed.
    expect(await problems([x(1e9, 1e12), x(-1e9, 1e12), x(1, 1)], 0)).toEqual([
      400,
      { line_items: ['line_items[0] is too large in USD', 'line_items[1] is too large in USD'] },
    ]);
    expect(
      await problems(
        Array.from({ length: 5 }, () => x(1, 1e12)),
        0,
      ),
    ).toEqual([400, { line_items: ['line_items is too large in USD'] }]);
    const line_items = [x(4, 1e12), x(1, 999_999_999_999.99)];
    const largest = await make({ line_items, tax_rate: 100 });
    expect(largest).toMatchObject({ amount: 4_999_999_999_999.99, total: 9_999_999_999_999.98 });
  });

  test('when an older version accepted a sum that is too large, then the invoice can still be paid', async () => {
    const { id } = await make({ status: 'Sent' });
    const line_items = [{ description: 'x', qty: '45', rate: '1000000000000', discount: '0' }];
    await Invoice.updateOne({ _id: id, account_id: account.id }, { $set: { amount: 45e14, line_items } });

    expect((await patch(id, { status: 'Paid' })).status).toBe(200);
  });

  test('when there are far too many lines, all invalid, then 400 names their number and the other invalid field', async () => {
    const line_items = Array.from({ length: 9_000 }, () => ({}));
    const reply = await gateway.post(path, { client_id: 'x', due_date: tomorrow, line_items }, account);

    expect(reply.status).toBe(400);
    expect(Object.keys(reply.body.details).sort()).toEqual(['client_id', 'line_items']);
    expect(reply.body.details.line_items).toEqual(['line_items must contain less than or equal to 500 items']);
  });

  test('when 500 lines are given, then they are accepted', async () => {
    const line_items = Array.from({ length: 500 }, () => ({ description: 'x', quantity: 1, rate: 0.015 }));

    expect((await post({ line_items })).body.data.amount).toBe(10);
  });

  test.each([
    ['an unknown client', async () => ({ client_id: UNKNOWN_ID }), 'Client not found or access denied'],
    [
      "another account's client",
      async () => ({ client_id: (await createClient(gateway)).id }),
      'Client not found or access denied',
    ],
    ['an unknown project', async () => ({ project_id: UNKNOWN_ID }), 'Project not found or access denied'],
    [
      "another account's project",
      async () => ({ project_id: (await createProject(gateway)).id }),
      'Project not found or access denied',
    ],
  ])('when it names %s, then 404 and no number is lost', async (_what, fields, error) => {
    const reply = await post({ amount: 1, ...(await fields()) });

    expect(answerOf(reply)).toEqual([404, expect.objectContaining({ error })]);
    expect((await make()).invoice_number).toBe('INV-0001');
  });

  test('when it names a project of the account, then the response embeds it', async () => {
    const project = await createProject(gateway, { client_id: client.id }, account);
    const invoice = await make({ project_id: project.id });

    expect(invoice.project).toEqual({ id: project.id, name: project.name });
    expect((await list()).body.data[0].project).toEqual(invoice.project);
  });

  test('when the account has a default tax rate, then it applies if none is given', async () => {
    await gateway.patch('/api/v1/account', { default_tax_rate: 20 }, account);

    expect(await make()).toMatchObject({ tax_rate: 20, total: 120 });
    expect(await make({ tax_rate: 0 })).toMatchObject({ tax_rate: 0, total: 100 });
  });

  test('when it is a dry run, then the response has totals and nothing is stored, numbered or announced', async () => {
    const before = await eventsOf(account.id);
    const reply = await post(
      { line_items: [{ description: 'x', quantity: 2, rate: 3 }], status: 'Sent' },
      '?dry_run=true',
    );

    expect(reply.status).toBe(200);
    expect(reply.headers.get('Dry-Run')).toBe('true');
    expect(reply.body.data).toMatchObject({ id: null, invoice_number: null, total: 6, client: { id: client.id } });
    expect((await list()).body.pagination.total).toBe(0);
    expect(await eventsOf(account.id)).toEqual(before);
    expect((await post({ amount: 1, client_id: UNKNOWN_ID }, '?dry_run=true')).status).toBe(404);
    expect((await post({}, '?dry_run=true')).status).toBe(400);
    expect((await post({ amount: 1 }, '?dry_run=yes')).status).toBe(400);
    expect((await make()).invoice_number).toBe('INV-0001');
  });
});

describe('GET /api/v1/invoices', () => {
  test('when a sent invoice is past its due date, then it reads, lists and filters as Overdue', async () => {
    const late = await make({ status: 'Sent', due_date: yesterday });
    const due = await make({ status: 'Sent', due_date: today });
    const draft = await make({ due_date: yesterday });

    expect(late.status).toBe('Sent'); // The response to a create shows the requested status.
    expect((await read(late.id)).status).toBe('Overdue');
    const found = async (status: string) => (await list(`?status=${status}`)).body.data.map(({ id }: AnyRecord) => id);
    expect(await found('Overdue')).toEqual([late.id]);
    expect(await found('Sent')).toEqual([due.id]);
    expect(await found('Draft')).toEqual([draft.id]);
    expect((await list('?status=Overdue')).body.pagination.total).toBe(1);
  });

  test('when the account is in another time zone, then its own calendar day decides', async () => {
    // At any time, one of the two is a day ahead of the other.
    const ahead = await gateway.workspace.account({ timeZone: 'Pacific/Kiritimati' });
    const behind = await gateway.workspace.account({ timeZone: 'Etc/GMT+12' });
    const due_date = dayIn('Etc/GMT+12');
    const statuses = await Promise.all(
      [ahead, behind].map(async (account) => {
        const { id: client_id } = await createClient(gateway, {}, account);
        const body = { client_id, amount: 1, due_date, status: 'Sent' };
        const { id } = await create(gateway, path, body, account);
        return (await gateway.get(`${path}/${id}`, account)).body.data.status;
      }),
    );

    expect(statuses).toEqual(['Overdue', 'Sent']);
  });

  test('when filters, sort and pages are combined, then each of them applies', async () => {
    const other = await createClient(gateway, {}, account);
    const first = await make({ due_date: addDays(today, 9) });
    const second = await make({ due_date: addDays(today, 3), client_id: other.id });
    const third = await make({ due_date: addDays(today, 6) });
    const ids = async (query: string) => (await list(query)).body.data.map(({ id }: AnyRecord) => id);

    expect(await ids('')).toEqual([third.id, second.id, first.id]);
    expect(await ids('?sort=created_at')).toEqual([first.id, second.id, third.id]);
    expect(await ids('?sort=due_date')).toEqual([second.id, third.id, first.id]);
    expect(await ids('?sort=-due_date')).toEqual([first.id, third.id, second.id]);
    expect(await ids(`?client_id=${other.id}`)).toEqual([second.id]);
    expect(await ids(`?client_id=${client.id}&status=Draft&limit=1&offset=1`)).toEqual([first.id]);
    expect(await ids(`?client_id=${UNKNOWN_ID}`)).toEqual([]);
    await patch(first.id, { description: 'touched' });
    const since = (await read(first.id)).updated_at;
    expect(await ids(`?updated_since=${since}`)).toEqual([first.id]);
    expect((await list(`?updated_since=${since}&sort=due_date`)).body.pagination.total).toBe(1);
    expect((await list('?limit=500')).body.pagination).toEqual({ total: 3, limit: 100, offset: 0 });
  });

  test.each([
    'status=paid',
    'status=Draft&status=Sent',
    'status[$ne]=Draft',
    'client_id=1',
    'limit=0',
    'limit=1.5',
    'limit=-1',
    'offset=-1',
    'limit=1e2',
    'offset=0x1',
    'sort=number',
    'updated_since=2026-02-30',
    'updated_since=yesterday',
  ])('when the query is %s, then 400', async (query) => {
    const reply = await list(`?${query}`);

    expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
  });
});

describe('GET /api/v1/invoices/{id}', () => {
  test('when the caller has the current version, then 304; when it has changed, then the new one', async () => {
    const { id } = await make();
    const first = await gateway.get(`${path}/${id}`, account);
    const headers = { 'If-None-Match': String(first.headers.get('ETag')) };

    expect(first.headers.get('ETag')).toMatch(/^"[\w-]+"$/);
    expect((await gateway.get(`${path}/${id}`, { ...account, headers })).status).toBe(304);
    await patch(id, { description: 'new' });
    expect((await gateway.get(`${path}/${id}`, { ...account, headers })).status).toBe(200);
  });

  test('when the id is unknown, then 404 with the text of a read', async () => {
    expect(answerOf(await gateway.get(`${path}/${UNKNOWN_ID}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Invoice not found' }),
    ]);
  });
});

describe('PATCH /api/v1/invoices/{id}', () => {
  const ways = {
    Draft: { Draft: 200, Sent: 200, Paid: 409, Overdue: 409, Cancelled: 200 },
    Sent: { Draft: 409, Sent: 200, Paid: 200, Overdue: 200, Cancelled: 200 },
    Overdue: { Draft: 409, Sent: 200, Paid: 200, Overdue: 200, Cancelled: 200 },
    Paid: { Draft: 409, Sent: 409, Paid: 200, Overdue: 409, Cancelled: 409 },
    Cancelled: { Draft: 409, Sent: 409, Paid: 409, Overdue: 409, Cancelled: 200 },
  } as const;
  const steps = {
    Draft: [],
    Sent: ['Sent'],
    Overdue: ['Sent', 'Overdue'],
    Paid: ['Sent', 'Paid'],
    Cancelled: ['Cancelled'],
  };
  const moves = Object.entries(ways).flatMap(([from, row]) =>
    Object.entries(row).map(([to, status]) => [from, to, status] as const),
  );

  test.each(moves)('when a %s invoice is set to %s, then %d', async (from, to, status) => {
    const { id } = await make();
    for (const step of steps[from as keyof typeof steps]) await patch(id, { status: step });
    const reply = await patch(id, { status: to });

    expect(reply.status).toBe(status);
    if (status === 409)
      expect(reply.body).toEqual(expect.objectContaining({ error: `Cannot change status from ${from} to ${to}` }));
    expect((await read(id)).status).toBe(status === 200 ? to : from);
  });

  test('when the status changes, then its event follows the one of the update', async () => {
    const { id } = await make();
    for (const status of ['Sent', 'Overdue', 'Sent', 'Paid']) await patch(id, { status });
    const other = await make();
    await patch(other.id, { status: 'Cancelled', description: 'Too late' });
    await patch(other.id, { status: 'Cancelled' });

    expect((await eventsOf(account.id)).slice(1)).toEqual([
      'invoice.created',
      ...['sent', 'overdue', 'sent'].flatMap((what) => ['invoice.updated', `invoice.${what}`]),
      ...['invoice.updated', 'payment.received', 'payment.recorded', 'invoice.paid'],
      'invoice.created',
      'invoice.updated',
      'invoice.cancelled',
    ]);
    expect(await read(id)).toMatchObject({ amount_paid: 100, amount_due: 0 });
    expect(await read(other.id)).toMatchObject({ amount_paid: 0, amount_due: 0, description: 'Too late' });
  });

  test('when it is sent and past its due date, then it changes status as an overdue one', async () => {
    const { id } = await make({ status: 'Sent', due_date: yesterday });

    expect((await patch(id, { status: 'Paid' })).body.data.status).toBe('Paid');
  });

  test('when the amounts of a draft change, then all totals are recomputed', async () => {
    const { id } = await make({ tax_rate: 10 });
    const change = async (body: object) => (await patch(id, body)).body.data;

    expect(await change({ amount: 50 })).toMatchObject({ amount: 50, tax_amount: 5, total: 55 });
    expect(await change({ tax_rate: 20 })).toMatchObject({ amount: 50, tax_amount: 10 });
    const line_items = [{ description: 'x', quantity: 2, rate: 7.255 }];
    expect(await change({ line_items, amount: 1 })).toMatchObject({ amount: 14.51, tax_amount: 2.9 });
    expect(await change({ amount: 1 })).toMatchObject({ amount: 14.51 });
    expect(await change({ currency: 'JPY' })).toMatchObject({ amount: 15, tax_amount: 3, currency: 'JPY' });
    expect(await change({ line_items: null })).toMatchObject({ amount: 15, line_items: null });
    expect(await change({ currency: 'USD', amount: 2.5, description: 'memo' })).toMatchObject({
      amount: 2.5,
      description: 'memo',
    });
    expect(await read(id)).toMatchObject({ amount: 2.5, tax_amount: 0.5, total: 3 });
  });

  describe('an issued invoice', () => {
    const LINE = { description: 'x', quantity: 1, rate: 5 };
    const issued = {
      Sent: { steps: [], when: 'after the invoice was sent' },
      Overdue: { steps: ['Overdue'], when: 'after the invoice was sent' },
      Paid: { steps: ['Paid'], when: 'of a paid invoice' },
      Cancelled: { steps: ['Cancelled'], when: 'of a cancelled invoice' },
    } as const;
    const cases = Object.entries(issued).map(([status, { steps, when }]) => [status, steps, when] as const);
    async function madeAs(steps: readonly string[], fields: object = { line_items: [LINE] }) {
      const { id } = await make({ status: 'Sent', description: 'Logo design', ...fields });
      for (const status of steps) expect((await patch(id, { status })).status).toBe(200);
      return id as string;
    }

    test.each(cases)(
      'when it is %s, then its amounts, project, lines and description cannot change',
      async (status, steps, when) => {
        const id = await madeAs(steps);
        const project = await createProject(gateway, { client_id: client.id }, account);
        const before = await read(id);
        const events = await eventsOf(account.id);

        for (const [body, names] of [
          [{ amount: 1, line_items: null }, 'amount, line_items'],
          [{ currency: 'EUR' }, 'currency'],
          [{ tax_rate: 1 }, 'tax_rate'],
          [{ line_items: [] }, 'line_items'],
          [{ project_id: project.id }, 'project_id'],
          [{ description: 'Consulting 2025, 40 hours' }, 'description'],
          [{ description: null, tax_rate: 7 }, 'description, tax_rate'],
        ] as const) {
          const { status: httpStatus, body: response } = await patch(id, body);
          expect([httpStatus, response]).toEqual([
            409,
            expect.objectContaining({ error: `Cannot change ${names} ${when}` }),
          ]);
        }
        expect(await read(id)).toEqual(before);
        expect(before.status).toBe(status);
        expect(await eventsOf(account.id)).toEqual(events);
      },
    );

    test.each(cases)(
      'when it is %s, then its due date can change only while it is open',
      async (status, steps, when) => {
        const id = await madeAs(steps);
        const later = addDays(tomorrow, 30);
        const { status: httpStatus, body } = await patch(id, { due_date: later });

        if (status === 'Sent' || status === 'Overdue') expect([httpStatus, body.data.due_date]).toEqual([200, later]);
        else
          expect([httpStatus, body]).toEqual([
            409,
            expect.objectContaining({ error: `Cannot change due_date ${when}` }),
          ]);
      },
    );

    test.each(cases)(
      'when it is %s and the same values are sent again, then they are accepted',
      async (status, steps) => {
        const id = await madeAs(steps);
        const same = {
          currency: 'USD',
          tax_rate: 0,
          line_items: [LINE],
          amount: 5,
          due_date: tomorrow,
          project_id: null,
        };
        const { status: httpStatus, body } = await patch(id, { ...same, status, description: 'Logo design' });

        expect([httpStatus, body.data.status, body.data.amount]).toEqual([200, status, 5]);
      },
    );

    test('when its status changes with its current values, then it is accepted; with other values, then it is rejected', async () => {
      const id = await madeAs([], { amount: 1000 });

      expect((await patch(id, { status: 'Paid', amount: 900 })).body).toMatchObject({
        error: 'Cannot change amount after the invoice was sent',
      });
      expect((await read(id)).status).toBe('Sent');
      expect((await patch(id, { status: 'Paid', amount: 1000, description: 'Logo design' })).status).toBe(200);
      expect(await read(id)).toMatchObject({ status: 'Paid', amount_paid: 1000 });
    });
  });

  test('when a draft is sent later, then the client details on it are frozen from then on', async () => {
    const { id } = await make();
    await gateway.patch(`/api/v1/clients/${client.id}`, { name: 'Second name' }, account);
    expect((await read(id)).client.name).toBe('Second name');
    await patch(id, { status: 'Sent' });
    await gateway.patch(`/api/v1/clients/${client.id}`, { name: 'Third name' }, account);

    expect((await read(id)).client.name).toBe('Second name');
  });

  test('when the scheduler has announced that it is overdue, then a change that keeps its due date does not announce it again', async () => {
    const { id } = await make({ status: 'Sent', due_date: yesterday });
    const filter = { account_id: account.id, _id: id };
    const stored = async () => (await Invoice.findOne(filter).lean())?.expires_on;
    expect(await stored()).toBe(yesterday);
    await Invoice.updateOne(filter, { $unset: { expires_on: 1 } });
    await patch(id, { due_date: addDays(yesterday, -1) });
    expect(await stored()).toBeUndefined();
    await patch(id, { due_date: tomorrow });
    expect(await stored()).toBe(tomorrow);
    await patch(id, { status: 'Paid' });
    expect(await stored()).toBeUndefined();
  });

  test('when no known field is given, then 400; when a field is invalid, then 400 by field', async () => {
    const { id } = await make();

    for (const body of [{}, { nothing: 1 }, { invoice_number: 'INV-9999' }, [], null]) {
      expect(answerOf(await patch(id, body as object))).toEqual([
        400,
        expect.objectContaining({ error: 'No valid fields to update' }),
      ]);
    }
    expect((await patch(id, { status: 'paid', amount: '1' })).body).toMatchObject({
      error: 'Validation failed',
      details: {
        status: ['status must be one of Draft, Sent, Paid, Overdue, Cancelled'],
        amount: ['amount must be a number'],
      },
    });
  });

  test('when If-Match names an older version, then 412 and nothing changes', async () => {
    const { id } = await make();
    const tag = String((await gateway.get(`${path}/${id}`, account)).headers.get('ETag'));
    const patched = await gateway.patch(`${path}/${id}`, { amount: 7 }, { ...account, headers: { 'If-Match': tag } });
    const late = await gateway.patch(`${path}/${id}`, { amount: 8 }, { ...account, headers: { 'If-Match': tag } });
    const removal = await gateway.delete(`${path}/${id}`, { ...account, headers: { 'If-Match': tag } });

    expect([patched.status, late.status, removal.status]).toEqual([200, 412, 412]);
    expect((await read(id)).amount).toBe(7);
    const any = { ...account, headers: { 'If-Match': '*' } };
    expect((await gateway.patch(`${path}/${id}`, { amount: 9 }, any)).status).toBe(200);
  });
});

describe('DELETE /api/v1/invoices/{id}', () => {
  test('when it is a draft, then it is deleted, its number leaves a tombstone and is never reused', async () => {
    const { id } = await make();
    const reply = await gateway.delete(`${path}/${id}`, account);

    expect(answerOf(reply)).toEqual([200, { success: true, message: 'Invoice deleted' }]);
    expect((await gateway.get(`${path}/${id}`, account)).status).toBe(404);
    expect(await lastEvent(account.id)).toMatchObject({
      type: 'invoice.deleted',
      data: { id, invoice_number: 'INV-0001' },
    });
    const [row] = await NumberLedger.find({ account_id: account.id }).lean();
    expect(row).toMatchObject({ kind: 'invoice', number: 1, deleted_at: expect.any(Date) });
    expect((await make()).invoice_number).toBe('INV-0002');
    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      404,
      expect.objectContaining({ error: 'Invoice not found or access denied' }),
    ]);
  });

  test.each(['Sent', 'Cancelled'])('when it is %s, then 409 and it stays', async (status) => {
    const { id } = await make();
    await patch(id, { status });

    expect(answerOf(await gateway.delete(`${path}/${id}`, account))).toEqual([
      409,
      expect.objectContaining({ error: 'Can only delete invoices with Draft status' }),
    ]);
    expect((await read(id)).status).toBe(status);
  });

  test('when it is sent and deleted concurrently, then one of the two wins', async () => {
    const { id } = await make();
    const [sent, removed] = await Promise.all([
      patch(id, { status: 'Sent' }),
      gateway.delete(`${path}/${id}`, account),
    ]);

    expect([
      [200, 409],
      [404, 200],
    ]).toContainEqual([sent.status, removed.status]);
  });
});

describe('an expiry that was not announced yet', () => {
  test.each([
    ['invoices', { due_date: yesterday }, 'Overdue', 'invoice.overdue'],
    ['quotes', { expires_at: yesterday }, 'Expired', 'quote.expired'],
  ])(
    'when a caller sets the status of %s before the scheduler runs, then it is announced once',
    async (kind, due, status, type) => {
      const body = { client_id: client.id, amount: 100, status: 'Sent', ...due };
      const { id } = await create(gateway, `/api/v1/${kind}`, body, account);
      for (let times = 0; times < 2; times += 1)
        expect((await gateway.patch(`/api/v1/${kind}/${id}`, { status }, account)).status).toBe(200);
      await emitExpirations();

      expect((await eventsOf(account.id)).filter((event) => event === type)).toEqual([type]);
    },
  );
});

describe('an expiry day that has passed', () => {
  const kinds = [
    ['invoices', 'due_date', 'Overdue'],
    ['quotes', 'expires_at', 'Expired'],
  ] as const;
  const later = addDays(today, 30);
  const dayBefore = addDays(yesterday, -1);

  async function made(kind: string, day: string) {
    const at = `/api/v1/${kind}`;
    const body = { client_id: client.id, amount: 100, status: 'Sent', [day]: yesterday };
    const { id } = await create(gateway, at, body, account);
    return {
      change: (changes: object) => gateway.patch(`${at}/${id}`, changes, account),
      status: async () => (await gateway.get(`${at}/${id}`, account)).body.data.status,
    };
  }
  const expiryEvents = async () =>
    (await eventsOf(account.id)).filter((type) => type === 'invoice.overdue' || type === 'quote.expired').length;

  test.each(kinds)(
    'when a caller sets the status that %s already have by that day, then a later day still reverts it',
    async (...kind) => {
      const [, day, status] = kind;
      const one = await made(kind[0], day);
      expect((await one.change({ status })).body.data.status).toBe(status);
      expect(await one.status()).toBe(status);
      expect((await one.change({ [day]: later })).body.data.status).toBe('Sent');
      expect(await one.status()).toBe('Sent');
    },
  );

  test.each(kinds)(
    'when the status and a later day of %s are set together, then they keep the status',
    async (...kind) => {
      const [, day, status] = kind;
      const one = await made(kind[0], day);
      await one.change({ status, [day]: later });
      expect(await one.status()).toBe(status);
    },
  );

  test.each(kinds)(
    'when the day of %s is corrected to another past day, then no second event is emitted',
    async (...kind) => {
      const one = await made(kind[0], kind[1]);
      await one.change({ [kind[1]]: dayBefore });
      await emitExpirations();
      expect(await expiryEvents()).toBe(1);
      await one.change({ [kind[1]]: yesterday });
      await emitExpirations();
      expect(await expiryEvents()).toBe(1);
      // A day in the future starts anew: when it passes, there is another event.
      await one.change({ [kind[1]]: later });
      await one.change({ [kind[1]]: yesterday });
      await emitExpirations();
      expect(await expiryEvents()).toBe(2);
    },
  );
});

describe('an invoice without a due date', () => {
  const draft = (body: object = {}) => gateway.post(path, { client_id: client.id, amount: 100, ...body }, account);
  const REQUIRED = { due_date: ['due_date is required'] };

  test('when neither client nor account has payment days, then it is required, beside whatever else is wrong', async () => {
    const unknown = await draft({ client_id: UNKNOWN_ID });
    const alone = await draft();
    for (const reply of [unknown, alone]) expect([reply.status, reply.body.details]).toEqual([400, REQUIRED]);
    const both = await draft({ amount: -1 });
    expect(both.body.details).toEqual({ ...REQUIRED, amount: ['amount must be greater than or equal to 0'] });
    expect((await draft({ due_date: null })).body.details).toEqual({ due_date: ['due_date must be a string'] });
    expect((await gateway.get('/api/v1/invoices', account)).body.pagination.total).toBe(0);
  });

  test('when the client has payment days, then they count, else those of the account, from the issue date or today', async () => {
    await gateway.patch('/api/v1/account', { payment_days: 10 }, account);
    expect((await draft()).body.data.due_date).toBe(addDays(today, 10));
    expect((await draft({ issue_date: yesterday })).body.data.due_date).toBe(addDays(yesterday, 10));
    await gateway.patch(`/api/v1/clients/${client.id}`, { payment_days: 0 }, account);
    expect((await draft({ status: 'Sent' })).body.data.due_date).toBe(today);
    expect((await draft({ due_date: tomorrow })).body.data.due_date).toBe(tomorrow);
    await gateway.patch('/api/v1/account', { payment_days: null }, account);
    expect((await draft()).body.data.due_date).toBe(today);
  });

  test('when the account has payment days and something else is wrong, then the due date is not missing', async () => {
    await gateway.patch('/api/v1/account', { payment_days: 10 }, account);
    expect((await draft({ amount: -1 })).body.details).toEqual({
      amount: ['amount must be greater than or equal to 0'],
    });
    expect((await draft({ client_id: UNKNOWN_ID })).status).toBe(404);
  });
});

// The specification's rules about invoices.
import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  type Contract,
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

const path = '/api/v1/invoices';
const STATUSES = ['Draft', 'Sent', 'Paid', 'Overdue', 'Cancelled'];
const FAR = '2099-12-31';
const line = { description: 'Design', quantity: 2, rate: 50 };

proves(
  'does.invoices general.invoice-number general.numbers-generated invoice.fields invoice.description invoice.client create-invoice.client create-invoice.due create-invoice.currency create-invoice.tax create-invoice.status create-invoice.answer endpoint.201 limit.tax invoice-state.draft',
  'when an invoice is created from the least, then it has a number, the defaults and its client',
  async () => {
    const client = await contract.make.client();
    const given = { client_id: client.id, amount: 120.5, due_date: FAR, invoice_number: 'MINE-1' };
    const reply = await contract.post(path, given);

    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({
      success: true,
      data: {
        amount: 120.5,
        currency: 'USD',
        status: 'Draft',
        due_date: FAR,
        tax_rate: 0,
        description: null,
        client: { id: client.id, name: client.name, email: client.email },
      },
    });
    expect(reply.body.data.id).toMatch(UUID);
    expect(reply.body.data.invoice_number).toMatch(/^INV-\d{4}$/);
    expect(reply.body.data.created_at).toMatch(TIMESTAMP);
    const { data } = (await contract.get(`${path}/${reply.body.data.id}`)).body;
    expect([data.line_items ?? null, data.project]).toEqual([null, null]);
  },
);

proves('general.invoice-number', 'when invoices follow each other, then so do their numbers', async () => {
  const [first, second] = [await contract.make.invoice(), await contract.make.invoice()];

  expect(Number(second.invoice_number.slice(4))).toBe(Number(first.invoice_number.slice(4)) + 1);
});

proves(
  'create-invoice.project create-invoice.description create-invoice.currency create-invoice.tax create-invoice.status invoice.project invoice-state.sent get-invoice.answer envelope.get',
  'when every field is given, then every field is kept',
  async () => {
    const project = await contract.make.project();
    const given = { due_date: FAR, description: 'Memo', currency: 'EUR', tax_rate: 19, status: 'Sent', amount: 80 };
    const invoice = await contract.make.invoice({ client_id: project.client.id, project_id: project.id, ...given });
    const reply = await contract.get(`${path}/${invoice.id}`);

    expect(invoice).toMatchObject(given);
    expect(Object.keys(reply.body)).toEqual(['data']);
    expect(reply.body.data).toMatchObject({
      ...given,
      client: { id: project.client.id },
      project: { id: project.id, name: project.name },
    });
  },
);

proves(
  'create-invoice.no-amount create-invoice.lines invoice.lines line.answer line.discount',
  'when line items are given, then the amount is their sum and they come back with strings',
  async () => {
    const client = await contract.make.client();
    const items = [line, { description: 'Build', quantity: 1.5, rate: 80.1, discount: 10 }];
    const body = { client_id: client.id, due_date: FAR, line_items: items };
    const reply = await contract.post(path, body);

    expect(reply.status).toBe(201);
    expect(reply.body.data.amount).toBe(208.14); // 100 + 1.5 × 80.1 × 0.9 = 108.135, rounded half away from zero.
    expect(reply.body.data.line_items).toEqual([
      { description: 'Design', qty: '2', rate: '50', discount: '0' },
      { description: 'Build', qty: '1.5', rate: '80.1', discount: '10' },
    ]);
    expect((await contract.post(path, { ...body, amount: 5 })).body.data.amount).toBe(208.14);
  },
);

proves(
  'create-invoice.error create-invoice.client create-invoice.amount create-invoice.due error.field-details error.400 envelope.details error.shape',
  'when required fields are absent, then 400 with details from field to messages',
  async () => {
    const reply = await contract.post(path, {});

    expect(reply.status).toBe(400);
    expect(reply.body.error).toBe('Validation failed');
    expect(reply.body.details).toMatchObject({
      client_id: ['client_id is required'],
      amount: ['amount is required'],
      due_date: ['due_date is required'],
    });
  },
);

proves(
  'create-invoice.amount create-invoice.currency create-invoice.tax create-invoice.status create-invoice.due limit.amount limit.tax limit.discount line.description line.quantity line.rate line.discount',
  'when a field breaks its rule, then 400 names it and no invoice is made',
  async () => {
    const client = await contract.make.client();
    const before = (await contract.get(path)).body.pagination.total;
    const wrong: Array<[string, object]> = [
      ['amount', { amount: -1 }],
      ['amount', { amount: '5' }],
      ['currency', { currency: 'EURO' }],
      ['tax_rate', { tax_rate: 101 }],
      ['tax_rate', { tax_rate: -1 }],
      ['status', { status: 'Paid' }],
      ['due_date', { due_date: '2026-02-30' }],
      ['line_items', { line_items: 'none' }],
      ['line_items', { line_items: [{ ...line, description: undefined }] }],
      ['line_items', { line_items: [{ ...line, quantity: undefined }] }],
      ['line_items', { line_items: [{ ...line, rate: 'fifty' }] }],
      ['line_items', { line_items: [{ ...line, rate: undefined }] }],
      ['line_items', { line_items: [{ ...line, discount: 101 }] }],
      ['line_items', { line_items: [{ ...line, discount: -1 }] }],
    ];
    for (const [field, fields] of wrong) {
      const reply = await contract.post(path, { client_id: client.id, amount: 100, due_date: FAR, ...fields });
      expect([fields, reply.status]).toEqual([fields, 400]);
      expect(Object.keys(reply.body.details)[0]).toMatch(new RegExp(`^${field}`));
    }
    await contract.make.invoice({ client_id: client.id, amount: 0, tax_rate: 100 });
    expect((await contract.get(path)).body.pagination.total).toBe(before + 1);
  },
);

proves(
  'create-invoice.foreign create-invoice.client error.invoice-client error.404',
  "when the client is unknown or another account's, then 404 and no invoice",
  async () => {
    const theirs = await contract.make.client({}, { key: await contract.stranger() });
    for (const client_id of [theirs.id, unknownId()]) {
      const reply = await contract.post(path, { client_id, amount: 1, due_date: FAR });
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Client not found or access denied' }),
      ]);
    }
  },
);

proves(
  'list-invoices.client list-invoices.status list-invoices.answer invoice-state.five pagination.total',
  'when invoices are listed with filters, then those that match',
  async () => {
    const client = await contract.make.client();
    await contract.make.invoice({ client_id: client.id });
    for (const status of STATUSES.slice(1)) {
      const invoice = await contract.make.invoice({ client_id: client.id, status: 'Sent' });
      if (status === 'Sent') continue;
      expect([status, (await contract.patch(`${path}/${invoice.id}`, { status })).status]).toEqual([status, 200]);
    }
    const all = (await contract.get(`${path}?client_id=${client.id}`)).body;

    expect(all.pagination.total).toBe(5);
    expect(all.data.map(({ status }: { status: string }) => status).toSorted()).toEqual(STATUSES.toSorted());
    for (const status of STATUSES) {
      const some = (await contract.get(`${path}?client_id=${client.id}&status=${status}`)).body;
      expect([some.pagination.total, some.data[0].status]).toEqual([1, status]);
    }
    expect((await contract.get(`${path}?client_id=${unknownId()}`)).body.data).toEqual([]);
    expect((await contract.get(`${path}?status=Lost`)).status).toBe(400);
  },
);

proves('list-invoices.page limit.page limit.offset', 'when invoices are paged, then by the shared rules', async () => {
  await contract.make.invoice();
  await contract.make.invoice();

  await expectPages(contract, path);
});

proves(
  'get-invoice.error error.invoice-missing general.foreign',
  'when an invoice is unknown or foreign, then `Invoice not found`',
  async () => {
    const { id } = await contract.make.invoice();
    const replies = [
      await contract.get(`${path}/${unknownId()}`),
      await contract.get(`${path}/not-an-id`),
      await contract.get(`${path}/${id}`, { key: await contract.stranger() }),
    ];
    for (const { status, body } of replies)
      expect([status, body]).toEqual([404, expect.objectContaining({ error: 'Invoice not found' })]);
  },
);

proves(
  'delete-invoice.draft delete-invoice.answer invoice-state.delete-draft envelope.delete does.invoices',
  'when a Draft is deleted, then it is gone',
  async () => {
    const { id } = await contract.make.invoice();
    const reply = await contract.delete(`${path}/${id}`);

    expect([reply.status, reply.body]).toEqual([200, { success: true, message: 'Invoice deleted' }]);
    expect((await contract.get(`${path}/${id}`)).status).toBe(404);
  },
);

proves(
  'delete-invoice.state delete-invoice.draft invoice-state.delete-other error.invoice-draft',
  'when an invoice that is not a Draft is deleted, then it stays as it is',
  async () => {
    for (const status of STATUSES.slice(1)) {
      const { id } = await contract.make.invoice({ status: 'Sent' });
      if (status !== 'Sent') await contract.patch(`${path}/${id}`, { status });
      const before = (await contract.get(`${path}/${id}`)).body;
      const reply = await contract.delete(`${path}/${id}`);

      expect([reply.status, reply.body]).toEqual([
        409,
        expect.objectContaining({ error: 'Can only delete invoices with Draft status' }),
      ]);
      expect((await contract.get(`${path}/${id}`)).body).toEqual(before);
    }
  },
);

proves(
  'delete-invoice.missing error.invoice-denied general.foreign',
  'when the invoice to delete is unknown or foreign, then the stated text',
  async () => {
    const { id } = await contract.make.invoice();
    const key = await contract.stranger();
    for (const reply of [
      await contract.delete(`${path}/${unknownId()}`),
      await contract.delete(`${path}/${id}`, { key }),
    ]) {
      expect([reply.status, reply.body]).toEqual([
        404,
        expect.objectContaining({ error: 'Invoice not found or access denied' }),
      ]);
    }
    expect((await contract.get(`${path}/${id}`)).status).toBe(200);
  },
);

proves(
  'update-invoice invoice-state.cancel',
  'when a sent invoice is updated to Cancelled, then it is cancelled',
  async () => {
    const { id } = await contract.make.invoice({ status: 'Sent' });
    const reply = await contract.patch(`${path}/${id}`, { status: 'Cancelled' });

    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ success: true, data: { id, status: 'Cancelled' } });
    expect((await contract.get(`${path}/${id}`)).body.data.status).toBe('Cancelled');
  },
);

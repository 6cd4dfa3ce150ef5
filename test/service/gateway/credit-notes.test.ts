// Credit notes: what they deduct, where the remainder goes, and that together they never exceed their invoice.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, createProject, eventsOf, UNKNOWN_ID } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A new account with a client and Sent invoices of these amounts, with 19 % of tax. */
async function ledger(...amounts: number[]) {
  const account = await gateway.workspace.account();
  const client = await createClient(gateway, {}, account);
  const invoices: AnyRecord[] = [];
  for (const amount of amounts) invoices.push(await issue(account, client.id, { amount }));
  return { account, client, invoices };
}

function issue(account: TestAccount, client_id: string, fields: object = {}) {
  const body = { client_id, amount: 100, tax_rate: 19, due_date: '2099-01-31', status: 'Sent', ...fields };
  return create(gateway, '/api/v1/invoices', body, account);
}

const post = (account: TestAccount, at: string, body: object) => gateway.post(`/api/v1/${at}`, body, account);
const credit = (account: TestAccount, { id }: AnyRecord, body: object = { reason: 'correction' }) =>
  post(account, `invoices/${id}/credit-notes`, body);
const credited = async (account: TestAccount, invoice: AnyRecord, body?: object) => {
  const reply = await credit(account, invoice, body);
  expect([reply.status, reply.body.error]).toEqual([201, undefined]);
  return reply.body.data as AnyRecord;
};
const get = async (account: TestAccount, at: string) => (await gateway.get(`/api/v1/${at}`, account)).body.data;
const read = (account: TestAccount, { id }: AnyRecord) => get(account, `invoices/${id}`);
const balanceOf = async (account: TestAccount, { id }: AnyRecord) =>
  (await get(account, `clients/${id}/balance`)).balances;
const sound = async ({ id }: TestAccount) =>
  expect([...(await auditLedger(id)), ...(await auditBilledOnce(id))]).toEqual([]);

test('when an invoice has more lines of credit notes than one request may read, then another credit is rejected, and its credit notes can be read', async () => {
  const { account, invoices } = await ledger(1_000_000);
  const line_items = Array.from({ length: 500 }, () => ({
    description: 'x',
    quantity: 0.123456789012,
    rate: 1.000000000001,
  }));
  const note = await credited(account, invoices[0], { reason: 'return', line_items });
  const notes = mongoose.connection.collection('credit_notes');
  const stored = await notes.findOne({ _id: storedId(note.id) as never });
  for (let batch = 0; batch < 6; batch += 1) {
    const copies = Array.from({ length: 100 }, (_, index) => ({
      ...stored,
      _id: storedId(newId()),
      number_text: `COPY-${batch}-${index}`,
    }));
    await notes.insertMany(copies as never);
  }

  const another = await credit(account, invoices[0], { reason: 'return', amount: 1 });
  expect([another.status, another.body.code]).toEqual([409, 'texts_too_large']);
  expect(await get(account, `credit-notes/${note.id}`)).toMatchObject({ id: note.id });
});

describe('what a credit note deducts', () => {
  test('when all is credited before any payment, then Cancelled; after half is paid, then Paid with that half as credit', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    const [unpaid, half] = invoices;
    const note = await credited(account, unpaid, { reason: 'cancellation' });
    expect(note).toMatchObject({ credit_note_number: 'CRN-0001', amount: 100, tax_amount: 19, total: 119 });
    expect(note).toMatchObject({ applied_to_invoice: 119, unallocated: 0, client: { id: client.id } });
    expect(note.invoice).toEqual({ id: unpaid.id, invoice_number: 'INV-0001', issued_on: unpaid.issue_date });
    const cancelled = { status: 'Cancelled', amount_due: 0, amount_credited: 119, cancelled_on: note.issued_on };
    expect(await read(account, unpaid)).toMatchObject(cancelled);

    await post(account, `invoices/${half.id}/payments`, { amount: 59.5 });
    const rest = await credited(account, half, { reason: 'return' });
    expect(rest).toMatchObject({ applied_to_invoice: 59.5, unallocated: 59.5 });
    const paid = { status: 'Paid', amount_paid: 59.5, amount_credited: 59.5, total_credited: 119, amount_due: 0 };
    expect(await read(account, half)).toMatchObject(paid);
    const { id, credit_note_number } = rest;
    expect(await balanceOf(account, client)).toEqual([
      {
        currency: 'USD',
        due: 0,
        overdue: 0,
        ageing: { not_due: 0, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 },
        credit: 59.5,
        credit_source_count: 1,
        credit_sources: [
          { payment: null, credit_note: { id, credit_note_number }, date: rest.issued_on, amount: 59.5 },
        ],
      },
    ]);
    expect((await eventsOf(account.id)).slice(-2)).toEqual(['credit_note.issued', 'invoice.paid']);
    await sound(account);
  });

  test('when eight full credits are requested concurrently, then one is created, and the others are 409', async () => {
    const { account, invoices } = await ledger(100);
    const replies = await Promise.all(Array.from({ length: 8 }, () => credit(account, invoices[0])));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const { kinds } = (await gateway.get('/api/v1/numbering/audit?kind=credit_note', account)).body.data;
    expect(kinds.credit_note).toMatchObject({ gapless: true, drawn: 1, live: 1 });
    await sound(account);
  });

  test('when an invoice is credited in parts, then none exceeds what is left, and the last one takes the rest of the tax', async () => {
    const { account, invoices } = await ledger(0.09);
    const [invoice] = invoices; // 0.09 with 19 % is 0.11, and each third alone would have 0.01 of tax.
    const taxes: number[] = [];
    for (const amount of [0.03, 0.03])
      taxes.push((await credited(account, invoice, { reason: 'goodwill', amount })).tax_amount);
    const tooMuch = await credit(account, invoice, { reason: 'goodwill', amount: 0.04 });
    expect([tooMuch.status, tooMuch.body.error]).toEqual([409, 'Cannot credit more than is left of INV-0001: 0.03']);
    taxes.push((await credited(account, invoice, { reason: 'goodwill' })).tax_amount);
    expect(taxes).toEqual([0.01, 0.01, 0]);
    expect(await read(account, invoice)).toMatchObject({ status: 'Cancelled', total_credited: 0.11 });
    await sound(account);
  });

  test('when an invoice of two rates is credited by line, then each rate mirrors the original, and crediting the rest takes what is left', async () => {
    const { account, client } = await ledger();
    const line = (quantity: number, rate: number, tax_rate: number) => ({
      description: 'x',
      quantity,
      rate,
      tax_rate,
    });
    const line_items = [line(2, 1.73, 13), line(2, 0.03, 24)];
    const invoice = await issue(account, client.id, { line_items });
    expect(invoice.taxes).toMatchObject([
      { rate: 24, tax: 0.01 },
      { rate: 13, tax: 0.45 },
    ]);
    const first = await credited(account, invoice, { reason: 'return', line_items: [line(2, 1.73, 13)] });
    expect(first.taxes).toEqual([{ rate: 13, category: 'S', taxable: 3.46, tax: 0.45, note: null }]);
    const none = await credit(account, invoice, { reason: 'return', line_items: [line(1, 0.01, 13)] });
    expect([none.status, none.body.error]).toEqual([409, 'Cannot credit more than is left of INV-0001 at 13 %: 0.00']);
    const rest = await credited(account, invoice, { reason: 'return' });
    expect(rest.taxes).toEqual([{ rate: 24, category: 'S', taxable: 0.06, tax: 0.01, note: null }]);
    expect(await read(account, invoice)).toMatchObject({ status: 'Cancelled', total_credited: 3.98 });
    await sound(account);
  });

  test('when a part was written off, then the credit note replaces the write-off, and only what was paid becomes credit', async () => {
    const { account, invoices } = await ledger(100);
    const [invoice] = invoices;
    await post(account, `invoices/${invoice.id}/payments`, { amount: 100 });
    await post(account, `invoices/${invoice.id}/write-off`, { reason: 'Too old' });
    const part = await credited(account, invoice, { reason: 'return', amount: 10 });
    expect(part).toMatchObject({ total: 11.9, applied_to_invoice: 11.9, unallocated: 0 });
    expect(await read(account, invoice)).toMatchObject({ status: 'Paid', amount_written_off: 7.1, amount_due: 0 });
    const rest = await credited(account, invoice);
    expect(rest).toMatchObject({ total: 107.1, applied_to_invoice: 7.1, unallocated: 100 });
    expect(await read(account, invoice)).toMatchObject({
      amount_written_off: 0,
      amount_credited: 19,
      amount_paid: 100,
    });
    await sound(account);
  });

  test('when a payment of a credited invoice is voided or refunded, then its credit reduces what is due again', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    for (const [index, undo] of [
      ['void', { reason: 'Bounced' }],
      ['refunds', { amount: 119, invoice_id: invoices[1].id }],
    ].entries()) {
      const [how, body] = undo as [string, object];
      const invoice = invoices[index];
      const { data: payment } = (await post(account, `invoices/${invoice.id}/payments`, {})).body;
      const note = await credited(account, invoice);
      expect(note.unallocated).toBe(119);
      await post(account, `payments/${payment.id}/${how}`, body);
      expect(await read(account, invoice)).toMatchObject({ status: 'Cancelled', amount_paid: 0, amount_credited: 119 });
      expect(await get(account, `credit-notes/${note.id}`)).toMatchObject({ applied_to_invoice: 119, unallocated: 0 });
    }
    expect(await balanceOf(account, client)).toEqual([]);
    await sound(account);
  });
});

describe('what happens to the remainder', () => {
  test('when a refund is requested, then it is made at once; repeating its external id returns the same credit note', async () => {
    const { account, invoices } = await ledger(100);
    const [invoice] = invoices;
    await post(account, `invoices/${invoice.id}/payments`, {});
    const external_id = randomUUID();
    const body = { reason: 'return', amount: 50, settle: 'refund', refund: { method: 'card', external_id } };
    const note = await credited(account, invoice, body);
    expect(note).toMatchObject({
      refunded: 59.5,
      unallocated: 0,
      refunds: [{ amount: 59.5, method: 'card', external_id }],
    });
    const again = await credit(account, invoice, body);
    expect([again.status, again.body.data.id, again.headers.get('Idempotent-Replayed')]).toEqual([
      200,
      note.id,
      'true',
    ]);
    const line_items = [{ description: 'x', quantity: 1, rate: 50 }];
    for (const credits of [{ amount: 20 }, { amount: undefined, line_items }]) {
      const other = await credit(account, invoice, { ...body, ...credits });
      expect([other.status, other.body.error]).toEqual([422, 'external_id was already used with another refund']);
    }
    const { data: payment } = (
      await post(account, `invoices/${(await issue(account, invoice.client.id)).id}/payments`, {})
    ).body;
    const elsewhere = await post(account, `payments/${payment.id}/refunds`, { amount: 59.5, external_id });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([422, 'external_id was already used with another refund']);
    await sound(account);
  });

  test('when there is nothing to refund, then a repeat of its external id is the same credit note, too', async () => {
    const { account, invoices } = await ledger(100);
    const [invoice] = invoices;
    const external_id = randomUUID();
    const body = { reason: 'goodwill', amount: 30, settle: 'refund', refund: { method: 'card', external_id } };
    const note = await credited(account, invoice, body);
    expect(note).toMatchObject({ refunded: 0, unallocated: 0, refunds: [] });

    const again = await credit(account, invoice, body);

    expect([again.status, again.body.data.id]).toEqual([200, note.id]);
    const elsewhere = await post(account, `credit-notes/${note.id}/refunds`, { amount: 35.7, external_id });
    expect([elsewhere.status, elsewhere.body.error]).toEqual([422, 'external_id was already used with another refund']);
    await sound(account);
  });

  test('when it pays another invoice, then that is Paid until it is released or cancelled, and all of it can be refunded', async () => {
    const { account, client, invoices } = await ledger(100, 50, 50);
    const [first, second, third] = invoices;
    await post(account, `invoices/${first.id}/payments`, {});
    const note = await credited(account, first);
    const at = `credit-notes/${note.id}`;
    const used = (await post(account, `${at}/allocations`, { invoice_id: second.id })).body.data;
    expect(used).toMatchObject({ unallocated: 59.5, allocations: [{ amount: 59.5, invoice: { id: second.id } }] });
    expect(await read(account, second)).toMatchObject({ status: 'Paid', amount_paid: 59.5 });
    const tooMuch = await post(account, `${at}/allocations`, { invoice_id: third.id, amount: 59.51 });
    expect(tooMuch.body.error).toBe('Cannot allocate 59.51 to INV-0003: 59.50 is due');
    await post(account, `${at}/allocations`, { invoice_id: third.id, amount: 40 });
    await gateway.patch(`/api/v1/invoices/${third.id}`, { status: 'Cancelled' }, account);
    expect(await get(account, at)).toMatchObject({ unallocated: 59.5 });
    const allocation_id = used.allocations[0].id;
    expect((await post(account, `${at}/release`, { allocation_id })).body.data.unallocated).toBe(119);
    expect((await post(account, `${at}/release`, { allocation_id })).body.error).toBe(
      'Allocation was already released',
    );
    expect(await read(account, second)).toMatchObject({ status: 'Sent', amount_due: 59.5 });
    const refund = (body: object) => post(account, `${at}/refunds`, body);
    expect((await refund({ amount: 120 })).body.error).toBe('Cannot refund 120.00: 119.00 of CRN-0001 is unallocated');
    const external_id = randomUUID();
    const replies = await Promise.all([1, 2].map(() => refund({ amount: 119, external_id })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 201]);
    expect(await balanceOf(account, client)).toMatchObject([{ due: 59.5, credit: 0 }]);
    await sound(account);
  });

  test('when credit is released after its own invoice was cancelled, then it is credit, and the invoice takes none of it', async () => {
    const { account, client, invoices } = await ledger(100, 100);
    const [own, other] = invoices;
    const { data: payment } = (await post(account, `invoices/${own.id}/payments`, { amount: 100 })).body;
    const note = await credited(account, own, { reason: 'goodwill', amount: 50 });
    expect(note).toMatchObject({ applied_to_invoice: 19, unallocated: 40.5 });
    await post(account, `credit-notes/${note.id}/allocations`, { invoice_id: other.id });
    await post(account, `payments/${payment.id}/refunds`, { amount: 30, invoice_id: own.id });
    await gateway.patch(`/api/v1/invoices/${own.id}`, { status: 'Cancelled' }, account);
    const released = (await post(account, `credit-notes/${note.id}/release`, {})).body.data;
    expect(released).toMatchObject({ applied_to_invoice: 19, unallocated: 40.5 });
    expect(await read(account, own)).toMatchObject({ status: 'Cancelled', amount_credited: 19 });
    expect(await balanceOf(account, client)).toMatchObject([{ due: 119, credit: 110.5 }]);
    await sound(account);
  });

  test('when the movements of an invoice are listed, then they include its credit notes and the credit that pays it, in order', async () => {
    const { account, invoices } = await ledger(100, 100);
    const [first, second] = invoices;
    await post(account, `invoices/${first.id}/payments`, {});
    const note = await credited(account, first, { reason: 'return', amount: 50 });
    await post(account, `credit-notes/${note.id}/allocations`, { invoice_id: second.id });
    await credited(account, second, { reason: 'goodwill', amount: 10 });
    const kinds = async ({ id }: AnyRecord) =>
      (await get(account, `invoices/${id}/payments`)).movements.map((one: AnyRecord) => [
        one.kind,
        one.amount,
        one.reason,
      ]);
    expect(await kinds(first)).toEqual([
      ['payment', 119, null],
      ['credit_note', 0, 'return'],
    ]);
    expect(await kinds(second)).toEqual([
      ['credit', 59.5, null],
      ['credit_note', 11.9, 'goodwill'],
    ]);
  });
});

describe('what can be billed again', () => {
  test.each([
    ['cancellation', 'unbilled'],
    ['correction', 'unbilled'],
    ['goodwill', 'billed'],
    ['return', 'billed'],
  ])('when all of an invoice with time is credited for %s, then its time is %s', async (reason, billing) => {
    const { account, client } = await ledger();
    const project = await createProject(gateway, { client_id: client.id, hourly_rate: 100 }, account);
    const entry = await create(
      gateway,
      '/api/v1/time-entries',
      { project_id: project.id, hours: 1, date: '2026-01-02' },
      account,
    );
    const invoice = await create(
      gateway,
      '/api/v1/invoices/from-time',
      { client_id: client.id, status: 'Sent' },
      account,
    );
    await credited(account, invoice, { reason, amount: 40 });
    expect((await get(account, `time-entries/${entry.id}`)).billing).toBe('billed');
    await credited(account, invoice, { reason });
    expect((await get(account, `time-entries/${entry.id}`)).billing).toBe(billing);
    await sound(account);
  });

  test('when the paid invoice of a quote is credited as a correction, then the quote can be converted again; not after goodwill', async () => {
    const { account, client } = await ledger();
    for (const [reason, status] of [
      ['correction', 201],
      ['goodwill', 409],
    ] as const) {
      const quote = await create(gateway, '/api/v1/quotes', { client_id: client.id, amount: 80 }, account);
      const convert = () => post(account, `quotes/${quote.id}/convert`, { accept: true, status: 'Sent' });
      const invoice = (await convert()).body.data;
      if (reason === 'correction') await post(account, `invoices/${invoice.id}/payments`, {});
      await credited(account, invoice, { reason });
      expect((await convert()).status).toBe(status);
    }
    await sound(account);
  });

  test('when an account cancels with credit notes, then cancelling creates one for the rest, and what was paid becomes credit', async () => {
    const { account, client, invoices } = await ledger(100, 0);
    const [invoice, nothing] = invoices;
    await gateway.patch('/api/v1/account', { cancel_with_credit_note: true }, account);
    await post(account, `invoices/${invoice.id}/payments`, { amount: 20 });
    await credited(account, invoice, { reason: 'goodwill', amount: 10 });
    const reply = await gateway.patch(`/api/v1/invoices/${invoice.id}`, { status: 'Cancelled' }, account);
    expect([reply.status, reply.body.data]).toMatchObject([200, { status: 'Cancelled', amount_credited: 119 }]);
    const [note] = await get(account, `credit-notes?invoice_id=${invoice.id}`);
    expect(note).toMatchObject({ reason: 'cancellation', total: 107.1, applied_to_invoice: 107.1 });
    expect(await balanceOf(account, client)).toMatchObject([{ due: 0, credit: 20 }]);
    const events = ['payment.released', 'invoice.updated', 'credit_note.issued', 'invoice.cancelled'];
    expect((await eventsOf(account.id)).slice(-4)).toEqual(events);

    const draft = await issue(account, client.id, { status: 'Draft' });
    for (const { id } of [nothing, draft]) {
      const { body } = await gateway.patch(`/api/v1/invoices/${id}`, { status: 'Cancelled' }, account);
      expect(body.data).toMatchObject({ status: 'Cancelled', total_credited: 0, cancelled_on: expect.any(String) });
    }
    expect(await get(account, 'credit-notes')).toHaveLength(2);
    await sound(account);
  });
});

describe('rejections', () => {
  test('when the invoice is a draft, cancelled or unknown, or the body contradicts itself, then nothing is stored', async () => {
    const { account, client, invoices } = await ledger(100);
    const draft = await issue(account, client.id, { status: 'Draft' });
    const line_items = [{ description: 'Drawings', quantity: 1, rate: 10 }];
    const outcome = async (invoice: AnyRecord, body: object = { reason: 'return' }) => {
      const reply = await credit(account, invoice, body);
      return [reply.status, reply.body.details ?? reply.body.error];
    };
    expect(await outcome(draft)).toEqual([409, 'Cannot credit a draft']);
    await gateway.patch(`/api/v1/invoices/${draft.id}`, { status: 'Cancelled' }, account);
    expect(await outcome(draft)).toEqual([409, 'Cannot credit a cancelled invoice']);
    expect(await outcome({ id: UNKNOWN_ID })).toEqual([404, 'Invoice not found or access denied']);
    const [invoice] = invoices;
    expect(await outcome(invoice, { amount: 0, settle: 'x' })).toMatchObject([
      400,
      { reason: ['reason is required'], amount: [expect.any(String)], settle: [expect.any(String)] },
    ]);
    const both = { reason: 'return', amount: 5, line_items, refund: {} };
    expect((await outcome(invoice, both))[0]).toBe(400);
    const free = [{ description: 'Nothing', quantity: 0, rate: 10 }];
    expect(await outcome(invoice, { reason: 'return', line_items: free })).toEqual([
      400,
      { line_items: ['line_items must sum to more than 0'] },
    ]);
    expect(await outcome(invoice, { reason: 'return', amount: 0.001 })).toEqual([
      400,
      { amount: ['amount must have at most 2 decimals in USD'] },
    ]);
    expect(await outcome(invoice, { reason: 'return', amount: 101 })).toEqual([
      409,
      'Cannot credit more than is left of INV-0001: 100.00',
    ]);
    expect(await get(account, 'credit-notes')).toEqual([]);
    expect((await get(account, 'numbering/audit?kind=credit_note')).kinds.credit_note.drawn).toBe(0);
  });

  test('when it is a dry run, then the response shows the credit note that would be created, and nothing happens', async () => {
    const { account, invoices } = await ledger(100);
    const [invoice] = invoices;
    const reply = await post(account, `invoices/${invoice.id}/credit-notes?dry_run=true`, {
      reason: 'return',
      amount: 10,
    });
    expect([reply.status, reply.body.data]).toMatchObject([200, { id: null, credit_note_number: null, total: 11.9 }]);
    expect(await read(account, invoice)).toMatchObject({ total_credited: 0, amount_due: 119 });
  });
});

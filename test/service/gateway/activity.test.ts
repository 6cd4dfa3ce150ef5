// The activity of documents: one list of everything that happened to an invoice, a quote or a credit note.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { countOpening } from '#libs/billing/links/open-link.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { driverOf, findOwn } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { emitExpirations } from '../../../services/scheduler/emit-expirations.ts';
import { accept, ask, decline, promise } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { inUnit, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const TODAY = dayIn('UTC');
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);
const DUE = addDays(TODAY, 14);

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
  await setUpMail();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

const get = async (path: string) => (await gateway.get(`/api/v1/${path}`, account)).body.data;
const post = async (path: string, body: object = {}) =>
  (await gateway.post(`/api/v1/${path}`, body, account)).body.data;
const patch = (path: string, body: object) => gateway.patch(`/api/v1/${path}`, body, account);
const line_items = [{ description: 'Drawings', quantity: 1, rate: 100 }];
const made = (kind: string, more: object = {}) =>
  create(
    gateway,
    `/api/v1/${kind}`,
    { client_id: client.id, line_items, amount: 100, currency: 'EUR', ...more },
    account,
  );
const billed = (more: object = {}) =>
  create(
    gateway,
    '/api/v1/invoices',
    { client_id: client.id, line_items, currency: 'EUR', status: 'Sent', due_date: DUE, ...more },
    account,
  );
/** The entries of a document, oldest first. */
const activity = async (path: string, query = ''): Promise<AnyRecord[]> =>
  (await get(`${path}/activity${query}`)).toReversed();
const typesIn = (entries: AnyRecord[]) => entries.map(({ type }) => type);
const keyWith = async (...scopes: string[]) =>
  (await create(gateway, '/api/v1/keys', { name: 'Reader', scopes }, account)).key as string;

describe('an invoice', () => {
  test('when it is sent, seen, asked about, promised, reminded of and paid, then one list says when, by whom and how much', async () => {
    const draft = await billed({ status: 'Draft', due_date: addDays(TODAY, -1) });
    const path = `invoices/${draft.id}`;
    await patch(path, { notes: 'Thank you' });
    const { id: message_id } = await post(`${path}/send`);
    await sendWithoutRelay(account.id, message_id);
    const { id: link_id } = await post(`${path}/links`);
    const link = await findOwn(DocumentLink, account.id, link_id);
    await inUnit(account.id, (unit) => countOpening(unit, link as never, 'UTC'), { type: 'client', id: link_id });
    await ask(account.id, { type: 'invoice', id: draft.id, text: 'Why so many?' });
    const [question] = await get(`questions?document_id=${draft.id}`);
    await post(`questions/${question.id}/answer`, { answer: 'One per mill.' });
    const day = addDays(TODAY, 20);
    await promise(account.id, draft.id, day);
    await emitExpirations(noonOf(addDays(day, 1)));
    const reminder = await post(`${path}/remind`);
    await sendWithoutRelay(account.id, reminder.id);
    const payment = await post(`${path}/payments`, { amount: 40 });
    await post(`${path}/payments`);
    await post(`payments/${payment.id}/void`, { reason: 'Entered twice' });

    const entries = await activity(path);
    const key = { type: 'api_key', id: expect.any(String), name: 'test' };
    const page = { type: 'client', name: null };
    const schedule = { type: 'schedule', id: null, name: null };
    const recipients = [{ address: 'ada@example.com', state: 'accepted' }];
    expect(entries).toMatchObject([
      { type: 'invoice.created', by: key, status: 'Draft', amount_due: 100, currency: 'EUR', record: null },
      { type: 'invoice.updated', by: key, status: 'Draft' },
      { type: 'invoice.sent', by: key, status: 'Sent' },
      { type: 'message.accepted', by: key, record: { type: 'message', id: message_id, number: null }, recipients },
      { type: 'link.opened', by: { ...page, id: link_id }, record: { type: 'link', id: link_id } },
      { type: 'client.asked', by: page, record: { type: 'question', id: question.id }, text: 'Why so many?' },
      { type: 'question.answered', by: key, text: 'One per mill.' },
      { type: 'client.promised', by: page, record: { type: 'promise' }, date: day },
      { type: 'invoice.overdue', by: schedule, status: 'Overdue' },
      { type: 'promise.broken', by: schedule, date: day },
      { type: 'reminder.sent', by: key, text: expect.stringContaining('INV-0001'), days: null, recipients },
      {
        type: 'payment.recorded',
        by: key,
        record: { type: 'payment', id: payment.id, number: 'PAY-0001' },
        ...{ amount: 40, currency: 'EUR', date: TODAY },
      },
      { type: 'invoice.partially_paid', amount_due: 60, amount: null },
      { type: 'payment.recorded', amount: 60 },
      { type: 'invoice.paid', status: 'Paid', amount_due: 0 },
      { type: 'payment.voided', record: { id: payment.id }, amount: 40, text: 'Entered twice' },
      { type: 'invoice.reopened', amount_due: 40 },
    ]);
    for (const { id, type } of entries) expect(await get(`events/${id}`)).toMatchObject({ type });
  });

  test('when one payment is on several invoices, then each shows its own part of it', async () => {
    const [one, other] = [await billed(), await billed({ line_items: [{ description: 'x', quantity: 1, rate: 0.2 }] })];
    const payment = await post('payments', { client_id: client.id, amount: 100.2, currency: 'EUR' });
    await post(`payments/${payment.id}/release`);
    for (const [{ id }, amount] of [
      [one, 100],
      [other, 0.2],
    ] as const) {
      const released = (await activity(`invoices/${id}`)).filter(({ type }) => type === 'payment.released');
      expect(released).toMatchObject([{ amount, currency: 'EUR', record: { id: payment.id } }]);
    }
    for (const amount of [0.1, 0.2]) await post(`payments/${payment.id}/allocations`, { invoice_id: one.id, amount });
    await post(`payments/${payment.id}/refunds`, { amount: 0.15, invoice_id: one.id });
    await post(`payments/${payment.id}/release`);
    const moved = (await activity(`invoices/${one.id}`)).filter(({ type }) => type.startsWith('payment.'));
    expect(moved.map(({ type, amount }) => [type, amount])).toEqual([
      ['payment.recorded', 100],
      ['payment.released', 100],
      ['payment.recorded', 0.1],
      ['payment.recorded', 0.2],
      ['payment.refunded', 0.15],
      ['payment.released', 0.15],
    ]);
  });

  test('when it is credited, then the credit note tells of it, too, and other invoices of what it pays', async () => {
    const [invoice, other] = [await billed(), await billed()];
    await post(`invoices/${invoice.id}/payments`, { amount: 70 });
    const note = await post(`invoices/${invoice.id}/credit-notes`, { amount: 50, reason: 'goodwill' });
    await post(`credit-notes/${note.id}/allocations`, { invoice_id: other.id });
    await post(`credit-notes/${note.id}/release`);
    await post(`credit-notes/${note.id}/refunds`, { amount: 20 });
    const { id: message_id } = await post(`credit-notes/${note.id}/send`);
    await sendWithoutRelay(account.id, message_id);
    const record = { type: 'credit_note', id: note.id, number: 'CRN-0001' };
    const issued = { type: 'credit_note.issued', record, amount: 50, date: TODAY };
    expect(await activity(`credit-notes/${note.id}`)).toMatchObject([
      issued,
      { type: 'credit_note.allocated', record, amount: 20 },
      { type: 'credit_note.released', record, amount: 20 },
      { type: 'credit_note.refunded', record, amount: 20, date: TODAY },
      { type: 'message.accepted', record: { type: 'message', id: message_id } },
    ]);
    expect((await activity(`invoices/${invoice.id}`)).slice(-2)).toMatchObject([
      issued,
      { type: 'invoice.paid', amount_due: 0 },
    ]);
    expect((await activity(`invoices/${other.id}`)).slice(2)).toMatchObject([
      { type: 'credit_note.allocated', record, amount: 20 },
      { type: 'invoice.partially_paid', amount_due: 80 },
      { type: 'credit_note.released', record, amount: 20 },
      { type: 'invoice.updated', amount_due: 100 },
    ]);
  });
});

test('when a quote is declined, sent again, accepted and converted, then its list says so, with the evidence and the invoice', async () => {
  const quote = await made('quotes');
  const path = `quotes/${quote.id}`;
  await patch(path, { status: 'Sent', notes: 'Half in advance' });
  await decline(account.id, quote.id, 'Too dear');
  await patch(path, { status: 'Sent' });
  await accept(gateway.workspace, account.id, quote.id);
  const invoice = await post(`${path}/convert`, { status: 'Sent' });
  await post(`invoices/${invoice.id}/payments`);
  const evidence = await get(`${path}/acceptance`);
  expect(await activity(path)).toMatchObject([
    { type: 'quote.created', status: 'Draft' },
    { type: 'quote.sent', status: 'Sent' },
    { type: 'quote.declined', by: { type: 'client' }, status: 'Declined', text: 'Too dear' },
    { type: 'quote.sent', text: null },
    { type: 'quote.accepted', by: { type: 'client' }, record: { type: 'acceptance', id: evidence.id } },
    {
      type: 'quote.converted',
      by: { type: 'api_key' },
      record: { type: 'invoice', id: invoice.id, number: invoice.invoice_number },
      ...{ amount: 100, currency: 'EUR' },
    },
  ]);
  expect((await activity(`invoices/${invoice.id}`))[0]).toMatchObject({
    type: 'invoice.created',
    record: { type: 'quote', id: quote.id, number: quote.quote_number },
  });
});

describe('the caller', () => {
  test('when its key may not read payments, messages or keys, then it sees that something happened, and no more', async () => {
    const invoice = await billed();
    const { id: message_id } = await post(`invoices/${invoice.id}/send`);
    await sendWithoutRelay(account.id, message_id);
    await post(`invoices/${invoice.id}/payments`, { amount: 40 });
    const path = `/api/v1/invoices/${invoice.id}/activity`;
    const seen = async (...scopes: string[]) =>
      (await gateway.get(path, { key: await keyWith('invoices:read', ...scopes) })).body.data as AnyRecord[];
    const hidden = { record: null, amount: null, date: null, days: null, text: null, recipients: null };
    const by = { type: 'api_key', id: expect.any(String), name: null };
    expect(await seen()).toMatchObject([
      { type: 'invoice.partially_paid', by, amount_due: 60, currency: 'EUR', missing_scope: null },
      { type: 'payment.recorded', by, ...hidden, currency: null, missing_scope: 'payments:read' },
      { type: 'message.accepted', by, ...hidden, missing_scope: 'messages:read' },
      { type: 'invoice.sent', by },
      { type: 'invoice.created', by },
    ]);
    expect((await seen('payments:write', 'keys:read'))[1]).toMatchObject({
      by: { name: 'test' },
      ...{ amount: 40, currency: 'EUR', missing_scope: null },
    });
    const { status } = await gateway.get(path, { key: await keyWith('quotes:read', 'events:read') });
    expect(status).toBe(403);
  });

  test('when it pages by the cursor while more happens, then it gets each entry once', async () => {
    const invoice = await billed({ status: 'Draft' });
    for (let n = 0; n < 6; n += 1) await patch(`invoices/${invoice.id}`, { notes: `${n}` });
    const ids: string[] = [];
    let path: string | undefined = `/api/v1/invoices/${invoice.id}/activity?limit=3`;
    while (path) {
      const { body, headers } = await gateway.get(path, account);
      expect(body.pagination).toMatchObject({ limit: 3, offset: 0 });
      ids.push(...body.data.map(({ id }: AnyRecord) => id));
      await patch(`invoices/${invoice.id}`, { notes: `after ${ids.length}` });
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(ids).toHaveLength(7);
    expect(new Set(ids).size).toBe(7);
  });
});

test('when the client is anonymised, then its words and addresses are gone from the activity', async () => {
  const quote = await made('quotes', { status: 'Sent' });
  await decline(account.id, quote.id, 'Zora does not want it');
  await patch(`quotes/${quote.id}`, { status: 'Sent' });
  await ask(account.id, { type: 'quote', id: quote.id, text: 'Will Zora get it?' });
  const { id } = await post(`quotes/${quote.id}/send`, { to: ['zora@example.com'], subject: 'For Zora' });
  await sendWithoutRelay(account.id, id);
  expect(JSON.stringify(await activity(`quotes/${quote.id}`)).match(/zora/gi)).toHaveLength(4);

  await post(`clients/${client.id}/anonymise`);

  const entries = await activity(`quotes/${quote.id}`);
  expect(JSON.stringify(entries)).not.toMatch(/zora/i);
  expect(entries).toMatchObject([
    ...[{ type: 'quote.created' }, { type: 'quote.sent' }, { type: 'quote.declined', text: null }, {}],
    { type: 'client.asked', text: null, record: { type: 'question' } },
    { type: 'message.accepted', text: null, recipients: null },
  ]);
});

test('when an account has many events, then the list of a document reads its own along one index', async () => {
  const [busy, quiet] = [await billed({ status: 'Draft' }), await billed({ status: 'Draft' })];
  for (let n = 0; n < 20; n += 1) await patch(`invoices/${busy.id}`, { notes: `${n}` });
  const wanted = { account_id: storedId(account.id), 'subjects.id': storedId(quiet.id) } as object;
  const { executionStats } = (await driverOf(Event as never)
    .find(wanted, { sort: { sequence: -1, _id: -1 }, limit: 51 })
    .hint({ account_id: 1, 'subjects.id': 1, sequence: 1, _id: 1 })
    .explain('executionStats')) as AnyRecord;
  expect(executionStats).toMatchObject({ nReturned: 1, totalKeysExamined: 1, totalDocsExamined: 1 });
  expect(typesIn(await activity(`invoices/${quiet.id}`))).toEqual(['invoice.created']);
});

// The catalogue of event types: its examples and the events that are really sent match its schemas, for every type.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { countOpening } from '#libs/billing/links/open-link.ts';
import { bookProviderPayment } from '#libs/billing/payments/provider-payment.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { DocumentLink, type DocumentLinkRecord } from '#libs/models/portal/document-link.ts';
import { findOwn } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { EVENT_TYPES, type EventType } from '#libs/models/webhooks/event-types.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { eventCatalogue } from '#libs/responses/event-catalogue.ts';
import { openBatchPrinting } from '../../../services/gateway/documents/print-batches.ts';
import { recordGone } from '../../../services/webhooks/endpoint-health.ts';
import { ask, decline, promise } from '../../support/answers.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { failWithoutRelay, inUnit, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import { announceAllFollowUps, emitExpirations, runRecurringInvoices } from '../../support/rounds.ts';
import { testLog } from '../../support/workspace.ts';

const catalogue = eventCatalogue();
/** The events that were really sent, in order. */
let sent: { type: string; body: AnyRecord }[];
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
  await causeEveryEvent();
  const events = await Event.find({ account_id: gateway.account.id }).sort({ sequence: 1 }).lean<EventRecord[]>();
  sent = events.map(({ type, body }) => ({ type, body: JSON.parse(body) }));
});
afterAll(() => gateway.close());

/** Receivers must accept new fields, but no event may have a field that the catalogue does not describe. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  return 'properties' in copy ? { ...copy, additionalProperties: false } : copy;
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true, allErrors: true });
formats.default(ajv);
const checks = new Map(catalogue.map(({ type, schema }) => [type, ajv.compile(closed(schema) as object)]));

function problemsOf(type: string, body: unknown): unknown {
  const check = checks.get(type as EventType) as ValidateFunction;
  return check(body) ? [] : check.errors;
}

test('when the types are listed, then each is in the catalogue once, with a description of its own', () => {
  expect(catalogue.map(({ type }) => type)).toEqual(EVENT_TYPES);
  expect(new Set(catalogue.map(({ description }) => description)).size).toBe(EVENT_TYPES.length);
});

const SET_FIELD = 'give the record that field in causeEveryEvent';
const CHANGE_EXAMPLE =
  'change the example of its shape in libs/responses, or `example` of this type alone in libs/models/webhooks/event-types.ts';

describe.each(EVENT_TYPES)('%s', (type) => {
  const entry = () => catalogue.find((one) => one.type === type);

  test('when its example is checked, then it matches its schema', () => {
    expect(problemsOf(type, entry()?.example)).toEqual([]);
  });

  test('when it is really sent, then it matches its schema and has the fields of its example', () => {
    const bodies = sent.filter((one) => one.type === type).map(({ body }) => body);

    if (bodies.length === 0) throw new Error(`No ${type} was sent: cause it in causeEveryEvent of this file`);
    expect(bodies.flatMap((body) => problemsOf(type, body))).toEqual([]);
    const example: AnyRecord = entry()?.example.data ?? {};
    const [shown, carried] = [Object.keys(example), Object.keys(bodies[0].data)];
    const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
    const advice = [
      ...shown
        .filter((field) => !carried.includes(field))
        .map((field) => `its example shows ${field}, and the one sent has none: ${SET_FIELD}, or ${CHANGE_EXAMPLE}`),
      ...carried
        .filter((field) => !shown.includes(field))
        .map((field) => `it carries ${field}, and its example does not: ${CHANGE_EXAMPLE}`),
      ...carried
        .filter((field) => isEmpty(example[field]) && !bodies.some(({ data }) => isEmpty(data[field])))
        .map((field) => `it carries some of ${field}, and its example none: ${CHANGE_EXAMPLE}`),
    ];
    expect(advice.map((text) => `${type}: ${text}`)).toEqual([]);
  });

  test('when a field is missing or of another type, then the schema rejects it', () => {
    const example = entry()?.example as AnyRecord;
    const [field] = Object.keys(example.data) as [string];
    const { [field]: _gone, ...rest } = example.data;

    expect(problemsOf(type, { ...example, data: rest })).not.toEqual([]);
    expect(problemsOf(type, { ...example, data: { ...example.data, [field]: { odd: true } } })).not.toEqual([]);
    expect(problemsOf(type, { ...example, type: 'other' })).not.toEqual([]);
  });
});

describe('where the catalogue is shown', () => {
  test('when the types are listed over HTTP, then they come with example and schema', async () => {
    const { data } = (await gateway.get('/api/v1/event-types')).body;

    expect(data).toEqual(
      catalogue.map(({ type, description, example, schema }) => ({ type, description, example, schema })),
    );
  });

  test('when the OpenAPI document is read, then every type is there with its body', async () => {
    const { webhooks, components } = (await gateway.get('/openapi.json', { key: undefined })).body;

    expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES]);
    for (const { type, example } of catalogue) {
      const { requestBody } = webhooks[type].post;
      const content = requestBody.content['application/json'];
      expect(content.example).toEqual(example);
      expect(components.schemas).toHaveProperty([content.schema.$ref.split('/').at(-1), 'properties', 'data', '$ref']);
    }
  });
});

/** Recurring invoices: set up, changed, paused, missed, failed, ended and deleted. */
async function causeRecurringInvoices(client_id: string) {
  const path = '/api/v1/recurring-invoices';
  const line_items = [{ description: 'Support', quantity: 1, rate: 450 }];
  const schedule = { unit: 'month', start_on: '2031-01-31', count: 4 };
  const { id } = await create(gateway, path, { client_id, line_items, schedule });
  await gateway.patch(`${path}/${id}`, { due_days: 7 });
  await gateway.post(`${path}/${id}/pause`);
  await gateway.post(`${path}/${id}/resume`, {});
  await runRecurringInvoices(new Date('2031-03-01T12:00:00Z'));
  await runRecurringInvoices(new Date('2031-05-01T12:00:00Z'));
  const late = { client_id, line_items, schedule: { unit: 'month', start_on: '2031-06-30' } };
  const other = await create(gateway, path, late);
  await runRecurringInvoices(new Date('2031-06-30T12:00:00Z'), { quotaBytes: 1 });
  await gateway.delete(`${path}/${other.id}`);
  await causeTooMuchTime(client_id);
}

/** More entries than an invoice takes, beside a fee. */
async function causeTooMuchTime(client_id: string) {
  const project = await create(gateway, '/api/v1/projects', { name: 'Years', client_id, hourly_rate: 1 });
  const hour = { project_id: project.id, date: '2026-11-02', hours: 1 };
  const { id } = await create(gateway, '/api/v1/time-entries', hour);
  const { collection } = TimeEntry;
  const entry = await collection.findOne({ _id: storedId(id) as never });
  await collection.insertMany(Array.from({ length: 1_000 }, () => ({ ...entry, _id: storedId(newId()) })) as never);
  const fee = { line_items: [{ description: 'Support', quantity: 1, rate: 450 }] };
  const include_time = { group_by: 'project', project_ids: [project.id] };
  const schedule = { unit: 'month', start_on: '2031-06-30' };
  const path = '/api/v1/recurring-invoices';
  const recurring = await create(gateway, path, { client_id, ...fee, schedule, include_time });
  await create(gateway, `${path}/${recurring.id}/run`, {});
}

async function causeEveryEvent() {
  const change = (path: string, body: object) => gateway.patch(`/api/v1/${path}`, body);
  const remove = (path: string) => gateway.delete(`/api/v1/${path}`);
  const make = (resource: string, body: object) => create(gateway, `/api/v1/${resource}`, body);

  const client = await createClient(gateway, { company_name: 'Analytical Engines' });
  await change(`clients/${client.id}`, { name: 'Ada King' });
  await gateway.post(`/api/v1/clients/${(await createClient(gateway)).id}/anonymise`);
  const project = await make('projects', { name: 'Engine', client_id: client.id });
  await change(`projects/${project.id}`, { name: 'Difference engine' });
  await change(`projects/${project.id}`, { budget_hours: 1, budget_amount: 1000 });
  const task = await make('tasks', { name: 'Draw', project_id: project.id, rate: 95, budget_hours: 1 });
  await change(`tasks/${task.id}`, { status: 'in_progress' });
  const entry = await make('time-entries', {
    project_id: project.id,
    task_id: task.id,
    date: '2026-11-02',
    hours: 1.5,
  });
  await change(`time-entries/${entry.id}`, { description: 'First sketch' });

  await causeTimers(project.id);
  await causePackages(client.id, entry.id);
  const item = await make('items', { name: 'Workshop', description: 'Half a day', unit: 'piece', rate: 850 });
  await change(`items/${item.id}`, { rate: 890 });
  await remove(`items/${item.id}`);
  const spent = { project_id: project.id, date: '2026-11-03', description: 'Train', amount: 120, receipt: 'Folder 7' };
  const expense = await make('expenses', spent);
  await change(`expenses/${expense.id}`, { amount: 118 });
  await remove(`expenses/${expense.id}`);

  const line_items = [{ description: 'Design', quantity: 1.5, rate: 100, discount: 10 }];
  const document = { client_id: client.id, project_id: project.id, amount: 100, line_items };
  const quote = await make('quotes', document);
  for (const status of ['Sent', 'Accepted', 'Declined']) await change(`quotes/${quote.id}`, { status });
  const late = { client_id: client.id, amount: 1, status: 'Sent' };
  await make('quotes', { ...late, expires_at: '2026-01-01' });
  const invoices = [];
  for (const status of ['Paid', 'Cancelled']) {
    const invoice = await make('invoices', { ...document, due_date: '2099-12-31' });
    for (const next of ['Sent', status]) await change(`invoices/${invoice.id}`, { status: next });
    invoices.push(invoice);
  }
  await make('invoices', { ...late, due_date: '2026-01-01' });
  await remove(`invoices/${(await make('invoices', { ...late, status: 'Draft', due_date: '2099-12-31' })).id}`);
  await remove(`quotes/${(await make('quotes', document)).id}`);
  await emitExpirations();
  await causeMovements(document);
  await causeSurplus(String(invoices.at(-1)?.id));
  await causeRecurringInvoices(client.id);

  await causeMail(client.id);
  await causeVisit(client.id);
  await causeAnswers(client.id);
  await announceAllFollowUps();
  await announceAllFollowUps(new Date(`${addDays(dayIn('UTC'), 8)}T12:00:00Z`));

  await make('documents', { documents: invoices.map(({ id }) => ({ type: 'invoice', id })) });
  await printAll();

  const { id } = await make('webhooks', { url: 'http://127.0.0.1:9/hook' });
  await gateway.post(`/api/v1/webhooks/${id}/test`);
  const endpoint = await WebhookEndpoint.findOne({ _id: id, account_id: gateway.account.id }).lean();
  await recordGone(endpoint as WebhookEndpointRecord, { at: new Date() });

  await remove(`time-entries/${entry.id}`);
  await remove(`tasks/${task.id}`);
  const other = await createClient(gateway, { company_name: 'Short-lived' });
  const empty = await make('projects', { name: 'Empty', client_id: other.id });
  await remove(`projects/${empty.id}`);
  await remove(`clients/${other.id}`);
}

/** The client pays on a page of Stripe, and the invoice was cancelled meanwhile. */
async function causeSurplus(invoice_id: string) {
  const paid = { external_id: 'pi_1', invoice_id, amount: 10_000, currency: 'USD', method: 'card' } as const;
  await inUnit(gateway.account.id, (unit) => bookProviderPayment(unit, { ...paid, day: dayIn('UTC') }));
}

/** The client looks at the page of a link. */
async function causeVisit(client_id: string) {
  const link = await create(gateway, `/api/v1/clients/${client_id}/links`, {});
  const stored = await findOwn(DocumentLink, gateway.account.id, link.id);
  await inUnit(gateway.account.id, (unit) => countOpening(unit, stored as DocumentLinkRecord, 'UTC'));
}

/** A client promises to pay and does not, and asks two questions, of which one is answered. */
async function causeAnswers(client_id: string) {
  const line_items = [{ description: 'Drawings', quantity: 1, rate: 1 }];
  const issued = { client_id, line_items, due_date: '2099-12-31', status: 'Sent' };
  const { id } = await create(gateway, '/api/v1/invoices', issued);
  const day = addDays(dayIn('UTC'), 7);
  await promise(gateway.account.id, id, day);
  await emitExpirations(new Date(`${addDays(day, 2)}T12:00:00Z`));
  for (const text of ['Is the delivery part of the price?', 'When?'])
    await ask(gateway.account.id, { type: 'invoice', id, text, line: 1 });
  const { data } = (await gateway.get('/api/v1/questions')).body;
  await gateway.post(`/api/v1/questions/${data[0].id}/answer`, { answer: 'Yes, it is.' });
  await gateway.post(`/api/v1/questions/${data[1].id}/close`);
  const quote = await create(gateway, '/api/v1/quotes', { client_id, amount: 1, status: 'Sent' });
  await decline(gateway.account.id, quote.id, 'Too late');
  await promise(gateway.account.id, id, addDays(day, 14));
  await gateway.patch(`/api/v1/invoices/${id}`, { due_date: '2099-12-30' });
}

/** One message is accepted and comes back, one is rejected, of one the outcome is unknown, and a reminder is accepted. */
async function causeMail(client_id: string) {
  await setUpMail();
  const { id } = await create(gateway, '/api/v1/invoices', { client_id, amount: 1, due_date: '2099-12-31' });
  const send = async () => (await gateway.post(`/api/v1/invoices/${id}/send`, {})).body.data.id as string;
  const sent = await send();
  await sendWithoutRelay(gateway.account.id, sent);
  for (const kind of ['hard', 'complaint']) {
    await gateway.post('/api/v1/messages/bounces', { message_id: sent, recipient: 'ada@example.com', kind });
  }
  await gateway.delete('/api/v1/suppressions/ada@example.com');
  for (const move of ['lose', 'giveUp'] as const) await failWithoutRelay(gateway.account.id, await send(), move);
  const due = await create(gateway, '/api/v1/invoices', {
    client_id,
    amount: 1,
    due_date: '2026-01-01',
    status: 'Sent',
  });
  const { id: reminder } = (await gateway.post(`/api/v1/invoices/${due.id}/remind`, {})).body.data;
  await sendWithoutRelay(gateway.account.id, reminder);
}

/** Hours are sold, drawn by an invoice and given back. */
async function causePackages(client_id: string, time_entry_id: string) {
  const sold = { client_id, name: 'Support', hours: 10, amount: 900, currency: 'EUR', valid_until: '2099-12-31' };
  const { id } = await create(gateway, '/api/v1/hour-packages', { ...sold, valid_from: '2026-01-01' });
  await gateway.patch(`/api/v1/hour-packages/${id}`, { hours: 20, low_hours: 20 });
  const billed = { client_id, time_entry_ids: [time_entry_id], missing_rate: 'zero' };
  const draft = await create(gateway, '/api/v1/invoices/from-time', billed);
  await gateway.delete(`/api/v1/invoices/${draft.id}`);
  await gateway.delete(`/api/v1/hour-packages/${id}`);
}

async function causeTimers(project_id: string) {
  const start = () => create(gateway, '/api/v1/timers', { project_id });
  const first = await start();
  await gateway.patch(`/api/v1/timers/${first.id}`, { description: 'Second sketch' });
  await gateway.post(`/api/v1/timers/${first.id}/stop`, {});
  await gateway.delete(`/api/v1/timers/${(await start()).id}`);
}

/** A quote becomes an invoice; payments are recorded, released, refunded and voided; a rest is written off. */
async function causeMovements(document: { client_id: string }) {
  const post = (path: string, body: object) => gateway.post(`/api/v1/${path}`, body).then(({ body }) => body.data);
  const issue = async () =>
    create(gateway, '/api/v1/invoices', { ...document, due_date: '2099-12-31', status: 'Sent' });

  const quote = await create(gateway, '/api/v1/quotes', document);
  await post(`quotes/${quote.id}/convert`, { accept: true });

  const partly = await issue();
  const first = await post(`invoices/${partly.id}/payments`, { amount: 35 });
  await gateway.patch(`/api/v1/payments/${first.id}`, { note: 'From the parent company' });
  await post(`payments/${first.id}/release`, {});
  await post(`payments/${first.id}/refunds`, { amount: 10 });
  await post(`invoices/${partly.id}/write-off`, { amount: 0.05, reason: 'Bank charges' });

  const paid = await issue();
  const mistaken = await post(`invoices/${paid.id}/payments`, {});
  await post(`payments/${mistaken.id}/void`, { reason: 'Entered twice' });
  await causeCredits(paid.id, (await issue()).id);
}

/** Credits one invoice in part and one in full; what is left of the latter pays the former, is released and refunded. */
async function causeCredits(paid: string, due: string) {
  const post = (path: string, body: object) => gateway.post(`/api/v1/${path}`, body).then(({ body }) => body.data);
  await post(`invoices/${paid}/payments`, { amount: 30 });
  const reason = 'correction';
  const line_items = [{ description: 'Drawings', quantity: 1, rate: 5 }];
  await post(`invoices/${due}/credit-notes`, { reason, line_items });
  const note = await post(`invoices/${paid}/credit-notes`, { reason });
  await post(`credit-notes/${note.id}/allocations`, { invoice_id: due, amount: 3 });
  await post(`credit-notes/${note.id}/release`, {});
  await post(`credit-notes/${note.id}/refunds`, { amount: 2 });
}

/** The bytes do not matter here: the event names the documents and does not contain them. */
async function printAll() {
  const bytes = Buffer.from('%PDF-1.7\n%%EOF\n');
  const print = async () => ({ bytes, warnings: [] });
  const printing = openBatchPrinting({ print, nudge: () => undefined, log: testLog });
  await eventually(() => Event.exists({ account_id: gateway.account.id, type: 'documents.completed' }));
  await printing.close();
}

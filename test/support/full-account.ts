// An account with as much as it may keep where a small request could meet all of it: written straight to MongoDB, some tens of MB.
import mongoose, { type mongo } from 'mongoose';
import { newId, storedId } from '#libs/models/tenant.ts';
import type { TestGateway } from './gateway.ts';
import { make } from './operations.ts';
import { type AnyRecord, create } from './records.ts';
import type { TestAccount } from './workspace.ts';

export interface FullAccount {
  account: TestAccount;
  /** One record of each kind, the fullest there is; kinds as in operations.ts. */
  ids: Readonly<Record<string, string>>;
  /** The one client that owns all records. */
  clientId: string;
  /** The unbilled time and expenses of the client. */
  entryIds: readonly string[];
  expenseIds: readonly string[];
  /** Issued invoices of the largest size. */
  invoiceIds: readonly string[];
}

const TEXT = 'text '.repeat(4_000).trim();
const LINE = 'line '.repeat(400).trim();
/** Records of one page: a fifth of the largest page. */
export const PAGE = 20;
const PAYMENTS = 1_500;
const ENTRIES = 1_000;
const PARTS = 500;
/** Projects of other clients with unbilled time: as many as a bound would not hold that grew with them. */
const UNBILLED_PROJECTS = 500;
/** Together 16 MiB of UTF-8, see find-billable-time.ts. */
const DESCRIPTION = TEXT.slice(0, 16_000);
/** The most lines that a body of 256 KiB takes. */
const LINES = Array.from({ length: PARTS }, () => ({
  description: LINE.slice(0, 400),
  qty: '1',
  rate: '1',
  discount: '0',
}));
const BATCH_BYTES = 8 * 2 ** 20;

type Fields = Record<string, unknown>;

export async function fillAccount(gateway: TestGateway): Promise<FullAccount> {
  const account = await gateway.workspace.account();
  const post = (path: string, body: object): Promise<AnyRecord> => create(gateway, `/api/v1/${path}`, body, account);
  const logo_url = `data:image/png;base64,${'A'.repeat(190_000)}`;
  await gateway.patch('/api/v1/account', { logo_url, address: TEXT, bank_details: TEXT }, account);

  const client = await post('clients', { name: LINE, email: 'full@example.com', address: TEXT });
  const client_id: string = client.id;
  const clients = await multiply('clients', client_id, PAGE, () => ({ email: 'other@example.com' }));
  const project = await post('projects', { name: LINE, client_id, hourly_rate: 1 });
  await multiply('projects', project.id, PAGE);
  const fixed = await post('projects', { name: LINE, client_id, billing: 'fixed', fixed_amount: 100_000 });
  const task = await post('tasks', { name: LINE, project_id: project.id, description: TEXT });
  await multiply('tasks', task.id, PAGE);
  const ofTask = { project_id: project.id, task_id: task.id, hours: 1, date: '2026-01-02', description: DESCRIPTION };
  const entry = await post('time-entries', ofTask);
  const entryIds = await multiply('time_entries', entry.id, ENTRIES - 100);
  const member_rates = Array.from({ length: 100 }, (_, index) => ({
    member: `${index} ${LINE.slice(0, 190)}`,
    rate: 1,
  }));
  const places = await multiply('projects', project.id, UNBILLED_PROJECTS, (index) => ({
    client_id: storedId(clients[index % PAGE] as string),
    member_rates,
  }));
  await multiply('time_entries', entry.id, UNBILLED_PROJECTS, (index) => ({
    project_id: storedId(places[index] as string),
    task_id: null,
    description: 'x',
  }));
  const timer = await post('timers', { project_id: project.id, owner: 'full', description: TEXT });
  await multiply('timers', timer.id, PAGE, (index) => ({ owner: `full ${index}`, owner_key: `full ${index}` }));
  const spent = { project_id: project.id, date: '2026-01-02', description: LINE, amount: 1 };
  const expense = await post('expenses', spent);
  const expenseIds = await multiply('expenses', expense.id, PARTS - 1);
  const pack = await post('hour-packages', { client_id, hours: 10, name: LINE });
  const item = await post('items', { name: 'Item', rate: 1, description: LINE.slice(0, 1_700) });
  await multiply('items', item.id, PAGE, (index) => ({ name: `Item ${index}` }));

  const billed = { client_id, line_items: [{ description: 'x', quantity: 1, rate: 1_000_000 }], description: 'x' };
  const full = { line_items: LINES, description: TEXT };
  const quote = await post('quotes', { ...billed, amount: 1_000_000 });
  await change('quotes', quote.id, full);
  await multiply('quotes', quote.id, PAGE, numbered('QUO'));
  const draft = await post('invoices', { ...billed, due_date: '2031-01-01' });
  await change('invoices', draft.id, full);
  const sent = await post('invoices', { ...billed, due_date: '2031-01-01', status: 'Sent' });
  await change('invoices', sent.id, full);
  // More than one payment may pay at a time.
  const invoiceIds = await multiply('invoices', sent.id, 3 * PAGE, (index) => ({
    ...numbered('INV')(index),
    amount_paid: 100_000,
  }));
  // The last one that is paid of what is due.
  await change('invoices', sent.id, { due_date: '2033-01-01' });
  // The invoices that it is one part of.
  const [part] = (await multiply('invoices', sent.id, PARTS - 1, (index) => ({
    ...numbered('PART')(index),
    line_items: null,
    parties: {
      issuer: { name: 'Full', locale: 'en' },
      client: { id: client_id, name: 'Full', email: 'full@example.com' },
    },
    quote_id: storedId(quote.id),
    quote_number: 'QUO-0001',
    quote_part: 'progress',
    due_date: '2032-01-01',
    amount: 100,
  }))) as [string];
  await change('quotes', quote.id, { converted_at: new Date() });

  const timed = await post('invoices/from-time', { client_id, time_entry_ids: [entryIds.pop()], missing_rate: 'zero' });
  const [onDraft] = await find('time_entries', { invoice_id: storedId(timed.id) });
  await multiply('time_entries', String(onDraft?._id), ENTRIES - 1);
  await multiply('hour_packages', pack.id, ENTRIES - 1);
  const [drawn] = await find('hour_drawdowns', { account_id: storedId(account.id) });
  if (drawn) await multiply('hour_drawdowns', String(drawn._id), PAGE, (index) => ({ line: index + 2 }));

  const paying = (invoice_id: string, amount: number) => ({
    client_id,
    amount,
    note: TEXT,
    allocations: [{ invoice_id, amount: 1 }],
  });
  const small = await post('payments', paying(sent.id, 2));
  await change('payments', small.id, { 'parties.issuer': { name: 'Full', locale: 'en' } });
  await multiply('payments', small.id, PAYMENTS, numbered('PAY'));
  await change('invoices', sent.id, { amount_paid: 100 * (PAYMENTS + 1) });
  const large = await post('payments', paying(invoiceIds[0] as string, 900_000));
  await change('payments', large.id, await partsOf('payments', large.id, invoiceIds));
  await multiply('payments', large.id, PAGE, numbered('LARGE'));
  const voidable = String((await multiply('payments', large.id, 1, () => ({ refunds: [] })))[0]);

  const credited = invoiceIds[1] as string;
  await post(`invoices/${credited}/payments`, {});
  const note = await post(`invoices/${credited}/credit-notes`, { reason: 'return', description: 'x' });
  await post(`credit-notes/${note.id}/allocations`, { invoice_id: invoiceIds[2], amount: 1 });
  await change('credit_notes', note.id, { ...full, ...(await partsOf('credit_notes', note.id, invoiceIds.slice(2))) });
  await multiply('credit_notes', note.id, PAGE, numbered('CRN'));
  // Corrections of a part of the quote, at as many rates as a document has lines.
  await change('invoices', part, { total_credited: 1 });
  const taxes = Array.from({ length: PARTS }, (_, index) => ({
    rate: index / PARTS,
    category: 'S',
    taxable: 1,
    tax: 0,
  }));
  const correction = { invoice_id: storedId(part), reason: 'correction', line_items: null, allocations: [], taxes };
  await multiply('credit_notes', note.id, 3 * PAGE, (index) => ({ ...numbered('COR')(index), ...correction }));

  const schedule = { unit: 'month', start_on: '2031-01-31' };
  const include_time = { group_by: 'none', line_text: LINE_TEXT, missing_rate: 'zero' };
  const recurring = await post('recurring-invoices', { ...billed, include_time, schedule });
  await change('recurring_invoices', recurring.id, full);
  await multiply('recurring_invoices', recurring.id, PAGE);
  const paused = String((await multiply('recurring_invoices', recurring.id, 1, () => ({ status: 'Paused' })))[0]);

  const ids: Record<string, string> = {};
  for (const kind of ['documents', 'keys', 'webhooks', 'events', 'deliveries']) {
    ids[kind] = await make(gateway, kind, account, 'full-');
  }
  const body = JSON.stringify({
    type: 'client.created',
    timestamp: new Date(),
    data: { ...client, address: 'x'.repeat(200_000) },
  });
  await change('events', ids['events'] as string, { body });
  await multiply('events', ids['events'] as string, 3 * PAGE, activity([draft.id, quote.id, note.id]));
  await multiply('deliveries', ids['deliveries'] as string, PARTS, () => ({ event_id: storedId(newId()) }));
  await mongoose.connection
    .collection('time_entries')
    .updateMany({ invoice_id: storedId(timed.id) }, { $set: { description: DESCRIPTION } });
  return {
    account,
    clientId: client_id,
    entryIds: [entry.id, ...entryIds],
    expenseIds: [expense.id, ...expenseIds],
    invoiceIds,
    ids: {
      ...ids,
      clients: client_id,
      projects: project.id,
      'fixed-projects': fixed.id,
      tasks: task.id,
      'time-entries': entry.id,
      timers: timer.id,
      expenses: expense.id,
      'hour-packages': pack.id,
      items: item.id,
      quotes: quote.id,
      invoices: draft.id,
      'sent-invoices': sent.id,
      'timed-invoices': timed.id,
      payments: large.id,
      'voidable-payments': voidable,
      'credit-notes': note.id,
      'credited-invoices': credited,
      'recurring-invoices': recurring.id,
      'paused-recurring-invoices': paused,
    },
  };
}

/** The text of a line that takes the longest. */
export const LINE_TEXT = '{description}'.repeat(150);

/** Returns events about the documents and as many others as a payment may pay, with the longest facts. */
const activity = (documentIds: readonly string[]) => {
  const others = Array.from({ length: PARTS - documentIds.length }, () => newId());
  const subjects = [...documentIds, ...others].map((id) => ({ id: storedId(id), amount: 1_000 }));
  const recipients = Array.from({ length: 20 }, () => ({ address: `${'x'.repeat(242)}@example.com`, state: 'failed' }));
  const facts = { record: { type: 'message', id: newId() }, text: TEXT, recipients };
  return (index: number) => ({ sequence: 1_000_000 + index, type: 'message.failed', client_id: null, subjects, facts });
};

const numbered = (prefix: string) => (index: number) => ({
  number: 10_000 + index,
  number_text: `${prefix}-${10_000 + index}`,
});

/** Allocations to all of the invoices in turn, and refunds. */
async function partsOf(collection: string, id: string, invoiceIds: readonly string[]): Promise<Fields> {
  const [record] = await find(collection, { _id: storedId(id) });
  const part = (record?.['allocations'] as Fields[] | undefined)?.at(-1);
  const invoice = (index: number) => storedId(invoiceIds[index % invoiceIds.length] as string);
  const each = <One>(one: (index: number) => One) => Array.from({ length: PARTS }, (_, index) => one(index));
  return {
    allocations: each((index) => ({ ...part, _id: storedId(newId()), invoice_id: invoice(index), amount: 1 })),
    refunds: each((index) => ({
      _id: storedId(newId()),
      amount: 1,
      date: '2026-01-02',
      method: 'other',
      reference: LINE.slice(0, 200),
      external_id: `refund ${index}`,
    })),
  };
}

function find(collection: string, filter: object): Promise<mongo.WithId<mongo.Document>[]> {
  return mongoose.connection.collection(collection).find(filter).limit(1).toArray();
}

async function change(collection: string, id: string, fields: Fields): Promise<void> {
  await mongoose.connection.collection(collection).updateOne({ _id: storedId(id) as never }, { $set: fields });
}

/** Copies a record so often. @param fields that a copy has of its own. @returns the ids of the copies. */
async function multiply(collection: string, id: string, count: number, fields: (index: number) => Fields = () => ({})) {
  const [record] = await find(collection, { _id: storedId(id) });
  if (!record) throw new Error(`${collection} has no record ${id}`);
  const atOnce = Math.max(1, Math.floor(BATCH_BYTES / mongoose.mongo.BSON.calculateObjectSize(record)));
  const ids = Array.from({ length: count }, () => newId());
  for (let at = 0; at < count; at += atOnce) {
    const copies = ids
      .slice(at, at + atOnce)
      .map((copy, index) => ({ ...record, ...fields(at + index), _id: storedId(copy) }));
    await mongoose.connection.collection(collection).insertMany(copies as never, { ordered: false });
  }
  return ids;
}

// Records for the benchmark of the billing core: with the fields that the API stores, written in bulk before there are indexes.
import type { Collection, Document } from 'mongodb';
import mongoose from 'mongoose';
import { addDays, dayIn } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { recount } from '#libs/models/recount.ts';
import { newId, newRecord, type StoredId } from '#libs/models/tenant.ts';
import { progress } from './progress.ts';

export interface BillingAccount {
  id: string;
  key: string;
  /** Each has one project with `entriesEach` unbilled entries, and `invoicesEach` invoices that are due. */
  clients: { id: StoredId; project: StoredId; entries: StoredId[] }[];
}

interface Size {
  clients: number;
  entriesEach: number;
  invoicesEach: number;
  payments: number;
  /** The clients with unbilled time: all, unless given. */
  unbilledClients?: number;
}

/** Records of one insert. At 600 bytes each, the driver sends them as one message. */
const CHUNK = 5_000;
const DAYS = 720;
const ADA = { name: 'Ada Lovelace', email: 'ada@example.com', company_name: 'Analytical Engines' };
const PARTIES = { issuer: { name: 'Studio North', locale: 'en-US' }, client: { id: '', ...ADA } };
const first = addDays(dayIn('UTC'), 60 - DAYS);
const days: string[] = [];

/** Has to be followed by `ensureIndexes` and `countAll`. */
export async function fillBilling(size: Size): Promise<BillingAccount> {
  const id = newId();
  await Account.create({ _id: id, name: 'Bench', hourly_rate: 90 });
  const { key } = await issueApiKey({ accountId: id, name: 'bench', scopes: ['*'] });
  const people = Array.from({ length: size.clients }, () => ({
    ...newRecord(id),
    ...ADA,
    search: 'ada lovelace',
    status: 'invited',
  }));
  const projects = people.map(({ _id }) => ({
    ...newRecord(id),
    name: 'Mill',
    status: 'In Progress',
    client_id: _id,
    hourly_rate: null,
    rounding: null,
  }));
  await fill('clients', people.length, (at) => people[at] as Document);
  await fill('projects', projects.length, (at) => projects[at] as Document);
  const clients = people.map((one, at) => ({
    id: one._id,
    project: projects[at]?._id as StoredId,
    entries: [] as StoredId[],
  }));
  const of = (at: number) => clients[at % clients.length] as (typeof clients)[number];
  await fill('time_entries', size.clients * size.entriesEach, (at) => {
    const isBilled = at % size.clients >= (size.unbilledClients ?? size.clients);
    const entry = { ...timeEntry(id, of(at).project, at), ...(isBilled ? { invoice_id: of(at).id } : {}) };
    if (size.entriesEach <= 1_000) of(at).entries.push(entry._id);
    return entry;
  });
  await fill('invoices', size.clients * size.invoicesEach, (at) => invoice(id, of(at), at));
  await fill('payments', size.payments, (at) => payment(id, of(at).id, at));
  return { id, key, clients };
}

/** Recounts the stored bytes, as every program must that writes records without the API. */
export async function countAll(accounts: readonly BillingAccount[]): Promise<void> {
  for (const { id } of accounts) await recount(id);
}

async function fill(name: string, count: number, make: (at: number) => Document) {
  const collection = mongoose.connection.db?.collection(name) as unknown as Collection;
  // The next chunk is made while the database stores this one.
  let stored: Promise<unknown> = Promise.resolve();
  for (let from = 0; from < count; from += CHUNK) {
    if (count > CHUNK) progress(`billing: ${from.toLocaleString('en')} of ${count.toLocaleString('en')} ${name}`);
    const chunk = Array.from({ length: Math.min(CHUNK, count - from) }, (_, index) => make(from + index));
    await stored;
    stored = collection.insertMany(chunk, { ordered: false, writeConcern: { w: 1 } });
  }
  await stored;
}

/** Since the first. Worked out once: a million records have few days. */
function dayOf(offset: number): string {
  days[offset] ??= addDays(first, offset);
  return days[offset];
}

function timeEntry(account: string, project_id: StoredId, at: number) {
  return {
    ...newRecord(account),
    project_id,
    task_id: null,
    hours: 1.5,
    seconds: 5_400,
    hourly_rate: null,
    date: dayOf(at % (DAYS - 60)),
    description: 'Drawings of the mill',
    billable: true,
  };
}

/** One in four is a draft, one in four is paid; the others are due, most of them overdue. */
function invoice(account: string, client: BillingAccount['clients'][number], at: number) {
  const status = (['Draft', 'Sent', 'Paid', 'Sent'] as const)[Math.floor(at / 7) % 4] as string;
  const due_date = dayOf(at % DAYS);
  return {
    ...newRecord(account),
    number: at + 1,
    number_text: `INV-${String(at + 1).padStart(4, '0')}`,
    client_id: client.id,
    project_id: client.project,
    status,
    due_date,
    ...(status === 'Draft' ? {} : { issue_date: addDays(due_date, -30), parties: PARTIES }),
    currency: 'USD',
    amount: 10_000,
    tax_rate: 0,
    tax_amount: 0,
    amount_paid: status === 'Paid' ? 10_000 : 0,
    description: 'Drawings of the mill',
    line_items: [{ description: 'Drawings', qty: '1', rate: '100', discount: '0' }],
    search: `inv-${at + 1} drawings of the mill ada lovelace`,
  };
}

function payment(account: string, client_id: StoredId, at: number) {
  return {
    ...newRecord(account),
    number: at + 1,
    number_text: `PAY-${String(at + 1).padStart(4, '0')}`,
    client_id,
    currency: 'USD',
    amount: 10_000,
    unallocated: 0,
    date: dayOf(at % (DAYS - 60)),
    method: 'bank_transfer',
    reference: null,
    note: null,
    source: 'api',
    status: 'Received',
    allocations: [],
    refunds: [],
    parties: PARTIES,
  };
}

// Every list with every filter in every order: served by an index, never sorted in memory, never by a collection scan.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import pLimit from 'p-limit';
import { addDays } from '#libs/day.ts';
import { Client, searchOf } from '#libs/models/accounts/client.ts';
import { QUESTION_STATUSES, Question } from '#libs/models/answers/question.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Item, itemSearch } from '#libs/models/billing/item.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { Counter } from '#libs/models/counter.ts';
import { Message } from '#libs/models/messages/message.ts';
import { driverOf } from '#libs/models/records.ts';
import { recount } from '#libs/models/recount.ts';
import { drawNext } from '#libs/models/sequences.ts';
import { newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import { Expense } from '#libs/models/time/expense.ts';
import { HourPackage } from '#libs/models/time/hour-package.ts';
import { Project } from '#libs/models/time/project.ts';
import { Task } from '#libs/models/time/task.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Timer } from '#libs/models/time/timer.ts';
import { Event, insertEvent } from '#libs/models/webhooks/event.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import type { Route } from '../../../services/gateway/http/route.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { messageOf } from '../../support/messages.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { createClient, createProject } from '../../support/records.ts';
import { parametersOf, routeTable } from '../../support/route-table.ts';
import { announceMany } from '../../support/webhooks.ts';

const RECORDS = 1_500;
/** Requests in flight. */
const AT_ONCE = 4;
const PROFILE_BYTES = 256 * 1024 * 1024;
const lists = routeTable.filter(
  (row) => row.method === 'get' && !row.path.includes('{id}') && 'sort' in parametersOf(row),
);

let gateway: TestGateway;
let stranger: { id: string; key: string };
let samples: Record<string, string[]>;

beforeAll(async () => {
  gateway = await startGateway();
  stranger = await gateway.workspace.account();
  // Most records are of another account, which reveals an index that does not begin with the account.
  const ids = await Promise.all([
    fill(gateway.account.id, gateway.account.key, RECORDS),
    fill(stranger.id, stranger.key, RECORDS * 2),
  ]);
  const [{ client_id, project_id, task_id, invoice_id }] = ids;
  samples = {
    client_id: [client_id],
    project_id: [project_id],
    task_id: [task_id],
    invoice_id: [invoice_id],
    owner: ['ada'],
    member: ['ada'],
    billing: ['unbilled', 'on_draft', 'billed', 'written_off'],
    billable: ['true', 'false'],
    method: ['card'],
    external_id: ['bank-17'],
    unallocated: ['true'],
    q: ['ada', '17'],
    number: ['INV-0017'],
    state: ['queued'],
    kind: ['invoice'],
    document_id: [invoice_id],
    recipient: ['ada@example.com'],
    issue_date_from: ['2026-02-01'],
    issue_date_to: ['2026-03-01'],
    due_date_from: ['2026-11-01'],
    due_date_to: ['2026-12-01'],
    expires_at_from: ['2026-11-01'],
    expires_at_to: ['2026-12-01'],
    date_from: ['2026-02-01'],
    date_to: ['2026-03-01'],
    updated_since: ['2026-01-01T00:00:00Z'],
  };
});
afterAll(() => gateway.close());

describe.each(sampled(lists, 12).map((row) => [row.path, row] as const))('GET %s', (path, row) => {
  test('when the list is filtered and sorted in every way, then no query scans a collection or sorts in memory', async () => {
    const queries = queriesOf(row);
    const limit = pLimit(AT_ONCE);
    let requests = 0;
    const ask = async (query: string) => {
      requests += 1;
      return got(`${path}?${query}`);
    };
    const plans = await plansWhile(async () => {
      await limit.map(queries, async (query) => {
        const cursor = afterOf((await ask(`${query}&limit=2`)).headers);
        if (cursor) await ask(`${query}&limit=2&after=${cursor}`);
      });
    });

    const bad = plans.filter(({ summary, detail }) => /COLLSCAN|SORT/.test(summary) || detail.hasSortStage);
    expect(bad).toEqual([]);
    expect(plans.length).toBeGreaterThan(requests);
  }, 600_000);

  test('when all pages are read, then every record is listed once', async () => {
    const pages = [];
    for (let offset = 0; offset < 400; offset += 100) {
      pages.push(...(await gateway.get(`${path}?limit=100&offset=${offset}`)).body.data);
    }

    expect(new Set(pages.map(({ id }) => id)).size).toBe(400);
  });

  test('when one page is requested, then little more than a page is read', async () => {
    const [find] = (await plansOf(`${path}?limit=20`)).filter(
      ({ detail }) => detail.command === 'find' && detail.collection !== Counter.collection.name,
    );

    expect(find?.detail.docsExamined).toBeLessThanOrEqual(21);
    expect(find?.detail.keysExamined).toBeLessThanOrEqual(22);
  });
});

test.each([
  'invoices',
  'time-entries',
  'payments',
  'credit-notes',
  'clients?sort=updated_at',
  'projects?status=Complete',
  'tasks?status=done',
  'invoices?status=Paid',
  'invoices?status=Overdue',
  'invoices?status=Sent',
  'quotes?status=Expired',
  'quotes?status=Sent&sort=updated_at',
  'invoices?status=Sent,Overdue',
  'invoices?status=Draft,Overdue',
])(
  'when %s is listed, then its total comes from the counter, and at most a month of days is counted',
  async (query) => {
    const plans = await plansOf(`/api/v1/${query}`);
    const counts = plans.filter(({ detail }) => detail.command === 'count');
    const corrections = plans.filter(({ detail }) => detail.command === 'aggregate');

    expect(counts).toEqual([]);
    expect(plans.some(({ detail }) => detail.collection === Counter.collection.name)).toBe(true);
    for (const { detail } of corrections) {
      expect(detail.docsExamined).toBe(0);
      expect(detail.keysExamined).toBeLessThan(RECORDS / 3);
    }
  },
);

test.each([
  'invoices?issue_date_from=2026-03-01&issue_date_to=2026-04-01',
  'invoices?status=Paid&issue_date_from=2026-03-01',
  'invoices?due_date_to=2026-11-01',
  'invoices?status=Overdue&due_date_from=2026-10-02',
  'quotes?expires_at_from=2026-11-01&status=Accepted',
])('when %s is counted, then by an index that has the day, and no record is read for it', async (query) => {
  const counts = (await plansOf(`/api/v1/${query}`)).filter(({ detail }) => detail.command === 'count');

  expect(counts.map(({ detail }) => [detail.docsExamined, detail.keysExamined > 10])).toEqual([[0, true]]);
});

test('when MongoDB does not finish a list before its deadline, then 503 with Retry-After', async () => {
  const outOfTime = {
    failCommands: ['find', 'count', 'aggregate'],
    namespace: `${Client.db.name}.${Client.collection.name}`,
    errorCode: 50,
  };
  const { status, headers, body } = await withErrors(outOfTime, () => gateway.get('/api/v1/clients'));

  expect([status, body.error, headers.get('Retry-After')]).toEqual([
    503,
    'The service is temporarily unavailable',
    '1',
  ]);
});

test('when a list has pages before and after, then Link names them', async () => {
  const link = String((await gateway.get('/api/v1/invoices?status=Draft&limit=10&offset=20')).headers.get('Link'));

  for (const [rel, offset] of [
    ['first', 0],
    ['prev', 10],
  ] as const) {
    expect(link).toContain(`</api/v1/invoices?status=Draft&limit=10&offset=${offset}>; rel="${rel}"`);
  }
  expect(link).toMatch(/<\/api\/v1\/invoices\?status=Draft&limit=10&after=[\w-]+>; rel="next"/);
  expect(link).toMatch(/rel="last"$/);
});

/** The cursor of the next page. */
function afterOf(headers: Headers): string | undefined {
  return /[?&]after=([\w-]+)[^>]*>; rel="next"/.exec(String(headers.get('Link')))?.[1];
}

/** Values of filters that accept several, or that only some lists have. */
const STATUSES: Record<string, string[]> = {
  '/api/v1/recurring-invoices': ['Active', 'Paused', 'Ended', 'Active,Paused'],
  '/api/v1/projects': ['In Progress'],
  '/api/v1/invoices': ['Draft', 'Sent', 'Overdue', 'Paid', 'Cancelled', 'Sent,Overdue', 'Draft,Overdue', 'Paid,Sent'],
  '/api/v1/quotes': [
    'Draft',
    'Sent',
    'Expired',
    'Accepted',
    'Declined',
    'Sent,Expired',
    'Draft,Expired',
    'Sent,Declined',
  ],
};
/** Lists with more filters than this are tested with two at a time, in the default order and in one other. */
const FILTERS_COMBINED = 4;

const query = (set: string[], order: string) => [...set, order].filter(Boolean).join('&');

/** Every set of filters with every order. */
function queriesOf(row: Route): string[] {
  const { sort, limit: _limit, offset: _offset, after: _after, ...filters } = parametersOf(row);
  const sorts = ['', ...(sort?.allow ?? []).map((name) => `sort=${String(name)}`)];
  let sets: string[][] = [[]];
  for (const [name, { allow }] of Object.entries(filters)) {
    const values = name === 'status' ? (STATUSES[row.path] ?? (allow as string[] | undefined)) : samples[name];
    if (!values) throw new Error(`give a sample of ${name}`);
    const more = values.flatMap((value) => sets.map((set) => [...set, `${name}=${encodeURIComponent(value)}`]));
    sets = sets.concat(more);
  }
  if (Object.keys(filters).length <= FILTERS_COMBINED)
    return sets.flatMap((set) => sorts.map((order) => query(set, order)));
  return sets
    .filter((set) => set.length <= 2)
    .flatMap((set, index) => ['', sorts[index % sorts.length] ?? ''].map((order) => query(set, order)));
}

test('when the feed is filtered by a rare type, then no other events are examined', async () => {
  const accountId = gateway.account.id;
  await announceMany(accountId, 500);
  await inTransaction(async (session) => {
    const event = await drawNext(session, accountId, 'event');
    await insertEvent(session, { accountId, type: 'client.deleted', sequence: event, data: {} });
  });
  const plans = (await plansOf('/api/v1/events?type=client.deleted&limit=20')).filter(
    ({ detail }) => detail.collection === Event.collection.name,
  );

  expect(plans).toHaveLength(2);
  for (const { detail } of plans) expect(detail.keysExamined + detail.docsExamined).toBeLessThan(10);
});

async function got(path: string) {
  const reply = await gateway.get(path);
  expect([path, reply.status]).toEqual([path, 200]);
  return reply;
}

const plansOf = (path: string) => plansWhile(() => got(path));

/** The plans that the database profiles while the requests run. */
async function plansWhile(run: () => Promise<unknown>) {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  // By default the profile collection keeps one megabyte.
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES });
  await db.command({ profile: 2 });
  await run();
  await db.command({ profile: 0 });
  const entries = await db
    .collection('system.profile')
    .find({ op: { $in: ['query', 'command'] } })
    .toArray();
  await db.collection('system.profile').drop();
  return entries
    .filter(({ command }) => command['find'] || command['count'] || command['aggregate'])
    .map(({ command, planSummary, hasSortStage, docsExamined, keysExamined }) => ({
      summary: String(planSummary),
      detail: {
        command: Object.keys(command)[0],
        collection: Object.values(command)[0],
        filter: command['filter'] ?? command['query'] ?? command['pipeline'],
        sort: command['sort'],
        hasSortStage,
        docsExamined,
        keysExamined,
      },
    }));
}

/** Fills an account directly in the database: thousands of requests would show nothing more. */
async function fill(account: string, key: string, count: number) {
  const client = await createClient(gateway, {}, { key });
  const project = await createProject(gateway, { client_id: client.id }, { key });
  const rare = await createClient(gateway, { name: 'Rare' }, { key });
  const pick = <Value>(values: readonly Value[], index: number) => values[index % values.length] as Value;
  const clients = [storedId(client.id), storedId(rare.id), storedId(client.id)];
  const project_id = storedId(project.id);
  const many = async (records: Parameters<typeof driverOf>[0], make: (index: number) => object) => {
    await driverOf(records).insertMany(
      Array.from({ length: count }, (_, index) => ({ ...newRecord(account), ...make(index) }) as never),
    );
  };
  const base = {
    currency: 'USD',
    amount: 100,
    tax_amount: 0,
    amount_paid: 0,
    tax_rate: 0,
    description: null,
    line_items: null,
  };
  await many(Client, (index) => {
    const faces = { name: `Client ${index}`, email: `client${index}@example.com` };
    return { ...faces, search: searchOf(faces), status: 'invited' };
  });
  await many(Invoice, (index) => ({
    ...base,
    number: index + 1,
    client_id: pick(clients, index),
    project_id: null,
    status: pick(['Draft', 'Sent', 'Paid', 'Overdue', 'Cancelled', 'Sent'], index),
    due_date: addDays('2026-10-01', index % 120),
    ...(index % 3 === 0 ? {} : { issue_date: addDays('2026-01-01', index % 200) }),
    number_text: `INV-${String(index + 1).padStart(4, '0')}`,
    search: `inv-${index + 1}`,
  }));
  const invoice_id = (await Invoice.findOne({ account_id: account }).lean())?._id as StoredId;
  await many(HourPackage, (index) => ({
    client_id: pick(clients, index),
    project_id: index % 3 ? project_id : null,
    name: null,
    hours: 10,
    seconds: 36_000,
    drawn_seconds: 0,
    amount: null,
    currency: null,
    valid_from: null,
    valid_until: index % 4 ? addDays('2026-01-01', index % 200) : null,
    rollover: false,
  }));
  await many(Item, (index) => {
    const fields = { name: `Workshop ${index}`, description: null };
    return { ...fields, unit: null, rate: 850, tax_rate: null, search: itemSearch(fields) };
  });
  await many(Expense, (index) => ({
    project_id,
    date: addDays('2026-01-01', index % 200),
    description: 'Train',
    amount: 100,
    currency: 'USD',
    markup: 0,
    billed_amount: 100,
    tax_rate: null,
    billable: index % 5 !== 0,
    receipt: null,
    ...(index % 3 ? {} : { invoice_id }),
  }));
  await many(Payment, (index) => ({
    number: index + 1,
    number_text: `PAY-${String(index + 1).padStart(4, '0')}`,
    client_id: pick(clients, index),
    currency: 'USD',
    amount: 100,
    unallocated: index % 5 ? 0 : 40,
    date: addDays('2026-01-01', index % 200),
    method: pick(['bank_transfer', 'card'], index),
    reference: null,
    ...(index % 2 ? { external_id: `bank-${index}` } : {}),
    note: null,
    source: 'api',
    status: 'Received',
    allocations:
      index % 7
        ? []
        : [
            {
              _id: newRecord(account)._id,
              invoice_id,
              invoice_number: 'INV-0001',
              amount: 60,
              refunded: 0,
              date: '2026-01-01',
            },
          ],
    refunds: [],
    parties: { issuer: { name: 'Studio' }, client: { name: 'Ada' } },
  }));
  await many(CreditNote, (index) => ({
    number: index + 1,
    number_text: `CRN-${String(index + 1).padStart(4, '0')}`,
    client_id: pick(clients, index),
    invoice_id: index % 7 ? newRecord(account)._id : invoice_id,
    invoice_number: 'INV-0001',
    invoice_issued_on: '2026-01-01',
    ...base,
    reason: 'return',
    settle: 'credit',
    applied_at_issue: 0,
    unallocated: index % 5 ? 0 : 40,
    allocations: [],
    refunds: [],
    issued_on: addDays('2026-01-01', index % 200),
    parties: { issuer: { name: 'Studio' }, client: { name: 'Ada' } },
  }));
  await many(Message, (index) => ({
    ...messageOf(account, { client_id: pick(clients, index) }),
    kind: pick(['invoice', 'reminder_1', 'receipt'], index),
    state: pick(['queued', 'accepted', 'failed', 'cancelled'], index),
    ...(index % 7 ? {} : { document: { type: 'invoice', id: invoice_id, number: 'INV-0001' } }),
  }));
  await many(Question, (index) => ({
    document: { type: 'invoice', id: index % 7 ? newRecord(account)._id : invoice_id, number: 'INV-0001' },
    client_id: pick(clients, index),
    text: 'Is the delivery part of the price?',
    status: pick(QUESTION_STATUSES, index),
    link_id: newRecord(account)._id,
  }));
  await many(RecurringInvoice, (index) => ({
    client_id: pick(clients, index),
    project_id: null,
    currency: 'USD',
    tax_rate: null,
    description: null,
    line_items: [{ description: 'Support', qty: '1', rate: '450', discount: '0' }],
    schedule: { every: 1, unit: 'month', start_on: '2031-01-31' },
    due_days: null,
    create_as: 'Draft',
    include_time: null,
    status: pick(['Active', 'Paused', 'Ended'], index),
    first_occurrence: 0,
    next_index: 0,
    ...(index % 3 === 2 ? {} : { next_on: addDays('2031-01-01', index % 200) }),
    made: 0,
  }));
  await many(Quote, (index) => ({
    ...base,
    number: index + 1,
    client_id: pick(clients, index),
    project_id: null,
    status: pick(['Draft', 'Sent', 'Accepted', 'Declined', 'Expired', 'Sent'], index),
    expires_at: addDays('2026-10-01', index % 120),
    ...(index % 3 === 0 ? {} : { issue_date: addDays('2026-01-01', index % 200) }),
    number_text: `QUO-${String(index + 1).padStart(4, '0')}`,
    search: `quo-${index + 1}`,
  }));
  await many(Project, (index) => ({
    client_id: pick(clients, index),
    name: `P${index}`,
    status: pick(['In Progress', 'Complete'], index),
  }));
  let task: StoredId | undefined;
  await many(Task, (index) => ({
    project_id,
    name: `T${index}`,
    description: null,
    status: pick(['todo', 'in_progress', 'done'], index),
    estimated_hours: null,
    billable: true,
    rate: null,
    total_seconds: 0,
    phase_id: null,
  }));
  task = (await Task.findOne({ account_id: account }).lean())?._id;
  await many(TimeEntry, (index) => ({
    project_id: pick([project_id, storedId('0192e0a0-0000-7000-8000-000000000000')], index),
    task_id: index % 7 ? null : task,
    hours: 1,
    seconds: 3600,
    hourly_rate: null,
    date: addDays('2026-01-01', index % 200),
    description: null,
  }));
  // Few timers run, each for a different owner.
  const ownerOf = (index: number) => (index % 20 ? pick(['ada', 'grace', 'joan'], index) : `owner ${index}`);
  await many(Timer, (index) => ({
    owner: ownerOf(index),
    owner_key: ownerOf(index),
    project_id: pick([project_id, storedId('0192e0a0-0000-7000-8000-000000000000')], index),
    task_id: null,
    description: null,
    started_at: new Date('2026-01-01T09:00:00Z'),
    ...(index % 20
      ? { status: 'stopped', ended_at: new Date('2026-01-01T10:00:00Z'), time_entry_id: newRecord(account)._id }
      : { status: 'running' }),
  }));
  await recount(account);
  return {
    client_id: rare.id as string,
    project_id: project.id as string,
    task_id: String(task),
    invoice_id: String(invoice_id),
  };
}

// Follow-ups: each kind is caused by what callers and clients do, counted once it is forgotten, and gone when it is done.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { FOLLOW_UP_KINDS, FOLLOW_UPS, type FollowUpKind } from '#libs/billing/follow-ups/follow-ups.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { ask, promise } from '../../support/answers.ts';
import { type AnswerCheck, answerCheck } from '../../support/contract/answer-check.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { failWithoutRelay, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { onDay } from '../../support/on-day.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { plansOf } from '../../support/plans.ts';
import type { AnyRecord } from '../../support/records.ts';
import { emitExpirations, runRecurringInvoices } from '../../support/rounds.ts';
import { routeTable } from '../../support/route-table.ts';

const TODAY = dayIn('UTC');
const noonOf = (day: string) => new Date(`${day}T12:00:00Z`);

let gateway: TestGateway;
let check: AnswerCheck;
let me: OwnAccount;
let client_id: string;
let project_id: string;

beforeAll(async () => {
  gateway = await startGateway();
  check = answerCheck((await gateway.get('/openapi.json')).body);
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await setUpMail();
  me = await openOwnAccount(gateway, { currency: 'EUR' });
  client_id = (await me.post('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 90 })).id;
  project_id = (await me.post('projects', { name: 'Engine', client_id })).id;
});

const line_items = [{ description: 'Drawings', quantity: 1, rate: 100 }];
const log = (more: object = {}) => me.post('time-entries', { project_id, date: TODAY, hours: 2, ...more });
const invoice = (more: object = {}) =>
  me.post('invoices', { client_id, line_items, due_date: addDays(TODAY, 400), status: 'Sent', ...more });
const quote = (more: object = {}) =>
  me.post('quotes', { client_id, amount: 100, line_items, expires_at: addDays(TODAY, 400), status: 'Sent', ...more });
const recurring = (more: object = {}) =>
  me.post('recurring-invoices', {
    client_id,
    line_items,
    schedule: { unit: 'month', start_on: addDays(TODAY, 1) },
    ...more,
  });

/** Calls what has to succeed. Returns its data. */
async function does(method: string, at: string, body?: object): Promise<AnyRecord> {
  const reply = await me.api.call(method, `/api/v1/${at}`, { body });
  expect([at, reply.status < 300, reply.body.details ?? reply.body.error]).toEqual([at, true, undefined]);
  return reply.body.data;
}

/** Mails a document, and lets the mail server take it. */
async function mail(at: string): Promise<AnyRecord> {
  const message = await does('POST', `${at}/send`, {});
  await sendWithoutRelay(me.id, message.id);
  return message;
}

async function report(key = me.key): Promise<AnyRecord> {
  const reply = await callerOf(gateway.url, key)('GET', '/api/v1/reports/follow-ups');
  expect([reply.status, reply.body.error]).toEqual([200, undefined]);
  check('GET', '/api/v1/reports/follow-ups', reply);
  return reply.body.data;
}

async function found(kind: FollowUpKind): Promise<AnyRecord> {
  return (await report()).follow_ups.find((one: AnyRecord) => one.kind === kind);
}

interface Case {
  /** The day from which it is listed, from today. Listed at once unless given. */
  day?: number;
  /** @returns the record that is listed. */
  cause(): Promise<AnyRecord>;
  amounts?: object[];
  oldest?: string;
  /** Does what the owner is asked for, on the day on which it is listed. */
  settle(record: AnyRecord): Promise<unknown>;
}

const EUR = (amount: number) => [{ currency: 'EUR', amount }];

const CASES: Record<FollowUpKind, Case> = {
  unbilled_time: {
    day: 31,
    cause: () => log(),
    amounts: EUR(180),
    settle: () => me.post('invoices/from-time', { client_id }),
  },
  time_without_rate: {
    async cause() {
      await does('PATCH', `clients/${client_id}`, { hourly_rate: null });
      return log();
    },
    settle: () => does('PATCH', `clients/${client_id}`, { hourly_rate: 0 }),
  },
  unbilled_quotes: {
    async cause() {
      return does('PATCH', `quotes/${(await quote()).id}`, { status: 'Accepted' });
    },
    amounts: EUR(100),
    settle: ({ id }) => me.post(`quotes/${id}/convert`, {}),
  },
  expiring_quotes: {
    day: 13,
    cause: () => quote({ expires_at: addDays(TODAY, 20) }),
    amounts: EUR(100),
    oldest: addDays(TODAY, 20),
    settle: ({ id }) => does('PATCH', `quotes/${id}`, { expires_at: addDays(TODAY, 60) }),
  },
  stale_invoice_drafts: {
    day: 15,
    cause: () => invoice({ status: 'Draft' }),
    amounts: EUR(100),
    settle: ({ id }) => does('PATCH', `invoices/${id}`, { status: 'Sent' }),
  },
  stale_quote_drafts: {
    day: 15,
    cause: () => quote({ status: 'Draft' }),
    amounts: EUR(100),
    settle: ({ id }) => does('DELETE', `quotes/${id}`),
  },
  unmailed_invoices: {
    day: 1,
    async cause() {
      await mail(`invoices/${(await invoice()).id}`);
      return invoice();
    },
    amounts: EUR(100),
    settle: ({ id }) => mail(`invoices/${id}`),
  },
  unmailed_quotes: {
    day: 1,
    async cause() {
      await mail(`quotes/${(await quote()).id}`);
      return quote();
    },
    amounts: EUR(100),
    settle: ({ id }) => mail(`quotes/${id}`),
  },
  bounced_addresses: {
    async cause() {
      const { message_id } = await mail(`invoices/${(await invoice()).id}`);
      await does('POST', 'messages/bounces', { message_id, recipient: 'Ada@example.com', kind: 'hard' });
      return { id: client_id };
    },
    settle: () => does('PATCH', `clients/${client_id}`, { email: 'ada@engines.example' }),
  },
  unreminded_invoices: {
    day: 11,
    cause: () => invoice({ due_date: addDays(TODAY, 10) }),
    amounts: EUR(100),
    oldest: addDays(TODAY, 10),
    settle: ({ id }) => does('POST', `invoices/${id}/remind`, {}),
  },
  broken_promises: {
    async cause() {
      const made = await invoice();
      expect(await promise(me.id, made.id, addDays(TODAY, 5))).toBe('done');
      await emitExpirations(noonOf(addDays(TODAY, 5)));
      expect(await found('broken_promises')).toBeUndefined();
      await emitExpirations(noonOf(addDays(TODAY, 6)));
      return made;
    },
    amounts: EUR(100),
    oldest: addDays(TODAY, 5),
    settle: ({ id }) => me.post(`invoices/${id}/payments`, { amount: 100 }),
  },
  unanswered_questions: {
    async cause() {
      await ask(me.id, { type: 'invoice', id: (await invoice()).id, text: 'Why so many?' });
      const [question] = await me.get('questions');
      return question;
    },
    settle: ({ id }) => does('POST', `questions/${id}/answer`, { answer: 'There were many.' }),
  },
  unallocated_payments: {
    cause: () => me.post('payments', { client_id, amount: 40 }),
    amounts: EUR(40),
    async settle({ id }) {
      const { id: invoice_id } = await invoice();
      await does('POST', `payments/${id}/allocations`, { invoice_id, amount: 40 });
    },
  },
  unallocated_credit_notes: {
    async cause() {
      const { id } = await invoice();
      await me.post(`invoices/${id}/payments`, { amount: 100 });
      return me.post(`invoices/${id}/credit-notes`, { reason: 'return', amount: 30 });
    },
    amounts: EUR(30),
    settle: ({ id }) => does('POST', `credit-notes/${id}/refunds`, { amount: 30 }),
  },
  paused_recurring_invoices: {
    async cause() {
      return does('POST', `recurring-invoices/${(await recurring()).id}/pause`);
    },
    settle: ({ id }) => does('POST', `recurring-invoices/${id}/resume`, {}),
  },
  failed_recurring_invoices: {
    day: 1,
    async cause() {
      await does('PATCH', `clients/${client_id}`, { hourly_rate: null });
      await log();
      const made = await recurring({ include_time: { group_by: 'task' } });
      await runRecurringInvoices(noonOf(addDays(TODAY, 1)));
      return made;
    },
    oldest: addDays(TODAY, 1),
    async settle() {
      await does('PATCH', `clients/${client_id}`, { hourly_rate: 80 });
      await runRecurringInvoices(noonOf(addDays(TODAY, 2)));
    },
  },
  caught_up_invoices: {
    async cause() {
      await recurring({ create_as: 'Sent', schedule: { unit: 'week', start_on: addDays(TODAY, 1), count: 2 } });
      await runRecurringInvoices(noonOf(addDays(TODAY, 10)));
      const [kept, deleted] = await me.get('invoices');
      await does('DELETE', `invoices/${deleted.id}`);
      return kept;
    },
    amounts: EUR(100),
    settle: ({ id }) => does('PATCH', `invoices/${id}`, { status: 'Sent' }),
  },
};

describe.each(FOLLOW_UP_KINDS)('%s', (kind) => {
  const { day = 0, cause, amounts = [], oldest = TODAY, settle } = CASES[kind];

  test('when it is caused, then it is listed from its day on, and gone when its owner has done what ends it', async () => {
    const { id } = await cause();
    if (day > 0) expect(await onDay(day - 1, () => found(kind))).toBeUndefined();
    const listed = await onDay(day, async () => {
      const one = await found(kind);
      await settle({ id });
      return one;
    });

    const { resource, operations } = FOLLOW_UPS[kind];
    expect(listed).toEqual({ kind, count: 1, has_more: false, amounts, oldest, resource, ids: [id], operations });
    expect(await onDay(day, () => found(kind))).toBeUndefined();
  });

  test('when the table names a resource and operations, then the API has them', () => {
    const { resource, operations } = FOLLOW_UPS[kind];
    const names: string[] = routeTable.map(({ operation }) => operation);
    expect(operations.filter((name) => !names.includes(name))).toEqual([]);
    expect(routeTable.map(({ path }) => path)).toContain(`/api/v1/${resource}/{id}`);
  });
});

const kinds = async (key?: string) => (await report(key)).follow_ups.map(({ kind }: AnyRecord) => kind);

describe('time', () => {
  test('when all unbilled time is old, then it is worth what the overview of unbilled work says', async () => {
    const rounding = { minutes: 15, mode: 'up', scope: 'day' };
    const other = (await me.post('projects', { name: 'Mill', client_id, hourly_rate: 77.7, rounding })).id;
    const dollars = { name: 'Grace', email: 'grace@example.com', currency: 'USD', hourly_rate: 50, rounding };
    const abroad = (await me.post('clients', dollars)).id;
    const far = (await me.post('projects', { name: 'Far', client_id: abroad })).id;
    for (const hours of ['0:05', '0:05', 0.67, 1.1]) await log({ hours, project_id: other });
    for (const hours of [0.67, 1]) await log({ hours, project_id: far });
    await log();

    const [listed, rows] = await onDay(31, async () => [await found('unbilled_time'), await me.get('unbilled')]);
    const worth = (currency: string) =>
      rows
        .filter((row: AnyRecord) => row.currency === currency)
        .reduce((sum: number, row: AnyRecord) => sum + row.amount, 0);
    expect(listed).toMatchObject({ count: 7 });
    expect(listed.amounts).toEqual(['EUR', 'USD'].map((currency) => ({ currency, amount: worth(currency) })));
  });

  test('when time is not to be billed by the hour, then it is not listed', async () => {
    await log({ billable: false });
    const { id } = await log();
    await does('POST', 'time-entries/billing', { time_entry_ids: [id], status: 'billed_elsewhere' });
    for (const billing of ['fixed', 'none']) {
      const price = billing === 'fixed' ? { fixed_amount: 100, currency: 'EUR' } : {};
      await log({ project_id: (await me.post('projects', { name: billing, client_id, billing, ...price })).id });
    }
    expect(await onDay(31, () => kinds())).toEqual([]);
  });

  test('when there is more than is counted, then it says so, and time that is never billed is not read', async () => {
    const many = (count: number, more: object) =>
      Array.from({ length: count }, () => ({ project_id, date: TODAY, hours: 1, ...more }));
    const batch = (time_entries: object[]) => does('POST', 'time-entries/batch', { time_entries });
    for (let rest = 1_000; rest > 0; rest -= 200) await batch(many(200, { billable: false }));
    await batch(many(3, {}));
    const read = async () => {
      const plans = await plansOf('time_entries', () => onDay(31, report));
      return Math.max(...plans.map(({ docsExamined }) => docsExamined));
    };
    expect(await read()).toBeLessThanOrEqual(6);

    for (let rest = 1_000; rest > 0; rest -= 200) await batch(many(200, { billable: true }));
    const listed = await onDay(31, () => found('unbilled_time'));
    expect(listed).toMatchObject({ count: 1_000, has_more: true, amounts: EUR(90_000) });
    expect(listed.ids).toHaveLength(100);
    expect(await read()).toBeLessThanOrEqual(1_010);
  });
});

describe('quotes', () => {
  test('when a deposit of a quote was invoiced, then the rest of it is left to bill', async () => {
    const { id } = await does('PATCH', `quotes/${(await quote()).id}`, { status: 'Accepted' });
    await me.post(`quotes/${id}/convert`, { part: 'deposit', percent: 30, status: 'Sent' });
    expect(await found('unbilled_quotes')).toMatchObject({ ids: [id], amounts: EUR(70) });
    await me.post(`quotes/${id}/convert`, { part: 'final' });
    expect(await found('unbilled_quotes')).toBeUndefined();
  });
});

describe('mail', () => {
  const unmailed = (days = 1) => onDay(days, () => found('unmailed_invoices'));

  test('when the account mails nothing, then no invoice of it counts as forgotten', async () => {
    await invoice();
    expect(await onDay(1, () => kinds())).toEqual([]);
    await mail(`quotes/${(await quote()).id}`);
    expect(await onDay(1, () => kinds())).toEqual([]);
  });

  test('when the account has mailed no invoice for long, then one without a mail is not listed any more', async () => {
    await mail(`invoices/${(await invoice()).id}`);
    await invoice();
    expect((await unmailed(90)).count).toBe(1);
    expect(await unmailed(92)).toBeUndefined();
  });

  test('when the only mail of an invoice fails, then the invoice is listed on the same day, and not while its mail is repeated', async () => {
    const { id } = await invoice();
    const first = await does('POST', `invoices/${id}/send`, {});
    expect(await unmailed()).toBeUndefined();
    await failWithoutRelay(me.id, first.id, 'giveUp');
    expect(await unmailed(0)).toMatchObject({ ids: [id] });
    const again = await does('POST', `messages/${first.id}/resend`, {});
    expect(await unmailed()).toBeUndefined();
    await sendWithoutRelay(me.id, again.id);
    expect(await unmailed()).toBeUndefined();
  });

  test.each([
    ['one of two recipients', ['ada@example.com', 'office@example.com'], undefined],
    ['the only recipient', ['ada@example.com'], 1],
  ])('when the mail of %s comes back, then the invoice is listed if it reached none', async (_who, to, count) => {
    await does('PATCH', 'account', { mail: { bcc: 'archive@example.com' } });
    const { id } = await invoice();
    const message = await does('POST', `invoices/${id}/send`, { to });
    await sendWithoutRelay(me.id, message.id);
    const { message_id } = message;
    await does('POST', 'messages/bounces', { message_id, recipient: 'ada@example.com', kind: 'hard' });
    expect((await unmailed())?.count).toBe(count);
  });

  test('when a reminder fails after the invoice was mailed, then the invoice has been mailed, but not been reminded of', async () => {
    const { id } = await invoice({ due_date: addDays(TODAY, 10) });
    await mail(`invoices/${id}`);
    await onDay(11, async () => {
      const reminder = await does('POST', `invoices/${id}/remind`, {});
      expect(await kinds()).toEqual([]);
      await failWithoutRelay(me.id, reminder.id, 'giveUp');
      expect(await kinds()).toEqual(['unreminded_invoices']);
    });
  });

  test('when two clients have an address that came back, then each is listed until it has another one', async () => {
    const { message_id } = await mail(`invoices/${(await invoice()).id}`);
    const other = (await me.post('clients', { name: 'Bob', email: 'ADA@example.com' })).id;
    await does('POST', 'messages/bounces', { message_id, recipient: 'ada@example.com', kind: 'hard' });
    const ids = async () => (await found('bounced_addresses'))?.['ids'].toSorted();
    expect(await ids()).toEqual([client_id, other].toSorted());
    await does('PATCH', `clients/${client_id}`, { email: 'countess@example.com' });
    expect(await ids()).toEqual([other]);
  });

  test('when an address that came back is freed, then its client is not listed any more', async () => {
    const { message_id } = await mail(`invoices/${(await invoice()).id}`);
    await does('POST', 'messages/bounces', { message_id, recipient: 'ada@example.com', kind: 'hard' });
    expect(await kinds()).toEqual(['unmailed_invoices', 'bounced_addresses']);
    await does('DELETE', 'suppressions/ada@example.com');
    expect(await kinds()).toEqual(['unmailed_invoices']);
  });
});

describe('reminders', () => {
  const overdue = () => onDay(11, () => found('unreminded_invoices'));

  test('when the first step is still to come, then the invoice is not listed; when it has passed without a mail, then it is', async () => {
    await does('PATCH', 'account', { reminders: [{ days: 7 }] });
    await invoice({ due_date: addDays(TODAY, 10) });
    expect(await onDay(17, () => found('unreminded_invoices'))).toBeUndefined();
    expect(await onDay(18, () => found('unreminded_invoices'))).toMatchObject({ count: 1 });
  });

  test('when reminders of it are off, paused or rest, then the invoice is not listed', async () => {
    const { id } = await invoice({ due_date: addDays(TODAY, 10) });
    for (const reminders of [{ mode: 'off' }, { mode: 'on', paused_until: addDays(TODAY, 12) }]) {
      await does('PATCH', `invoices/${id}`, { reminders });
      expect(await overdue()).toBeUndefined();
    }
    await does('PATCH', `invoices/${id}`, { reminders: null });
    await does('PATCH', `clients/${client_id}`, { reminders: { mode: 'off' } });
    expect(await overdue()).toBeUndefined();
    await does('PATCH', `clients/${client_id}`, { reminders: null });
    expect(await overdue()).toMatchObject({ count: 1 });
    await promise(me.id, id, addDays(TODAY, 20));
    expect(await overdue()).toBeUndefined();
  });

  test('when the client promises another day, or the promises are deleted, then none is broken', async () => {
    const { id } = await invoice();
    await promise(me.id, id, addDays(TODAY, 5));
    await emitExpirations(noonOf(addDays(TODAY, 6)));
    expect(await found('broken_promises')).toMatchObject({ ids: [id] });
    await promise(me.id, id, addDays(TODAY, 9));
    expect(await found('broken_promises')).toBeUndefined();
    await emitExpirations(noonOf(addDays(TODAY, 10)));
    expect(await found('broken_promises')).toMatchObject({ oldest: addDays(TODAY, 9) });
    await does('DELETE', `invoices/${id}/promises`);
    expect(await found('broken_promises')).toBeUndefined();
  });
});

describe('the report', () => {
  test('when nothing is forgotten, then it is empty, on the day of the account', async () => {
    await does('PATCH', 'account', { time_zone: 'Pacific/Kiritimati' });
    expect(await report()).toEqual({ as_of: dayIn('Pacific/Kiritimati'), follow_ups: [], left_out: [] });
  });

  test('when another account has forgotten something, then it is not in the report', async () => {
    await me.post('payments', { client_id, amount: 40 });
    const other = await openOwnAccount(gateway);
    expect(await kinds(other.key)).toEqual([]);
    expect(await kinds()).toEqual(['unallocated_payments']);
  });

  test('when the key may not read what a kind tells, then the kind is left out, with the scopes that are missing', async () => {
    await log();
    await does('POST', `recurring-invoices/${(await recurring()).id}/pause`);
    await ask(me.id, { type: 'invoice', id: (await invoice()).id, text: 'Why so many?' });
    const of = async (scopes: string[]) => {
      const { key } = await issueApiKey({ accountId: me.id, name: 'limited', scopes });
      return onDay(31, () => report(key));
    };
    const { follow_ups, left_out } = await of(['reports:read', 'invoices:write', 'time-entries:read']);
    expect(follow_ups.map(({ kind }: AnyRecord) => kind)).toEqual(['unbilled_time']);
    expect(left_out).toEqual(
      expect.arrayContaining([
        { kind: 'unmailed_invoices', missing_scopes: ['messages:read'] },
        { kind: 'unmailed_quotes', missing_scopes: ['quotes:read', 'messages:read'] },
        { kind: 'unanswered_questions', missing_scopes: ['messages:read'] },
        { kind: 'paused_recurring_invoices', missing_scopes: ['recurring-invoices:read'] },
      ]),
    );
    const everything = new Set([
      ...left_out.map(({ kind }: AnyRecord) => kind),
      ...['unbilled_time', 'time_without_rate'],
    ]);
    const ofInvoices = ['stale_invoice_drafts', 'broken_promises', 'caught_up_invoices'];
    expect([...everything, ...ofInvoices].toSorted()).toEqual(FOLLOW_UP_KINDS.toSorted());
    expect((await of(['*'])).left_out).toEqual([]);
  });

  test('when an account asks for it several times at once, then one is read after the other', async () => {
    const running = new Set<number>();
    let mostAtOnce = 0;
    const begin = ({ requestId, command }: { requestId: number; command: { readConcern?: { level?: string } } }) => {
      if (command.readConcern?.level === 'snapshot') running.add(requestId);
      mostAtOnce = Math.max(mostAtOnce, running.size);
    };
    const end = ({ requestId }: { requestId: number }) => void running.delete(requestId);
    const client = mongoose.connection.getClient().on('commandStarted', begin).on('commandSucceeded', end);

    await Promise.all(Array.from({ length: 4 }, () => report()));

    client.off('commandStarted', begin).off('commandSucceeded', end);
    expect(mostAtOnce).toBe(1);
  });

  test('when it is read, then every query of it walks an index and sorts nothing', async () => {
    await mail(`invoices/${(await invoice({ due_date: addDays(TODAY, 10) })).id}`);
    await does('PATCH', `quotes/${(await quote()).id}`, { status: 'Accepted' });
    const { id } = await invoice();
    await does('POST', `invoices/${id}/send`, {});
    await promise(me.id, id, addDays(TODAY, 5));
    await me.post('projects', { name: 'Barn', client_id, billing: 'none' });
    await log();
    await log({ billable: false });
    const plans: AnyRecord[] = [];
    for (const collection of COLLECTIONS) {
      const own = await plansOf(collection, () => onDay(31, report));
      expect([collection, own.length > 0]).toEqual([collection, true]);
      plans.push(...own.map((plan) => ({ collection, ...plan })));
    }
    expect(plans.filter(({ isByIndex, hasSortStage }) => !isByIndex || hasSortStage)).toEqual([]);
    expect(plans.filter(({ maxTimeMS, collection }) => !maxTimeMS && collection !== 'invoices')).toEqual([]);
  });
});

const COLLECTIONS = [
  ...['time_entries', 'projects', 'clients', 'quotes', 'invoices', 'messages', 'suppressions', 'promises', 'questions'],
  ...['payments', 'credit_notes', 'recurring_invoices'],
];

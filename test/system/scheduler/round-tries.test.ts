// A record that fails with an error of ours, or ends the process, is set aside at the third try: recorded, shown, and tried again a day later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { RecurringInvoice } from '#libs/models/billing/recurring-invoice.ts';
import { countSetAside, openTries, RoundTry, TRIES_MAX } from '#libs/models/operations/round-try.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { compiledCode } from '../../../deploy/local/service-env.ts';
import { examineSetAside } from '../../../services/admin/doctor-set-aside.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { emitExpirations, runRecurringInvoices } from '../../support/rounds.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
afterEach(() => RoundTry.collection.deleteMany({}));

const YEAR = Number(dayIn('UTC').slice(0, 4)) + 1;
const FIRST = `${YEAR}-01-31`;
const at = (day: string, minutes = 0) => new Date(Date.parse(`${day}T12:00:00Z`) + minutes * 60_000);

async function agency() {
  const account = await gateway.workspace.account({});
  const api = verbsOf(callerOf(gateway.url, account.key));
  const made = async (path: string, body: object) => (await api.post(`/api/v1/${path}`, body)).body.data;
  const client_id = (await made('clients', { name: 'Ada', email: 'ada@example.com' })).id;
  const fee = { line_items: [{ description: 'Support', quantity: 1, rate: 450 }] };
  const schedule = { unit: 'month', start_on: FIRST };
  return {
    id: account.id,
    api,
    recurring: async () => (await made('recurring-invoices', { client_id, ...fee, schedule })).id as string,
    invoice: async (due_date: string) =>
      (await made('invoices', { client_id, amount: 10, due_date, status: 'Sent' })).id as string,
    read: async (id: string) => (await api.get(`/api/v1/recurring-invoices/${id}`)).body.data,
    total: async () => (await api.get('/api/v1/invoices')).body.pagination.total as number,
    events: async (type: string) =>
      (await api.get('/api/v1/events?limit=100')).body.data.filter((event: { type: string }) => event.type === type),
  };
}

const problemOf = (round: Promise<unknown>) => round.then(() => '', String);

describe('an error of ours', () => {
  test('when a recurring invoice has it three times, then owner and operator see the same error id, and it is made once it is repaired', async () => {
    const me = await agency();
    const [broken, sound] = [await me.recurring(), await me.recurring()];
    const record = { _id: storedId(broken) as never };
    // No version of the API stores this value.
    await RecurringInvoice.collection.updateOne(record, { $set: { due_days: 'never' } });
    for (let round = 1; round < TRIES_MAX; round += 1) {
      expect(await problemOf(runRecurringInvoices(at(FIRST, round)))).toContain('1 recurring invoices could not');
      expect((await me.read(broken)).last_error).toBeNull();
    }
    await problemOf(runRecurringInvoices(at(FIRST, TRIES_MAX)));
    const { last_error, status, next_on } = await me.read(broken);
    expect([status, next_on, last_error.message]).toEqual([
      'Active',
      FIRST,
      expect.stringMatching(/^Internal server error [0-9a-f-]{36}$/),
    ]);
    expect(await me.events('recurring_invoice.failed')).toHaveLength(1);
    expect((await me.read(sound)).occurrences_made).toBe(1);
    const id = last_error.message.split(' ').at(-1);
    expect(await examineSetAside()).toMatchObject([
      { status: 'problem', found: expect.stringMatching(new RegExp(`${broken} of account ${me.id}, error ${id}: .+`)) },
    ]);
    expect(await countSetAside()).toBe(1);
    expect(await problemOf(runRecurringInvoices(at(FIRST, 60)))).toBe('');

    await RecurringInvoice.collection.updateOne(record, { $set: { due_days: 14 } });
    await runRecurringInvoices(at(addDays(FIRST, 2)));
    expect(await me.read(broken)).toMatchObject({ last_error: null, occurrences_made: 1 });
    expect(await examineSetAside()).toMatchObject([{ status: 'ok' }]);
  });

  test('when an expiry event has it, then it waits a day after the third time, and is written once it is repaired', async () => {
    const me = await agency();
    const id = await me.invoice(FIRST);
    const day = addDays(FIRST, 1);
    await Invoice.collection.updateOne({ _id: storedId(id) as never }, { $set: { created_at: 'never' } });
    for (let round = 1; round <= TRIES_MAX; round += 1)
      expect(await problemOf(emitExpirations(at(day, round)))).not.toBe('');
    expect(await problemOf(emitExpirations(at(day, 60)))).toBe('');
    expect(await countSetAside()).toBe(1);

    await Invoice.collection.updateOne({ _id: storedId(id) as never }, { $set: { created_at: new Date() } });
    expect(await emitExpirations(at(addDays(day, 2)))).toBe(1);
    expect(await countSetAside()).toBe(0);
  });
});

/** A scheduler that ends the moment it inserts the run of this recurring invoice, as one does that needs too much memory. */
async function dyingScheduler(id: string, now: Date): Promise<NodeJS.Signals | null> {
  const program = fileURLToPath(new URL('../../support/dying-scheduler.ts', import.meta.url));
  const { mongodbUri } = gateway.workspace;
  const child = spawn(process.execPath, [program, mongodbUri, id, now.toISOString()], {
    stdio: 'ignore',
    env: { ...process.env, ...compiledCode(process.env) },
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

test('when a recurring invoice ends the process three times, then all others are made, and the fourth records it as failed', async () => {
  const me = await agency();
  const deadly = await me.recurring();
  const others = [await me.recurring(), await me.recurring(), await me.recurring()];
  for (let round = 0; round < TRIES_MAX; round += 1) {
    expect(await dyingScheduler(deadly, at(FIRST, round))).toBe('SIGKILL');
  }
  // Another process could still be working on it.
  await runRecurringInvoices(at(FIRST, TRIES_MAX - 1));
  expect((await me.read(deadly)).last_error).toBeNull();
  for (const id of others) expect((await me.read(id)).occurrences_made).toBe(1);

  expect(await problemOf(runRecurringInvoices(at(FIRST, TRIES_MAX + 1)))).toContain('recurring invoices could not');
  expect(await me.read(deadly)).toMatchObject({
    status: 'Active',
    occurrences_made: 0,
    last_error: { message: expect.stringMatching(/^Internal server error /) },
  });
  expect(await me.total()).toBe(3);
  expect(await dyingScheduler(deadly, at(FIRST, 120))).toBeNull();
});

describe('a round that counts', () => {
  const record = () => ({ id: storedId(newId()), accountId: newId() });
  const fails = async () => {
    throw new Error('broken');
  };

  test('when work succeeds after two failures, then nothing of them is kept', async () => {
    const one = record();
    for (let round = 0; round < 2; round += 1) {
      expect(await (await openTries('expired quotes', at(FIRST))).run(one, fails)).toMatchObject({ isDone: false });
    }
    const tries = await openTries('expired quotes', at(FIRST));
    expect(tries.isSuspect(one.id)).toBe(true);
    expect(await tries.run(one, async () => undefined)).toEqual({ isDone: true });
    expect(await RoundTry.collection.countDocuments({}, { readConcern: 'local' })).toBe(0);
  });

  test('when eight processes begin a record at the same moment, then none is taken for dead', async () => {
    const one = record();
    let running = 0;
    // One that reads the tries after three others have begun waits for the next round.
    const processes = await Promise.all(Array.from({ length: 8 }, () => openTries('expired quotes', at(FIRST))));
    const outcomes = await Promise.all(
      processes.map((tries) =>
        tries.run(one, async () => {
          running += 1;
        }),
      ),
    );
    expect(running).toBe(8);
    expect(outcomes.every(({ isDone }) => isDone)).toBe(true);
    expect(await RoundTry.collection.countDocuments({}, { readConcern: 'local' })).toBe(0);
  });
});

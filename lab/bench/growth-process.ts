// An installation of so many accounts, in a process and a database of its own. The benchmark orders steps of its services, and it answers how long each took.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import mongoose from 'mongoose';
import { addDays, dayIn } from '#libs/day.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { newId, newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import { AT_ONCE, Event } from '#libs/models/webhooks/event.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { openDashboard } from '../../services/operations/dashboard.ts';
import { emitExpirations } from '../../services/scheduler/emit-expirations.ts';
import { planReminders } from '../../services/scheduler/plan-reminders.ts';
import { runRecurringInvoices } from '../../services/scheduler/run-recurring-invoices.ts';
import { openRelay } from '../../services/webhooks/relay-events.ts';
import { addOperator, browserOf, LIMITS, PASSWORD } from '../../test/support/dashboard/dashboard.ts';
import { openReadyQueues } from '../../test/support/queues.ts';
import { testLog } from '../../test/support/workspace.ts';
import { timed } from './billing-calls.ts';
import { EVENTS_EACH, type InstallationSize, type Step } from './growth-size.ts';
import { progress } from './progress.ts';

const INVOICES_EACH = 2;
/** Accounts whose records are of today, as many in an installation of any size. */
const RECENT = 100;
const ACCOUNTS_AT_ONCE = 200;
const DUE_EVENTS = 200;
const DUE_INVOICES = 20;
const HOUR_MS = 3_600_000;
const OLD_DAYS = 80;

/** Records of one account. Those of most accounts are days to months old. */
function recordsOf(id: StoredId, index: number) {
  const isRecent = index < RECENT;
  const at = (turn: number) =>
    new Date(
      Date.now() - (isRecent ? (1 + (turn % 20)) * HOUR_MS : (2 + ((index * 7 + turn) % OLD_DAYS)) * 24 * HOUR_MS),
    );
  const own = (turn: number) => ({ ...newRecord(String(id)), created_at: at(turn), updated_at: at(turn) });
  const account = {
    _id: id,
    name: `Agency ${index}`,
    mode: 'live',
    time_zone: 'UTC',
    hourly_rate: 90,
    created_at: new Date(),
  };
  const endpoint = { ...own(0), slot: 0, url: 'https://example.com/hook', events: ['*'], enabled: true, failures: 0 };
  const events = Array.from({ length: EVENTS_EACH }, (_, turn) => ({
    _id: storedId(newId()),
    account_id: id,
    type: 'client.created',
    sequence: turn + 1,
    body: JSON.stringify({
      type: 'client.created',
      data: { id: newId(), name: 'Ada Lovelace', text: 'x'.repeat(300) },
    }),
    created_at: at(turn),
    enqueue_count: 1,
  }));
  const deliveries = events.map(({ _id, type, created_at }) => ({
    ...own(0),
    _id: storedId(newId()),
    event_id: _id,
    endpoint_id: endpoint._id,
    event_type: type,
    status: 'delivered',
    attempts_made: 1,
    attempts: [{ at: created_at, duration_ms: 20, response_status: 204 }],
    revision: 1,
    deferrals: 0,
    created_at,
    updated_at: created_at,
    settled_at: created_at,
  }));
  const today = dayIn('UTC');
  const invoices = Array.from({ length: INVOICES_EACH }, (_, turn) => ({
    ...own(turn),
    number: turn + 1,
    number_text: `INV-${turn + 1}`,
    client_id: storedId(newId()),
    status: 'Sent',
    issue_date: isRecent ? today : addDays(today, -2 - (index % OLD_DAYS)),
    due_date: addDays(today, 20),
    expires_on: addDays(today, 20),
    reminder_due_at: new Date(Date.now() + 480 * HOUR_MS),
    currency: 'EUR',
    amount: 10_000,
    tax_rate: 0,
    tax_amount: 0,
    amount_paid: 0,
    line_items: [{ description: 'Drawings', qty: '1', rate: '100', discount: '0' }],
    parties: {
      issuer: { name: 'Agency', locale: 'en-US' },
      client: { id: newId(), name: 'Ada Lovelace', email: 'ada@example.com' },
    },
  }));
  const render = {
    _id: storedId(newId()),
    account_id: id,
    request_id: newId(),
    status: 'done',
    duration_ms: 40,
    created_at: at(1),
  };
  return { account, endpoint, events, deliveries, invoices, render };
}

/** Inserts the records of all accounts, some hundred accounts at a time. */
async function fillInstallation(accounts: number) {
  const insert = (name: string, records: readonly object[]) =>
    mongoose.connection.db?.collection(name).insertMany(records as never[], { ordered: false, writeConcern: { w: 1 } });
  const dueEvents: StoredId[] = [];
  const dueInvoices: StoredId[] = [];
  for (let first = 0; first < accounts; first += ACCOUNTS_AT_ONCE) {
    const count = Math.min(ACCOUNTS_AT_ONCE, accounts - first);
    progress(`growth: ${first.toLocaleString('en')} of ${accounts.toLocaleString('en')} accounts`);
    const all = Array.from({ length: count }, (_, index) => recordsOf(storedId(newId()), first + index));
    const collections = {
      accounts: all.map(({ account }) => account),
      counters: all.map(({ account: { _id } }) => ({ _id, event: EVENTS_EACH, stored_bytes: 20_000 })),
      webhook_endpoints: all.map(({ endpoint }) => endpoint),
      render_records: all.map(({ render }) => render),
      events: all.flatMap(({ events }) => events),
      deliveries: all.flatMap(({ deliveries }) => deliveries),
      invoices: all.flatMap(({ invoices }) => invoices),
    };
    for (const [name, records] of Object.entries(collections)) await insert(name, records);
    if (first > 0) continue;
    for (const { events } of all.slice(0, DUE_EVENTS / EVENTS_EACH)) dueEvents.push(...events.map(({ _id }) => _id));
    for (const { invoices } of all.slice(0, DUE_INVOICES)) dueInvoices.push(invoices[0]?._id as StoredId);
  }
  progress('growth: making indexes');
  await ensureIndexes();
  return { dueEvents, dueInvoices };
}

async function serve({ uri, redisUrl, prefix, accounts }: InstallationSize) {
  await connectMongo(uri, { log: testLog });
  const { dueEvents, dueInvoices } = await fillInstallation(accounts);
  const queues = await openReadyQueues({ redisUrl, redisPrefix: prefix });
  const dashboard = openDashboard({ limits: LIMITS, queues, log: testLog, trustProxy: 0, nudge: () => undefined });
  const server = createServer(dashboard.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = browserOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await addOperator({ name: 'ada', role: 'viewer' });
  await browser.post('/login', { name: 'ada', password: PASSWORD });
  let rounds = 0;

  async function take(step: Step): Promise<number> {
    rounds += 1;
    if (step === 'relay') {
      await Event.collection.updateMany({ _id: { $in: dueEvents } } as object, { $set: { due_at: AT_ONCE } });
      // The queues of one round are empty, as a worker leaves them.
      const own = await openReadyQueues({ redisUrl, redisPrefix: `${prefix}_${rounds}` });
      const took = await timed(() => openRelay(own).relay());
      await own.close();
      return took;
    }
    if (step === 'round') {
      const expires_on = addDays(dayIn('UTC'), -2);
      const due = { expires_on, due_date: expires_on, status: 'Sent' };
      await mongoose.connection.db
        ?.collection('invoices')
        .updateMany({ _id: { $in: dueInvoices } } as object, { $set: due });
      return timed(async () => {
        const count = await emitExpirations();
        if (count !== DUE_INVOICES) throw new Error(`${count} invoices were overdue`);
        await runRecurringInvoices();
        await planReminders();
      });
    }
    return timed(async () => {
      const { status, text } = await browser.get(step);
      if (status !== 200) throw new Error(`${step}: ${status} ${text.slice(0, 500)}`);
    });
  }

  process.on('message', (step: Step) => {
    void take(step).then(
      (took) => process.send?.(took),
      (error: Error) => process.send?.(error.stack ?? error.message),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}

await serve(JSON.parse(process.argv[2] as string));

// The billing core beside the bare driver: time to an invoice, payments, unbilled time, and the first page of long lists.
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { withDatabase } from '../../test/support/workspace.ts';
import { call, inTurn, timed } from './billing-calls.ts';
import { drawBareCreditNote } from './billing-credit-floor.ts';
import { type BillingAccount, countAll, fillBilling } from './billing-data.ts';
import { billEntries, bookBarePayment, dueInvoices, sumUnbilled } from './billing-floor.ts';
import { fillLists, lists, refusal } from './billing-lists.ts';
import { startGatewayProcess } from './gateway-process.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { recurringMorning, recurringRun } from './recurring-rows.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const ENTRIES_BILLED = 1_000;
/** Each takes one client's time. */
const INVOICES_TIMED = 15;
const PAYMENTS_WARMING = 100;
const PAYMENTS_TIMED = 300;
const CREDITS_WARMING = 50;
const CREDITS_TIMED = 200;
const UNBILLED_TIMED = 15;

/** Values of `--part`. */
export const parts = ['lists', 'unbilled', 'payments', 'credit-notes', 'from-time', 'recurring'] as const;

export async function* bench({ mongodbUri, redisUrl, isLarge, part }: BenchOptions): AsyncGenerator<Row[]> {
  const isWanted = (name: (typeof parts)[number]) => part === undefined || part === name;
  const name = `bench_billing_${process.pid}`;
  const uri = withDatabase(mongodbUri, name);
  const disconnect = await connectMongo(uri, { log: makeLogger('bench', 'silent') });
  let gateway: ServerProcess | undefined;
  try {
    const begunAt = performance.now();
    const many = isLarge ? 1_000_000 : 100_000;
    // Two in four clients' invoices are due: each payment pays one.
    const due = 4 * (PAYMENTS_WARMING + PAYMENTS_TIMED) * 2;
    const work = await fillBilling({ clients: 100, entriesEach: ENTRIES_BILLED, invoicesEach: due / 100, payments: 0 });
    const credited = await fillBilling({ clients: 2, entriesEach: 0, invoicesEach: 600, payments: 0 });
    const listed = isWanted('lists') ? await fillLists(many) : undefined;
    progress('billing: making indexes');
    await ensureIndexes();
    await countAll([work, credited, ...(listed ? [listed.small, listed.large] : [])]);
    progress(`billing: loaded in ${Math.round((performance.now() - begunAt) / 1_000)} s`);
    gateway = await startGatewayProcess({ uri, redisUrl, prefix: name });
    if (listed) yield await lists(gateway, listed);
    if (listed) yield await refusal(gateway, listed);
    if (isWanted('unbilled')) yield [await unbilled(gateway, work)];
    if (isWanted('payments')) yield [await payments(gateway, work)];
    if (isWanted('credit-notes')) yield [await creditNotes(gateway, credited)];
    if (isWanted('from-time')) yield [await fromTime(gateway, work)];
    if (isWanted('recurring')) yield [await recurringRun(), await recurringMorning(gateway, uri)];
  } finally {
    await gateway?.stop();
    await mongoose.connection.dropDatabase();
    await disconnect();
  }
}

async function unbilled(gateway: ServerProcess, work: BillingAccount): Promise<Row> {
  progress('billing: GET /unbilled');
  const both = await inTurn(
    { warming: 3, count: UNBILLED_TIMED },
    { ours: () => call(gateway, work, 'unbilled?limit=100'), floor: () => timed(() => sumUnbilled(work)) },
  );
  return row('GET /unbilled, 100,000 entries', 'ms', ...both, ['≤', 2]);
}

async function payments(gateway: ServerProcess, work: BillingAccount): Promise<Row> {
  progress('billing: booking payments');
  const [ours, bare] = [work.clients.slice(0, 50), work.clients.slice(50)];
  // Ours finds the oldest of the client; the floor has its id.
  const invoices = new Map(
    await Promise.all(bare.map(async (one) => [one, await dueInvoices(work, one.id, 16)] as const)),
  );
  const one = <Item>(items: readonly Item[], round: number) => items[round % items.length] as Item;
  const [oursMs, floorMs] = await inTurn(
    { warming: PAYMENTS_WARMING, count: PAYMENTS_TIMED },
    {
      ours: (round) => call(gateway, work, 'payments', { client_id: String(one(ours, round).id), amount: 100 }),
      floor: (round) => {
        const client = one(bare, round);
        const invoice = invoices.get(client)?.[Math.floor(round / bare.length)];
        if (!invoice) throw new Error('too few invoices are due');
        return timed(() => bookBarePayment(work, client.id, invoice));
      },
    },
  );
  return row('book a payment, one caller', '/s', 1_000 / oursMs, 1_000 / floorMs, ['≥', 0.4]);
}

/** Each takes a whole invoice back that is due: of one client ours, of another one the floor. */
async function creditNotes(gateway: ServerProcess, account: BillingAccount): Promise<Row> {
  progress('billing: drawing credit notes');
  const count = CREDITS_WARMING + CREDITS_TIMED;
  const [ours, bare] = await Promise.all(account.clients.map(({ id }) => dueInvoices(account, id, count)));
  if (ours?.length !== count || bare?.length !== count) throw new Error('too few invoices are due');
  const [oursMs, floorMs] = await inTurn(
    { warming: CREDITS_WARMING, count: CREDITS_TIMED },
    {
      ours: (round) =>
        call(gateway, account, `invoices/${String(ours[round])}/credit-notes`, { reason: 'cancellation' }),
      floor: (round) => timed(() => drawBareCreditNote(account, bare[round] as (typeof bare)[number])),
    },
  );
  return row('draw a credit note, one caller', '/s', 1_000 / oursMs, 1_000 / floorMs, ['≥', 0.4]);
}

async function fromTime(gateway: ServerProcess, work: BillingAccount): Promise<Row> {
  progress('billing: invoices from time');
  const one = (at: number) => work.clients[at] as BillingAccount['clients'][number];
  const both = await inTurn(
    { warming: 3, count: INVOICES_TIMED },
    {
      ours: (round) => call(gateway, work, 'invoices/from-time', { client_id: String(one(2 * round).id) }),
      floor: (round) => timed(() => billEntries(work, one(2 * round + 1))),
    },
  );
  return row('invoice from 1,000 of 100,000 entries', 'ms', ...both, ['≤', 3]);
}

// The billing core beside the bare driver: time to an invoice, payments, unbilled time, and the first page of long lists.
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { withDatabase } from '../../test/support/workspace.ts';
import { type BillingAccount, countAll, fillBilling } from './billing-data.ts';
import { billEntries, bookBarePayment, dueInvoices, sumUnbilled } from './billing-floor.ts';
import { startGatewayProcess } from './gateway-process.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { median, type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const ENTRIES_BILLED = 1_000;
/** Each takes one client's time. */
const INVOICES_TIMED = 15;
const PAYMENTS_WARMING = 100;
const PAYMENTS_TIMED = 300;
const READS_WARMING = 10;
const READS_TIMED = 60;
const UNBILLED_TIMED = 15;

const LISTS = ['invoices', 'invoices?status=Sent', 'invoices?status=Overdue', 'time-entries', 'payments'] as const;

/** Of `--part`. */
export const parts = ['lists', 'unbilled', 'payments', 'from-time'] as const;

export async function* bench({ mongodbUri, redisUrl, isLarge, part }: BenchOptions): AsyncGenerator<Row[]> {
  const isWanted = (name: (typeof parts)[number]) => part === undefined || part === name;
  const name = `bench_billing_${process.pid}`;
  const uri = withDatabase(mongodbUri, name);
  const disconnect = await connectMongo(uri, { log: makeLogger('bench', 'silent') });
  let gateway: ServerProcess | undefined;
  try {
    const many = isLarge ? 1_000_000 : 100_000;
    // Two in four clients' invoices are due: each payment pays one.
    const due = 4 * (PAYMENTS_WARMING + PAYMENTS_TIMED) * 2;
    const work = await fillBilling({ clients: 100, entriesEach: ENTRIES_BILLED, invoicesEach: due / 100, payments: 0 });
    const listed = isWanted('lists') ? await fillLists(many) : undefined;
    progress('billing: making indexes');
    await ensureIndexes();
    await countAll([work, ...(listed ? [listed.small, listed.large] : [])]);
    gateway = await startGatewayProcess({ uri, redisUrl, prefix: name });
    if (listed) yield await lists(gateway, listed);
    if (isWanted('unbilled')) yield [await unbilled(gateway, work)];
    if (isWanted('payments')) yield [await payments(gateway, work)];
    if (isWanted('from-time')) yield [await fromTime(gateway, work)];
  } finally {
    await gateway?.stop();
    await mongoose.connection.dropDatabase();
    await disconnect();
  }
}

interface Listed {
  small: BillingAccount;
  large: BillingAccount;
  many: number;
}

async function fillLists(many: number): Promise<Listed> {
  const small = await fillBilling({ clients: 20, entriesEach: 50, invoicesEach: 50, payments: 1_000 });
  const each = many / 20;
  const large = await fillBilling({ clients: 20, entriesEach: each, invoicesEach: each, payments: many });
  return { small, large, many };
}

/** @returns how long it took, in milliseconds. @throws when the response is an error. */
async function call({ url }: ServerProcess, { key }: BillingAccount, path: string, body?: object): Promise<number> {
  const begun = performance.now();
  const response = await fetch(`${url}/api/v1/${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return performance.now() - begun;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** One of ours and one of the floor in turn, so that other work on the machine falls on both. @returns their medians. */
async function inTurn(
  { warming, count }: { warming: number; count: number },
  sides: { ours: (round: number) => Promise<number>; floor: (round: number) => Promise<number> },
): Promise<[number, number]> {
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < warming + count; round += 1) {
    const pair = [await sides.ours(round), await sides.floor(round)] as const;
    if (round < warming) continue;
    ours.push(pair[0]);
    floor.push(pair[1]);
  }
  return [median(ours), median(floor)];
}

/** The floor is the same list of an account of 1,000. */
async function lists(gateway: ServerProcess, { small, large, many }: Listed): Promise<Row[]> {
  const rows: Row[] = [];
  for (const list of LISTS) {
    progress(`billing: first page of ${list}`);
    const path = `${list}${list.includes('?') ? '&' : '?'}limit=50`;
    const both = await inTurn(
      { warming: READS_WARMING, count: READS_TIMED },
      { ours: () => call(gateway, large, path), floor: () => call(gateway, small, path) },
    );
    rows.push(row(`first page of ${many.toLocaleString('en')}, ${list}`, 'ms', ...both, ['≤', 3]));
  }
  return rows;
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
  return row('book a payment, one caller', '/s', 1_000 / oursMs, 1_000 / floorMs, ['≥', 0.5]);
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

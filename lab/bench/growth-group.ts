// Measures how costs grow. An account with a million records beside one with a thousand: any page of the lists, balance and unbilled work.
// An installation of a hundred thousand accounts beside one of a hundred: the relay, the scheduler and the operations dashboard.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { withDatabase } from '../../test/support/workspace.ts';
import { call, inTurn } from './billing-calls.ts';
import { type BillingAccount, countAll, fillBilling } from './billing-data.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { EVENTS_EACH, type InstallationSize, type Step } from './growth-size.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

/** Values of `--part`. */
export const parts = ['account', 'installation'] as const;

const WARMING = 5;
const TIMED = 40;
/** Clients with unbilled time, as many in an account of any size. */
const CLIENTS = 20;
const RECORDS_EACH = 50;
/** So small that a page in the middle of the shortest list, the clients, has one behind it. */
const PAGE = 5;
const SMALL = CLIENTS * RECORDS_EACH;
const LISTS = ['invoices', 'invoices?status=Overdue', 'time-entries', 'payments', 'clients'] as const;
const STEPS: readonly (readonly [Step, string])[] = [
  ['relay', 'a batch of the relay'],
  ['round', 'a round of the scheduler, 20 invoices overdue'],
  ...['/', '/deliveries', '/failures', '/endpoints', '/accounts', '/mail', '/renders', '/business', '/requests'].map(
    (path) => [path, `dashboard ${path}`] as const,
  ),
];
const SMALL_ACCOUNTS = 100;
const WITHIN: ['≤', number] = ['≤', 3];

export async function* bench(options: BenchOptions): AsyncGenerator<Row[]> {
  if (options.part !== 'installation') yield await growthOfAccount(options);
  if (options.part !== 'account') yield await growthOfInstallation(options);
}

/** The floor is the same request in the account of a thousand. */
async function growthOfAccount({ mongodbUri, redisUrl, isLarge }: BenchOptions): Promise<Row[]> {
  const name = `bench_growth_${process.pid}`;
  const uri = withDatabase(mongodbUri, name);
  const disconnect = await connectMongo(uri, { log: makeLogger('bench', 'silent') });
  let gateway: ServerProcess | undefined;
  try {
    const many = isLarge ? 1_000_000 : 100_000;
    const [small, large] = await Promise.all([accountOf(SMALL), accountOf(many)]);
    progress('growth: making indexes');
    await ensureIndexes();
    await countAll([small, large]);
    gateway = await startGatewayProcess({ uri, redisUrl, prefix: name });
    return await compareAccounts(gateway, { small, large, many });
  } finally {
    await gateway?.stop();
    await mongoose.connection.dropDatabase();
    await disconnect();
  }
}

const accountOf = (size: number) =>
  fillBilling({
    clients: size / RECORDS_EACH,
    entriesEach: RECORDS_EACH,
    invoicesEach: RECORDS_EACH,
    payments: size,
    unbilledClients: CLIENTS,
  });

async function compareAccounts(
  gateway: ServerProcess,
  { small, large, many }: { small: BillingAccount; large: BillingAccount; many: number },
): Promise<Row[]> {
  const rows: Row[] = [];
  const compare = async (what: string, pathOf: (account: BillingAccount) => string, bound?: ['≤', number]) => {
    progress(`growth: ${what}`);
    const both = await inTurn(
      { warming: WARMING, count: TIMED },
      { ours: () => call(gateway, large, pathOf(large)), floor: () => call(gateway, small, pathOf(small)) },
    );
    rows.push(row(`${what} of ${many.toLocaleString('en')}`, 'ms', ...both, bound));
  };
  for (const list of LISTS) {
    const path = `${list}${list.includes('?') ? '&' : '?'}limit=${PAGE}`;
    await compare(`${list}, first page and total`, () => path, WITHIN);
    const middles = new Map<BillingAccount, string>();
    for (const account of [small, large]) middles.set(account, await middleOf(gateway, account, path));
    await compare(`${list}, a page in the middle`, (account) => middles.get(account) as string, WITHIN);
  }
  const client = ({ clients }: BillingAccount) => String(clients[0]?.id);
  await compare('balance of a client', (account) => `clients/${client(account)}/balance`, WITHIN);
  await compare('unbilled work, first page', () => 'unbilled?limit=10', WITHIN);
  await compare('unbilled work, last page', () => `unbilled?limit=10&offset=${CLIENTS - 10}`, WITHIN);
  // MongoDB walks over what is skipped. Cursors are for such pages.
  const skipped = (account: BillingAccount) => (account === large ? many : SMALL) / 2;
  await compare('invoices, the same page by offset', (account) => `invoices?limit=${PAGE}&offset=${skipped(account)}`);
  return rows;
}

/** Walks to the middle of a list once. @returns the path of its next page by cursor. */
async function middleOf({ url }: ServerProcess, { key }: BillingAccount, path: string): Promise<string> {
  const read = async (offset: number) =>
    fetch(`${url}/api/v1/${path}&offset=${offset}`, { headers: { Authorization: `Bearer ${key}` } });
  const { pagination } = (await (await read(0)).json()) as { pagination: { total: number } };
  const response = await read(Math.floor(pagination.total / 2));
  const [, next] = /<\/api\/v1\/([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  if (!next) throw new Error(`${path} has no page after its middle: ${response.status} ${await response.text()}`);
  return next;
}

/** The floor is the same step in the installation of a hundred accounts. */
async function growthOfInstallation({ mongodbUri, redisUrl, isLarge }: BenchOptions): Promise<Row[]> {
  const accounts = isLarge ? 100_000 : 10_000;
  const installations: Installation[] = [];
  try {
    for (const size of [SMALL_ACCOUNTS, accounts]) {
      progress(`growth: an installation of ${size.toLocaleString('en')} accounts`);
      const prefix = `bench_growth_${process.pid}_${size}`;
      installations.push(
        await startInstallation({ uri: withDatabase(mongodbUri, prefix), redisUrl, prefix, accounts: size }),
      );
    }
    const [small, large] = installations as [Installation, Installation];
    const rows: Row[] = [];
    for (const [step, what] of STEPS) {
      progress(`growth: ${what}`);
      const both = await inTurn(
        { warming: WARMING, count: TIMED },
        { ours: () => large.take(step), floor: () => small.take(step) },
      );
      const size = `${accounts.toLocaleString('en')} accounts, ${(accounts * EVENTS_EACH).toLocaleString('en')} events`;
      rows.push(row(`${what}: ${size}`, 'ms', ...both, ['≤', 2]));
    }
    return rows;
  } finally {
    for (const installation of installations) await installation.close();
  }
}

interface Installation {
  /** @returns how long the step took, in milliseconds. */
  take(step: Step): Promise<number>;
  close(): Promise<void>;
}

async function startInstallation(size: InstallationSize): Promise<Installation> {
  const child = fork('lab/bench/growth-process.ts', [JSON.stringify(size)], { stdio: 'inherit' });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`an installation ended with ${code}`)));
  ended.catch(() => undefined); // It also ends when it is closed.
  const answer = async () => (await Promise.race([once(child, 'message'), ended]))[0] as unknown;
  const close = async () => {
    child.disconnect();
    await ended.catch(() => undefined);
    const disconnect = await connectMongo(size.uri, { log: makeLogger('bench', 'silent') });
    await mongoose.connection.dropDatabase();
    await disconnect();
  };
  await answer();
  return {
    async take(step) {
      const answered = answer();
      child.send(step);
      const took = await answered;
      if (typeof took !== 'number') throw new Error(`${step}: ${took}`);
      return took;
    },
    close,
  };
}

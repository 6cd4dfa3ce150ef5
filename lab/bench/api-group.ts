// The API beside a bare server that makes the same queries: reads, lists, creates, and what lists cost as accounts grow.
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { withDatabase } from '../../test/support/workspace.ts';
import { type BenchAccount, seedAccount, seedOriginals } from './api-data.ts';
import { compare, type Sides } from './compare.ts';
import { startFloorProcess } from './floor-process.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { burst, type Work } from './load.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const SECONDS = 3;
const ACCOUNTS = 16;

export async function* bench({ mongodbUri, redisUrl, isLarge }: BenchOptions): AsyncGenerator<Row[]> {
  const name = `bench_${process.pid}`;
  const uri = withDatabase(mongodbUri, name);
  const disconnect = await connectMongo(uri, { log: makeLogger('bench', 'silent') });
  const servers: ServerProcess[] = [];
  try {
    await ensureIndexes();
    progress('api: making records');
    const sides = await startSides(uri, redisUrl, name, servers);
    const small = await seedAccount(uri, 1_000);
    const many: BenchAccount[] = [];
    for (let count = 0; count < ACCOUNTS; count += 1) many.push(await seedAccount(uri, 0));
    yield await throughput(sides, small, many);
    yield await growth(sides, uri, small, isLarge);
  } finally {
    for (const server of servers) await server.stop();
    await mongoose.connection.dropDatabase();
    await disconnect();
  }
}

async function startSides(uri: string, redisUrl: string, prefix: string, started: ServerProcess[]): Promise<Sides> {
  const ours = await startGatewayProcess({ uri, redisUrl, prefix });
  started.push(ours);
  const floor = await startFloorProcess(uri);
  started.push(floor);
  return { ours, floor };
}

async function throughput(sides: Sides, small: BenchAccount, many: BenchAccount[]): Promise<Row[]> {
  const keys = [small.key];
  const invoices = '/api/v1/invoices';
  const reads: Work[] = [
    { name: 'read a client', method: 'GET', keys, paths: small.clientIds.map((id) => `/api/v1/clients/${id}`) },
    { name: 'read an invoice', method: 'GET', keys, paths: small.invoiceIds.map((id) => `${invoices}/${id}`) },
  ];
  const list: Work = { name: 'list 50 invoices', method: 'GET', keys, paths: [`${invoices}?limit=50`] };
  const create = (name: string, accounts: BenchAccount[]): Work => ({
    name,
    method: 'POST',
    keys: accounts.map(({ key }) => key),
    paths: [invoices],
    bodies: accounts.map(({ clientIds }) =>
      JSON.stringify({ client_id: clientIds[0], amount: 120.5, due_date: '2099-12-31', description: 'Drawings' }),
    ),
  });
  const rows: Row[] = [];
  for (const work of reads) rows.push(...(await compare(sides, work, 0.6)));
  rows.push(...(await compare(sides, list, 0.8)));
  await seedOriginals(small, small.invoiceIds);
  const paths = small.invoiceIds.map((id) => `${invoices}/${id}/pdf`);
  rows.push(...(await compare(sides, { name: 'read an original', method: 'GET', keys, paths }, 0.7)));
  rows.push(...(await compare(sides, create('create invoices, 16 accounts', many), 0.5)));
  rows.push(...(await compare(sides, create('create invoices, 1 account', many.slice(0, 1)), 0.5)));
  return rows;
}

/** In these rows the floor is the gateway itself on the small account: what counts is how the cost grows. */
async function growth({ ours }: Sides, uri: string, small: BenchAccount, isLarge: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const list = async (account: BenchAccount, offset = 0) => {
    const paths = [`/api/v1/invoices?limit=50&offset=${offset}`];
    const work: Work = { name: `list at ${offset}`, method: 'GET', keys: [account.key], paths };
    await burst(ours, work, { connections: 1, seconds: 1 });
    return 1_000 / (await burst(ours, work, { connections: 1, seconds: SECONDS })).perSecond;
  };
  const alone = await list(small);
  for (const size of isLarge ? [100_000, 1_000_000] : [100_000]) {
    progress(`api: making ${size} invoices of another account`);
    const large = await seedAccount(uri, size);
    progress(`api: lists beside and in an account of ${size}`);
    rows.push(row(`list of 1,000 beside an account of ${size}`, 'ms', await list(small), alone, ['≤', 3]));
    const first = await list(large);
    rows.push(row(`list of ${size}, first page`, 'ms', first, alone));
    rows.push(row(`list of ${size}, offset 10,000`, 'ms', await list(large, 10_000), first, ['≤', 3]));
  }
  return rows;
}

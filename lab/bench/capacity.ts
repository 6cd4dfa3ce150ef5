// Measures the cost of one operation for docs/scale.md: bytes, and processor time of every process that has a part in it.
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectFailFast, type Redis, whenReady } from '#libs/redis/connection.ts';
import { eventually } from '../../test/support/eventually.ts';
import { callerOf } from '../../test/support/gateway.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { spawnService } from '../../test/support/spawn-service.ts';
import { announceMany, register } from '../../test/support/webhooks.ts';
import { testLog, type Workspace } from '../../test/support/workspace.ts';
import { type BenchAccount, seedAccount } from './api-data.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { invoiceOf } from './pdf-floor.ts';
import { cpuMsOf } from './process-cpu.ts';
import { progress } from './progress.ts';
import { readMongodb, readRedis, storedBytes } from './store-process.ts';

const CALLERS = 8;
const ENDPOINTS = 3;
const EVENTS = 500;
const UNLIMITED = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0', NODE_ENV: 'production' };

export interface Cost {
  operation: string;
  /** Milliseconds of processor time by process; a renderer's with its browser. */
  cpuMs: Record<'gateway' | 'renderer' | 'webhooks' | 'mongodb' | 'redis', number>;
  /** Bytes of the response's body. */
  answerBytes: number;
  /** Between the services and their stores, both ways. */
  storeBytes: number;
  /** Bytes of records and indexes, before compression. */
  storedBytes: number;
}

interface System {
  workspace: Workspace;
  redis: Redis;
  pids: { gateway: number; renderer: number; webhooks: number };
  gatewayUrl: string;
}

/** @returns a row per operation. */
export async function measureCosts(options: BenchOptions): Promise<Cost[]> {
  const workspace = await openBenchWorkspace(options);
  await ensureIndexes();
  const redis = connectFailFast(options.redisUrl, testLog);
  await whenReady(redis, 10_000);
  const gateway = await spawnService('gateway', workspace, UNLIMITED);
  const renderer = await spawnService('renderer', workspace, { NODE_ENV: 'production' });
  const webhooks = await spawnService('webhooks', workspace, { NODE_ENV: 'production' });
  const pids = { gateway: gateway.pid, renderer: renderer.pid, webhooks: webhooks.pid };
  try {
    const system = { workspace, redis, pids, gatewayUrl: gateway.url };
    return [...(await requests(system)), await deliveries(system)];
  } finally {
    await Promise.all([gateway.stop(), renderer.stop(), webhooks.stop()]);
    redis.disconnect();
    await workspace.close();
  }
}

async function requests(system: System): Promise<Cost[]> {
  const accounts: BenchAccount[] = [];
  for (let count = 0; count < CALLERS; count += 1) accounts.push(await seedAccount(system.workspace.mongodbUri, 100));
  const invoice = { amount: 120.5, due_date: '2099-12-31', description: 'Drawings' };
  const get = (path: (account: BenchAccount) => string) => (account: BenchAccount) =>
    callerOf(system.gatewayUrl, account.key)('GET', path(account));
  const post = (path: string, body: (account: BenchAccount) => object) => (account: BenchAccount) =>
    callerOf(system.gatewayUrl, account.key)('POST', path, { body: body(account) });
  const operations: [string, number, (account: BenchAccount) => Promise<{ status: number; headers: Headers }>][] = [
    ['read a client', 2_000, get(({ clientIds }) => `/api/v1/clients/${clientIds[0]}`)],
    ['list 50 invoices', 500, get(() => '/api/v1/invoices?limit=50')],
    ['create an invoice', 600, post('/api/v1/invoices', ({ clientIds }) => ({ ...invoice, client_id: clientIds[0] }))],
    ['PDF of one page', 150, post('/api/tools/generate-pdf', () => invoiceOf(8))],
    ['PDF of five pages', 40, post('/api/tools/generate-pdf', () => invoiceOf(150))],
  ];
  const costs: Cost[] = [];
  for (const [operation, count, call] of operations) {
    progress(`capacity: ${operation}`);
    let answerBytes = 0;
    const many = async (number: number) => {
      let begun = 0;
      const caller = async (account: BenchAccount) => {
        while (begun++ < number) {
          const { status, headers } = await call(account);
          if (status >= 300) throw new Error(`${operation} answered ${status}`);
          answerBytes = Number(headers.get('content-length'));
        }
      };
      await Promise.all(accounts.map(caller));
    };
    await many(Math.ceil(count / 5)); // Warming up.
    costs.push({ operation, ...(await costOf(system, count, () => many(count))), answerBytes });
  }
  return costs;
}

/** An event to several endpoints: the relay and the fan-out are in it. */
async function deliveries(system: System): Promise<Cost> {
  progress('capacity: deliveries');
  const receiver = await startReceiver();
  const { id } = await system.workspace.account();
  for (let count = 0; count < ENDPOINTS; count += 1) {
    await register(system.workspace, id, receiver.url.replace('/hook', `/hook-${count}`));
  }
  const deliver = async (events: number) => {
    const before = receiver.received.length;
    for (let done = 0; done < events; done += 50) await announceMany(id, 50);
    await eventually(() => receiver.received.length >= before + events * ENDPOINTS, 120_000);
  };
  await deliver(100);
  const cost = await costOf(system, EVENTS * ENDPOINTS, () => deliver(EVENTS));
  await receiver.close();
  return { operation: 'delivery of a webhook', ...cost, answerBytes: 0 };
}

async function costOf(system: System, count: number, work: () => Promise<void>): Promise<Omit<Cost, 'operation'>> {
  const before = await reading(system);
  await work();
  const after = await reading(system);
  const each = (pick: (one: typeof before) => number) => (pick(after) - pick(before)) / count;
  return {
    cpuMs: {
      gateway: each(({ gateway }) => gateway),
      renderer: each(({ renderer }) => renderer),
      webhooks: each(({ webhooks }) => webhooks),
      mongodb: each(({ mongodb }) => mongodb),
      redis: each(({ redis }) => redis),
    },
    answerBytes: 0,
    storeBytes: each(({ network }) => network),
    storedBytes: each(({ stored }) => stored),
  };
}

async function reading({ pids, redis }: System) {
  const [mongodb, ofRedis] = [await readMongodb(), await readRedis(redis)];
  return {
    gateway: cpuMsOf([pids.gateway]),
    renderer: cpuMsOf([pids.renderer]),
    webhooks: cpuMsOf([pids.webhooks]),
    mongodb: cpuMsOf([mongodb.pid]),
    redis: cpuMsOf([ofRedis.pid]),
    network: mongodb.networkBytes + ofRedis.networkBytes,
    stored: await storedBytes(),
  };
}

/** Prints the table of docs/scale.md, to be pasted there. */
export function printCosts(costs: readonly Cost[]): void {
  const head = [
    'One …',
    'gateway',
    'renderer',
    'webhooks',
    'MongoDB',
    'Redis',
    'CPU in all',
    'answer',
    'to and from stores',
    'stored',
  ];
  const rows = costs.map(({ operation, cpuMs, answerBytes, storeBytes, storedBytes: stored }) => {
    const all = Object.values(cpuMs);
    const sum = all.reduce((total, ms) => total + ms, 0);
    return [operation, ...all.map(milliseconds), milliseconds(sum), ...[answerBytes, storeBytes, stored].map(size)];
  });
  const lines = [head, head.map((_name, column) => (column === 0 ? '---' : '---:')), ...rows];
  process.stdout.write(`\nWhat one operation costs: milliseconds of processor time, and bytes\n\n`);
  for (const line of lines) process.stdout.write(`| ${line.join(' | ')} |\n`);
}

function milliseconds(ms: number): string {
  return ms < 0.005 ? '–' : `${Number(ms.toPrecision(2))} ms`;
}

function size(bytes: number): string {
  if (bytes < 1) return '–';
  return bytes < 1_000 ? `${Math.round(bytes)} B` : `${Number((bytes / 1_000).toPrecision(2))} kB`;
}

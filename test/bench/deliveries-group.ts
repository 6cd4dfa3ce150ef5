// Webhooks: how long from the request to the first attempt, and how many deliveries a second with bad endpoints beside good ones.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import type { Id } from '#libs/models/tenant.ts';
import { makeSecret } from '#libs/models/webhook-endpoint.ts';
import { whenReady } from '#libs/redis.ts';
import { eventually } from '../support/eventually.ts';
import { callerOf } from '../support/gateway.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { spawnService } from '../support/spawn-service.ts';
import { announceMany, register } from '../support/webhooks.ts';
import { testLog, type Workspace } from '../support/workspace.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const RATE_PER_SECOND = 50;
const SECONDS = 10;
/** Writes of one account wait for each other, which is not what is measured here. */
const ACCOUNTS = 10;
const EVENTS = 6_000;
/** The first calls find every process cold: what is sustained shows after them. */
const WARMING_SHARE = 1 / 3;
const HEALTHY = 6;

export async function bench(options: BenchOptions): Promise<Row[]> {
  const workspace = await openBenchWorkspace(options);
  try {
    await ensureIndexes();
    return [...(await latency(workspace)), ...(await throughput(workspace))];
  } finally {
    await workspace.close();
  }
}

async function latency(workspace: Workspace): Promise<Row[]> {
  progress('deliveries: from the request to the first attempt');
  const receiver = await startReceiver();
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => workspace.account()));
  for (const { id } of accounts) await register(workspace, id, receiver.url);
  const gateway = await spawnService('gateway', workspace, { RATE_LIMIT_REQUESTS: '10000000' });
  const service = await spawnService('webhooks', workspace);
  try {
    const calls = accounts.map(({ key }) => callerOf(gateway.url, key));
    const sentAt = new Map<string, number>();
    const create = async (name: string) => {
      const call = calls[sentAt.size % ACCOUNTS] as (typeof calls)[number];
      sentAt.set(name, Date.now());
      const body = { name, email: 'bench@example.com' };
      const { status } = await call('POST', '/api/v1/clients', { body });
      if (status !== 201) throw new Error(`POST client answered ${status}`);
    };
    for (let count = 0; count < 20; count += 1) await create(`warm-${count}`);
    await paced((count) => create(`bench-${count}`));
    await eventually(() => receiver.received.length >= sentAt.size);
    const waits = receiver.received
      .map(({ body, at }) => ({ name: String(JSON.parse(body).data.name), at }))
      .filter(({ name }) => name.startsWith('bench-'))
      .map(({ name, at }) => at - (sentAt.get(name) ?? Number.NaN));
    const bare = await bareRoundTrips(workspace);
    return [
      limited('POST client → first attempt, p50', quantile(waits, 0.5), quantile(bare, 0.5), 25),
      limited('POST client → first attempt, p99', quantile(waits, 0.99), quantile(bare, 0.99), 250),
    ];
  } finally {
    await Promise.all([gateway.stop(), service.stop(), receiver.close()]);
  }
}

/** The floor: a job into a queue and into a worker's hands, and nothing else. */
async function bareRoundTrips({ redisUrl, redisPrefix }: Workspace): Promise<number[]> {
  const echo: JobDefinition<{ at: number }> = {
    name: 'bench-echo',
    attempts: 1,
    backoffMs: 0,
    lockMs: 30_000,
    stalledMs: 30_000,
  };
  const connection = { redisUrl, prefix: redisPrefix, log: testLog };
  const queues = openQueues(connection);
  const waits: number[] = [];
  const worker = startWorker(
    echo,
    async ({ at }) => {
      waits.push(performance.now() - at);
    },
    { ...connection, concurrency: 10 },
  );
  await whenReady(queues.redis, 5_000);
  await paced((count) => queues.enqueue(echo, { id: `bench-${count}`, payload: { at: performance.now() } }));
  await eventually(() => waits.length >= RATE_PER_SECOND * SECONDS);
  await worker.close(1_000);
  await queues.close();
  return waits;
}

async function throughput(workspace: Workspace): Promise<Row[]> {
  progress('deliveries: a bare loop');
  const account = await workspace.account();
  const healthy: Receiver[] = [];
  for (let count = 0; count < HEALTHY; count += 1) healthy.push(await startReceiver());
  const failing = await startReceiver((_request, response) => answer(response, 500));
  const hanging = await startReceiver(() => undefined);
  const refusing = await startReceiver();
  await refusing.close();
  const bad = [failing.url, failing.url.replace('/hook', '/also'), hanging.url, refusing.url];
  for (const url of [...healthy.map((receiver) => receiver.url), ...bad]) await register(workspace, account.id, url);
  const floorBefore = await bareLoop(healthy);

  try {
    const ours = await sustained(workspace, account.id, healthy, 1);
    progress('deliveries: a bare loop again');
    const floor = (floorBefore + (await bareLoop(healthy))) / 2;
    const shared = await sustained(workspace, account.id, healthy, 2);
    return [
      row('deliveries to healthy endpoints', '/s', ours, floor, ['≥', 0.5]),
      row('deliveries by two processes beside one', '/s', shared, ours, ['≥', 0.75]),
    ];
  } finally {
    for (const receiver of [...healthy, failing, hanging]) await receiver.close();
  }
}

/** @returns deliveries a second to the healthy ones, of a backlog that so many processes share. */
async function sustained(workspace: Workspace, accountId: Id, healthy: Receiver[], processes: number): Promise<number> {
  progress(`deliveries: ${processes} of the service, four of ten endpoints are bad`);
  for (let done = 0; done < EVENTS; done += 50) await announceMany(accountId, 50);
  const services = await Promise.all(Array.from({ length: processes }, () => spawnService('webhooks', workspace)));
  try {
    const arrived = () => healthy.reduce((sum, { received }) => sum + received.length, 0);
    await eventually(() => arrived() >= HEALTHY * EVENTS, 300_000);
    return rateOf(healthy);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

/** @returns calls a second once everything is warm; the calls are forgotten. */
function rateOf(receivers: Receiver[]): number {
  const all = receivers.flatMap(({ received }) => received.map(({ at }) => at)).toSorted((a, b) => a - b);
  for (const { received } of receivers) received.length = 0;
  const times = all.slice(Math.floor(all.length * WARMING_SHARE));
  return times.length / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000);
}

async function bareLoop(healthy: Receiver[]): Promise<number> {
  const count = HEALTHY * EVENTS;
  const child = spawn(process.execPath, ['test/bench/deliveries-floor.ts'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      TARGETS: healthy.map(({ url }) => url).join(','),
      COUNT: String(count),
      CONCURRENCY: String(5 * HEALTHY),
      SECRET: makeSecret(),
      BODY: JSON.stringify({ type: 'client.created', data: { index: 1, filler: randomBytes(50).toString('hex') } }),
    },
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the bare loop ended with ${code}`);
  return rateOf(healthy);
}

/** Starts one task every 20 ms for ten seconds, whatever the others do. */
async function paced(task: (count: number) => Promise<unknown>): Promise<void> {
  const tasks: Promise<unknown>[] = [];
  for (let count = 0; count < RATE_PER_SECOND * SECONDS; count += 1) {
    tasks.push(task(count));
    await pause(1_000 / RATE_PER_SECOND);
  }
  await Promise.all(tasks);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** A row whose target is a limit of its own and not a ratio. */
function limited(name: string, oursMs: number, floorMs: number, limitMs: number): Row {
  return { ...row(name, 'ms', oursMs, floorMs), target: `≤ ${limitMs} ms`, pass: oursMs <= limitMs };
}

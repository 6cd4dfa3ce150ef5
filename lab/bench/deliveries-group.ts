// Webhooks: how long from the request to the first attempt, and how many deliveries a second with bad endpoints beside good ones.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { median } from 'es-toolkit/math/median';
import type { JobDefinition } from '#libs/jobs/catalog.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import type { Id } from '#libs/models/tenant.ts';
import { makeSecret } from '#libs/models/webhooks/endpoint-secrets.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { eventually } from '../../test/support/eventually.ts';
import { callerOf } from '../../test/support/gateway.ts';
import { answer, type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { type SpawnedService, spawnService } from '../../test/support/spawn-service.ts';
import { announceMany, register } from '../../test/support/webhooks.ts';
import { testLog, type Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const RATE_PER_SECOND = 50;
const SECONDS = 10;
/** Writes of one account wait for each other, which is not what is measured here. */
const ACCOUNTS = 10;
/** A shared machine is twice as fast one minute as the next: short rounds in turn, and the middle of each. The first only warms. */
const ROUNDS = 4;
const EVENTS = 2_000;
/** Share of a round that is not measured: its first calls are not the sustained rate. */
const WARMING_SHARE = 1 / 4;
const HEALTHY = 6;

export async function* bench(options: BenchOptions): AsyncGenerator<Row[]> {
  const workspace = await openBenchWorkspace(options);
  try {
    await ensureIndexes();
    yield await latency(workspace);
    yield await throughput(workspace);
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
  const account = await workspace.account();
  const healthy: Receiver[] = [];
  for (let count = 0; count < HEALTHY; count += 1) healthy.push(await startReceiver());
  const failing = await startReceiver((_request, response) => answer(response, 500));
  const hanging = await startReceiver(() => undefined);
  const refusing = await startReceiver();
  await refusing.close();
  const bad = [failing.url, failing.url.replace('/hook', '/also'), hanging.url, refusing.url];
  for (const url of [...healthy.map((receiver) => receiver.url), ...bad]) await register(workspace, account.id, url);

  const loop = openBareLoop(healthy);
  const services = [await spawnService('webhooks', workspace)];
  const alone = { ours: [] as number[], floor: [] as number[] };
  const shared: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      progress(`deliveries: a bare loop and the service in turn, round ${round + 1} of ${ROUNDS}`);
      alone.floor.push(await loop.round());
      alone.ours.push(await sustained(account.id, healthy, services));
    }
    services.push(await spawnService('webhooks', workspace));
    for (let round = 0; round < ROUNDS; round += 1) {
      progress(`deliveries: two of the service, round ${round + 1} of ${ROUNDS}`);
      shared.push(await sustained(account.id, healthy, services));
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    loop.close();
    for (const receiver of [...healthy, failing, hanging]) await receiver.close();
  }
  const rate = (rounds: readonly number[]) => median(rounds.slice(1));
  const ours = rate(alone.ours);
  return [
    row('deliveries to healthy endpoints', '/s', ours, rate(alone.floor)),
    row('deliveries by two processes beside one', '/s', rate(shared), ours),
  ];
}

/** @returns deliveries a second to the healthy ones, of a backlog; four of ten endpoints are bad. */
async function sustained(accountId: Id, healthy: Receiver[], services: readonly SpawnedService[]): Promise<number> {
  // A stopped service takes nothing from the backlog before it is complete.
  for (const { pid } of services) process.kill(pid, 'SIGSTOP');
  try {
    for (let done = 0; done < EVENTS; done += 50) await announceMany(accountId, 50);
  } finally {
    for (const { pid } of services) process.kill(pid, 'SIGCONT');
  }
  const arrived = () => healthy.reduce((sum, { received }) => sum + received.length, 0);
  await eventually(() => arrived() >= HEALTHY * EVENTS, 300_000);
  return rateOf(healthy);
}

/** @returns calls a second without the first ones; the calls are forgotten. */
function rateOf(receivers: Receiver[]): number {
  const all = receivers.flatMap(({ received }) => received.map(({ at }) => at)).toSorted((a, b) => a - b);
  for (const { received } of receivers) received.length = 0;
  const times = all.slice(Math.floor(all.length * WARMING_SHARE));
  return times.length / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000);
}

function openBareLoop(healthy: Receiver[]) {
  const child = fork('lab/bench/deliveries-floor.ts', {
    env: {
      PATH: process.env['PATH'],
      TARGETS: healthy.map(({ url }) => url).join(','),
      CONCURRENCY: String(5 * HEALTHY),
      SECRET: makeSecret(),
      BODY: JSON.stringify({ type: 'client.created', data: { index: 1, filler: randomBytes(50).toString('hex') } }),
    },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the bare loop ended with ${code}`);
  });
  ended.catch(() => undefined); // It also ends when it is closed.
  return {
    async round() {
      const made = once(child, 'message');
      child.send(HEALTHY * EVENTS);
      await Promise.race([made, ended]);
      return rateOf(healthy);
    },
    close: () => void child.kill(),
  };
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

// All services on a Redis Cluster of three primaries and their replicas. Every command that reaches it is collected, and the keys of each script
// and transaction must be in one hash slot. Then a primary is killed and slots move under load; "npm run failover" is the long form.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Command, type Redis } from 'ioredis';
import { catalog } from '#libs/jobs/catalog.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import type { Finding } from '../../../services/admin/check-result.ts';
import { type LoadUnderFaults, startLoadUnderFaults } from '../../support/redis/failover.ts';
import { type ClusterTopology, startCluster } from '../../support/redis/topologies.ts';
import { type Running, rejectedCommands, startServices, useEverything } from '../../support/redis/use-everything.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

/** A script, a transaction, or one command. */
interface Step {
  name: string;
  keys: string[];
}

const PRIMARIES = 3;

let workspace: Workspace;
let folder: string;
let cluster: ClusterTopology;
const monitors: Redis[] = [];
const running = {} as Running;
let load: LoadUnderFaults | undefined;
const steps: Step[] = [];

beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-redis-slots-'));
  const { command } = await findRedis({ env: { ...process.env, REDIS_URL: '' } });
  cluster = await startCluster({ command, folder, env: process.env, prefix: workspace.redisPrefix });
  for (const { orders } of cluster.servers.slice(0, PRIMARIES)) {
    const monitor = (await orders.monitor()) as Redis;
    monitor.on('monitor', collector(steps));
    monitors.push(monitor);
  }
  await startServices(workspace, cluster.urlOf, running);
}, 240_000);
afterAll(async () => {
  await load?.close();
  await Promise.all(Object.values(running).map((service) => service.stop()));
  for (const monitor of monitors) monitor.disconnect();
  await cluster?.close();
  await rm(folder, { recursive: true, force: true });
  await workspace.close();
}, 120_000);

test('when all services use a cluster, then everything works, no command is rejected, and no step touches two hash slots', async () => {
  await useEverything({ workspace, running, adminUrl: cluster.urlOf('admin') });

  const [server] = cluster.servers;
  if (!server) throw new Error('no server was started');
  for (const { orders } of cluster.servers) expect(await rejectedCommands(orders)).toEqual([]);
  // Some commands have no caller that hears of an error, so the servers are asked.
  for (const { orders } of cluster.servers) expect(await orders.info('errorstats')).not.toContain('CROSSSLOT');
  const keys = [...new Set(steps.flatMap((step) => step.keys))];
  const slots = await Promise.all(keys.map((key) => server.orders.cluster('KEYSLOT', key)));
  const slotOf = new Map(keys.map((key, index) => [key, Number(slots[index])]));
  const crossing = steps.filter((step) => new Set(step.keys.map((key) => slotOf.get(key))).size > 1);
  expect(crossing).toEqual([]);

  // The steps are those of the services: scripts of each queue that was used, replies, and transactions of limits.
  const { redisPrefix } = workspace;
  const slotsOfQueues = catalog.map(({ name }) => {
    const own = keys.filter((key) => key.startsWith(`${redisPrefix}:{${name}}:`));
    return [name, new Set(own.map((key) => slotOf.get(key))).size];
  });
  expect(slotsOfQueues).toEqual(catalog.map(({ name }) => [name, 1]));
  expect(new Set(catalog.map(({ name }) => slotOf.get(`${redisPrefix}:{${name}}:meta`))).size).toBe(catalog.length);
  const scripts = steps.filter(({ name, keys }) => /^eval/.test(name) && keys.length > 3);
  expect(scripts.length).toBeGreaterThan(20);
  for (const part of ['unsaved:render-document:', 'reply:', 'rate:requests:'])
    expect([part, keys.some((key) => key.startsWith(`${redisPrefix}:${part}`))]).toEqual([part, true]);
  expect(steps.filter(({ name, keys }) => name === 'multi' && keys.length > 1)).not.toEqual([]);
});

test('when the doctor examines a cluster, then it checks each server and finds a replica of each primary', async () => {
  const env = {
    MONGODB_URI: workspace.mongodbUri,
    REDIS_URL: cluster.urlOf('admin'),
    REDIS_PREFIX: workspace.redisPrefix,
  };

  const { stdout } = await runAdmin(['doctor', '--json'], env);

  const statusOf = new Map((JSON.parse(stdout) as Finding[]).map(({ check, status }) => [check, status]));
  for (const { port } of cluster.servers)
    for (const part of ['version', 'maxmemory-policy', 'append-only file', 'memory', 'clock'])
      expect([port, part, statusOf.get(`Redis 127.0.0.1:${port} ${part}`)]).toEqual([port, part, 'ok']);
  expect(statusOf.get('Redis replicas')).toBe('ok');
  for (const { name } of catalog) expect([name, statusOf.get(`Queue ${name}`)]).toEqual([name, 'ok']);
  expect(statusOf.get('Versions')).toBe('ok');
});

test('when a primary is killed and the slots of all queues move under load, then nothing acknowledged is lost', async () => {
  for (const monitor of monitors) monitor.disconnect();
  load = await startLoadUnderFaults(workspace, cluster, running);

  const outcomes = [await load.suffer('kill the primary'), await load.suffer('move the slots of all queues')];
  const { breaches } = await load.judge();

  expect(breaches).toEqual([]);
  process.stdout.write(`cluster: ${JSON.stringify(outcomes)}\n`);
}, 240_000);

/** Collects steps from what MONITOR reports: a script before its own commands, and a transaction's commands before EXEC. */
function collector(found: Step[]) {
  const transactions = new Map<string, Step>();
  let script: Step | undefined;
  return (_time: string, [name = '', ...args]: string[], source: string) => {
    const command = name.toLowerCase();
    const step = source === 'lua' ? script : transactions.get(source);
    const keys = new Command(command, args).getKeys().map(String);
    if (step) step.keys.push(...keys);
    if (command === 'exec') transactions.delete(source);
    if (source === 'lua' || command === 'exec') return;
    const own = step ?? { name: command, keys };
    if (!step) found.push(own);
    if (command === 'multi') transactions.set(source, own);
    script = own;
  };
}

// Scaled out: two gateways, two renderers and two webhook services over a replica set of three, which loses its primary under load.
import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { MongoMemoryReplSet } from 'mongodb-memory-server-core';
import mongoose from 'mongoose';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { eventually } from '../../support/eventually.ts';
import { type Load, sendRequest, startLoad } from '../../support/load.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { register } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const COUNTS = { gateway: 2, renderer: 2, webhooks: 2 } as const;
/** A browser takes a gigabyte at most; more pages in one would only wait for the processor here. */
const ENV = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0', RENDER_CONCURRENCY: '1' };
const MEMBERS = 3;
/** Only ends a hang. The standard of the library is 10 s, which a busy machine may take. */
const START_LIMIT_MS = 120_000;

// Absent when the one before it did not start.
let replicaSet: MongoMemoryReplSet | undefined;
let workspace: Workspace | undefined;
let receiver: Receiver | undefined;
let load: Load | undefined;
const agent = new Agent({ keepAlive: true });
const services: (SpawnedService & { name: string })[] = [];

beforeAll(async () => {
  const { command, version } = await findMongodb({ env: { ...process.env, MONGODB_URI: '' } });
  replicaSet = await MongoMemoryReplSet.create({
    binary: { systemBinary: command, version },
    instanceOpts: Array.from({ length: MEMBERS }, () => ({ launchTimeout: START_LIMIT_MS })),
    replSet: {
      storageEngine: 'wiredTiger',
      args: ['--wiredTigerCacheSizeGB', '0.25', '--setParameter', 'diagnosticDataCollectionEnabled=false'],
      configSettings: { electionTimeoutMillis: 5_000 },
    },
  });
  // One member is enough to find the others, and a URL holds one.
  process.env['TEST_MONGODB_URI'] =
    `mongodb://127.0.0.1:${replicaSet.servers[0]?.instanceInfo?.port}/?replicaSet=testset`;
  const opened = await openWorkspace();
  workspace = opened;
  receiver = await startReceiver();
  for (const [name, count] of Object.entries(COUNTS)) {
    for (let index = 0; index < count; index += 1) {
      services.push(Object.assign(await spawnService(name as keyof typeof COUNTS, opened, ENV), { name }));
    }
  }
}, 240_000);

afterAll(async () => {
  await load?.stop();
  agent.destroy();
  await Promise.all(services.map((service) => service.stop()));
  await receiver?.close();
  await workspace?.close();
  await replicaSet?.stop();
}, 120_000);

test('when the primary dies under load, then every acknowledged record is stored, every event is delivered, and the system recovers', async () => {
  if (!workspace || !receiver) throw new Error('nothing was started');
  const { received, url } = receiver;
  const account = await workspace.account();
  await register(workspace, account.id, url, ['client.created']);
  const urls = () => services.filter(({ name }) => name === 'gateway').map(({ url }) => url);
  const target = { agent, key: account.key, urls };
  load = startLoad(target);
  await load.answered(50);

  const killed = await killPrimary();
  const failedBefore = load.failures().length;
  await eventually(async () => (await primary()) !== killed && (await primary()) !== undefined);
  await load.recovered(50);
  const failedUntilRecovered = load.failures().length;
  await load.answered(50);
  const journal = await load.stop();

  process.stdout.write(
    `scale out: ${journal.sent} sent, ${journal.answered} answered, ${failedUntilRecovered - failedBefore} refused during the election ` +
      `(${journal.clientIds.length} clients, ${journal.documents} documents)\n`,
  );
  // Rejected with 503, never a wrong response, a hang or a broken connection.
  expect(journal.failures.filter((failure) => !/: 503 /.test(failure))).toEqual([]);
  expect([failedBefore, journal.failures.length]).toEqual([0, failedUntilRecovered]);
  expect(journal.answered).toBe(journal.sent);

  const stored = mongoose.connection.db?.collection('clients');
  const ids = new Set((await stored?.find({}, { projection: { _id: 1 } }).toArray())?.map(({ _id }) => String(_id)));
  expect(journal.clientIds.filter((id) => !ids.has(id))).toEqual([]);
  const delivered = () => new Set(received.map(({ body }) => JSON.parse(body).data.id));
  await eventually(() => delivered().size >= ids.size, 60_000);
  expect(delivered()).toEqual(ids);

  const busy = await Promise.all(services.map(async (service) => [service.name, await workOf(service)] as const));
  expect(busy.filter(([, work]) => work === 0)).toEqual([]);
  const reply = await sendRequest(target, { method: 'GET', path: '/api/v1/clients?limit=1' });
  expect([reply.status, reply.body.pagination.total]).toEqual([200, ids.size]);
}, 240_000);

/** @returns the port of the member that was killed. */
async function killPrimary(): Promise<number> {
  const port = await primary();
  const server = replicaSet?.servers.find(({ instanceInfo }) => instanceInfo?.port === port);
  const pid = server?.instanceInfo?.instance.mongodProcess?.pid;
  if (port === undefined || pid === undefined) throw new Error('there is no primary to kill');
  process.kill(pid, 'SIGKILL');
  return port;
}

async function primary(): Promise<number | undefined> {
  for (const { instanceInfo } of replicaSet?.servers ?? []) {
    const uri = `mongodb://127.0.0.1:${instanceInfo?.port}/?directConnection=true`;
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 500 });
    try {
      if ((await client.db('admin').command({ hello: 1 }))['isWritablePrimary']) return instanceInfo?.port;
    } catch {
      // The one that was killed.
    } finally {
      await client.close();
    }
  }
  return undefined;
}

/** How much a process has done, by a metric of its service. */
async function workOf({ name, healthUrl }: { name: string; healthUrl: string }): Promise<number> {
  const metric = {
    gateway: 'billhook_http_request_duration_seconds_count',
    renderer: 'billhook_render_seconds_count',
    webhooks: 'billhook_deliveries_total',
  }[name];
  const text = await (await fetch(`${healthUrl}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(metric ?? ''))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

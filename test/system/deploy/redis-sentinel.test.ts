// A primary of Redis with a replica behind three sentinels is killed under load. "npm run failover" is the long form.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findRedis } from '../../../deploy/backends/redis.ts';
import type { Finding } from '../../../services/admin/check-result.ts';
import {
  type LoadUnderFaults,
  type Services,
  startLoadServices,
  startLoadUnderFaults,
} from '../../support/redis/failover.ts';
import { startSentinels, type Topology } from '../../support/redis/topologies.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let folder: string;
let topology: Topology | undefined;
let load: LoadUnderFaults | undefined;
const services: Partial<Services> = {};

beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-redis-sentinel-'));
  const { command } = await findRedis({ env: { ...process.env, REDIS_URL: '' } });
  topology = await startSentinels({ command, folder, env: process.env, prefix: workspace.redisPrefix });
  await startLoadServices(workspace, topology, services);
  load = await startLoadUnderFaults(workspace, topology, services as Services);
}, 240_000);
afterAll(async () => {
  await load?.close();
  await Promise.all(Object.values(services).map((service) => service.stop()));
  await topology?.close();
  await rm(folder, { recursive: true, force: true });
  await workspace.close();
}, 120_000);

test('when the primary is killed, then services use the new one, nothing acknowledged is lost, and the doctor knows its replica', async () => {
  const outcome = await load?.suffer('kill the primary');
  const { breaches } = (await load?.judge()) ?? {};

  expect(breaches).toEqual([]);
  process.stdout.write(`sentinel: ${JSON.stringify(outcome)}\n`);
  const { stdout } = await runAdmin(['doctor', '--json'], {
    MONGODB_URI: workspace.mongodbUri,
    REDIS_URL: topology?.urlOf('admin') ?? '',
    REDIS_PREFIX: workspace.redisPrefix,
  });
  const findings = JSON.parse(stdout) as Finding[];
  expect(findings.find(({ check }) => check === 'Redis replicas')?.status).toBe('ok');
  expect(findings.find(({ check }) => check === 'Versions')?.status).toBe('ok');
}, 240_000);

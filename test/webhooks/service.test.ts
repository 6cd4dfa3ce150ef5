// The webhook service as its operator meets it: what it tells of itself, and how it ends, also while Redis is away.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { findRedis } from '../../deploy/local/redis.ts';
import { type RunningRedis, startRedis } from '../../deploy/local/start-redis.ts';
import { eventually } from '../support/eventually.ts';
import { type SpawnedService, spawnService } from '../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let folder: string;
let redis: RunningRedis;
let service: SpawnedService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-shutdown-'));
  // One of its own: it is stopped.
  const { command } = await findRedis({ env: process.env });
  redis = await startRedis({ command, folder, env: process.env });
  workspace = { ...(await openWorkspace()), redisUrl: redis.url };
  // As long as can be set: a service that waits for attempts it does not make waits longer than this test.
  service = await spawnService('webhooks', workspace, { WEBHOOK_TIMEOUT_MS: '30000' });
}, 60_000);
afterEach(async () => {
  service.kill('SIGKILL');
  await redis.stop();
  await workspace.close();
  await rm(folder, { recursive: true, force: true });
});

test('when its metrics are read, then queues and outbox are among them, so that they are known while no gateway answers', async () => {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();

  for (const gauge of ['ready', 'active', 'oldest_age_seconds']) {
    expect(text).toMatch(new RegExp(`^bullmq_jobs_${gauge}\\{queue="deliver-webhook"\\} 0$`, 'm'));
  }
  expect(text).toMatch(/^billhook_outbox_lag_seconds 0$/m);
}, 60_000);

test('when Redis is away and nothing is in hand, then the service does not wait to end', async () => {
  await redis.stop();
  await eventually(async () => !(await fetch(`${service.operationsUrl}/readyz`)).ok);
  service.kill('SIGTERM');

  // The test's own limit is shorter than an attempt may take.
  expect(await service.exited).toBe(0);
  expect(service.output()).toContain('"msg":"stopped"');
}, 28_000);

test('when it ends in order, then it does not report its own goodbye as an outage', async () => {
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toContain('is away');
}, 60_000);

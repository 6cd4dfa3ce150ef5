// The webhook service as its operator sees it: its metrics, and how it stops, also while Redis is unavailable.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Delivery } from '#libs/models/webhooks/delivery.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, startReceiver } from '../../support/receiver.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { announce, register } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let folder: string;
let redis: RunningRedis;
let service: SpawnedService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-shutdown-'));
  // A Redis of its own: the test stops it.
  const { command } = await findRedis({ env: process.env });
  redis = await startRedis({ command, folder, env: process.env });
  workspace = { ...(await openWorkspace()), redisUrl: redis.url };
  // The longest timeout: a service that waited for attempts it does not make would outlast this test.
  service = await spawnService('webhooks', workspace, { WEBHOOK_TIMEOUT_MS: '30000' });
});
afterEach(async () => {
  service.kill('SIGKILL');
  await redis.stop();
  await workspace.close();
  await rm(folder, { recursive: true, force: true });
});

test('when its metrics are read, then queues and outbox are among them, so that they are known while no gateway responds', async () => {
  const text = await (await fetch(`${service.healthUrl}/metrics`)).text();

  for (const gauge of ['jobs_ready', 'jobs_active', 'oldest_job_age_seconds']) {
    expect(text).toMatch(new RegExp(`^billhook_queue_${gauge}\\{queue="deliver-webhook"\\} 0$`, 'm'));
  }
  expect(text).toMatch(/^billhook_outbox_lag_seconds 0$/m);
});

test('when Redis is unavailable and no attempt is in flight, then the service stops without waiting', async () => {
  await redis.stop();
  await eventually(async () => !(await fetch(`${service.healthUrl}/readyz`)).ok);
  service.kill('SIGTERM');

  // The limit of this test is shorter than an attempt may take.
  expect(await service.exited).toBe(0);
  expect(service.output()).toContain('"msg":"stopped"');
}, 28_000);

test('when it is asked to stop while an attempt is in flight, then it begins no other, and the next process continues', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const slow = await startReceiver((_request, response) => void released.then(() => answer(response, 204)));
  const quick = await startReceiver();
  try {
    const [busy, late] = [await workspace.account(), await workspace.account()];
    await register(workspace, busy.id, slow.url);
    await register(workspace, late.id, quick.url);
    await announce(busy.id, 'client.created', {});
    await eventually(() => slow.received.length === 1);
    service.kill('SIGTERM');
    await eventually(() => service.output().includes('"msg":"stopping"'));
    await announce(late.id, 'client.created', {});
    // Long enough for a relay or a worker that had not stopped.
    await pause(2_000);
    release();

    expect(await service.exited).toBe(0);
    expect(quick.received).toEqual([]);
    expect(await Delivery.countDocuments({ account_id: late.id })).toBe(0);
    service = await spawnService('webhooks', workspace);
    await eventually(() => quick.received.length === 1);
    expect(slow.received).toHaveLength(1);
  } finally {
    await Promise.all([slow.close(), quick.close()]);
  }
});

test('when it stops cleanly, then it does not log its own disconnecting as an outage', async () => {
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toContain('unavailable');
});

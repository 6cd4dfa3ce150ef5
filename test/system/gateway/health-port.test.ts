// The health port of the gateway as a real process: readiness and metrics.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let gateway: SpawnedService;
beforeAll(async () => {
  workspace = await openWorkspace();
  gateway = await spawnService('gateway', workspace);
});
afterAll(async () => {
  await gateway.stop();
  await workspace.close();
});

describe('health', () => {
  test('when readiness is requested verbosely, then each dependency is listed with its time, Redis as not required', async () => {
    const response = await fetch(`${gateway.healthUrl}/readyz?verbose`);

    expect(response.status).toBe(200);
    const tookMs = expect.any(Number);
    expect(await response.json()).toMatchObject({
      service: 'gateway',
      status: 'ready',
      checks: { mongodb: { status: 'ok', required: true, tookMs }, redis: { status: 'ok', required: false, tookMs } },
    });
  });

  test('when readiness is requested without details, then each required dependency has one word', async () => {
    const response = await fetch(`${gateway.healthUrl}/readyz`);

    expect(await response.json()).toEqual({ service: 'gateway', status: 'ready', checks: { mongodb: 'ok' } });
  });
});

test('when metrics are read, then queues, outbox and the process are in them', async () => {
  const text = await (await fetch(`${gateway.healthUrl}/metrics`)).text();

  expect(text).toMatch(/^billhook_queue_jobs_ready\{queue="render-document"\} 0$/m);
  expect(text).toMatch(/^billhook_queue_oldest_job_age_seconds\{queue="deliver-webhook"\} 0$/m);
  expect(text).toMatch(/^billhook_queue_paused\{queue="fan-out-event"\} 0$/m);
  expect(text).toMatch(/^billhook_outbox_lag_seconds 0$/m);
  expect(text).toMatch(/^billhook_document_batches_unfinished 0$/m);
  expect(text).toMatch(/^billhook_document_batches_lag_seconds 0$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('when the dashboard is requested, then neither port of the gateway serves it', async () => {
  for (const url of [gateway.url, gateway.healthUrl]) expect((await fetch(`${url}/login`)).status).toBe(404);
});

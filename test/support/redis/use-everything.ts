// One use of everything that needs Redis, by all services as their own Redis users.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { insertOperator } from '#libs/models/operations/operator.ts';
import type { Server } from '#libs/redis/connection.ts';
import { browserOf, PASSWORD } from '../dashboard/dashboard.ts';
import { eventually } from '../eventually.ts';
import { callerOf } from '../gateway.ts';
import { pdfOf } from '../pdf-body.ts';
import { pathOf } from '../portal.ts';
import { startReceiver } from '../receiver.ts';
import { startPictureHost } from '../renderer/picture-host.ts';
import { runAdmin } from '../run-admin.ts';
import { type ServiceName, type SpawnedService, spawnService } from '../spawn-service.ts';
import type { Workspace } from '../workspace.ts';
import { LOAD_ENV } from './failover.ts';

/** Longer than the time for which the portal knows that a logo did not load. */
const LOGO_LIMIT_MS = 90_000;
const LOGO_ASK_MS = 5_000;

export const SERVICES = ['gateway', 'renderer', 'webhooks', 'scheduler', 'operations', 'portal', 'mail'] as const;
export type Running = Record<ServiceName, SpawnedService>;

/** Starts every service. @param running takes each service that runs, also when another one does not start. */
export async function startServices(
  workspace: Workspace,
  addressOf: (name: ServiceName) => string,
  running: Partial<Running>,
): Promise<void> {
  const start = async (name: ServiceName) => {
    const env = name === 'gateway' || name === 'webhooks' ? LOAD_ENV : {};
    const links = { PORTAL_URL: 'http://portal.example' };
    running[name] = await spawnService(name, { ...workspace, redisUrl: addressOf(name) }, { ...links, ...env });
  };
  await Promise.all(SERVICES.map(start));
}

interface System {
  workspace: Workspace;
  running: Running;
  adminUrl: string;
}

/** Documents, a batch, the logo of a page, deliveries with a retry, the dashboard, commands of the operator and metrics. */
export async function useEverything({ workspace, running, adminUrl }: System): Promise<void> {
  const account = await workspace.account();
  const call = callerOf(running.gateway.url, account.key);
  const receiver = await startReceiver();
  const logos = await startPictureHost();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><circle r="5"/></svg>';
  logos.answer = (_request, response) => response.end(svg);
  try {
    await call('PATCH', '/api/v1/account', { body: { logo_url: logos.address() } });
    await call('POST', '/api/v1/webhooks', { body: { url: receiver.url, events: ['client.created'] } });
    receiver.answerWith(500);
    const client = (await call('POST', '/api/v1/clients', { body: { name: 'Ada', email: 'ada@example.com' } })).body
      .data;
    const body = {
      client_id: client.id,
      due_date: '2099-12-31',
      line_items: [{ description: 'Work', quantity: 1, rate: 10 }],
    };
    const invoice = (await call('POST', '/api/v1/invoices', { body })).body.data;
    const batch = await call('POST', '/api/v1/documents', {
      body: { documents: [{ type: 'invoice', id: invoice.id }] },
    });
    expect(batch.status).toBe(202);
    const link = await call('POST', `/api/v1/clients/${client.id}/links`, { body: {} });
    const logo = await loadedLogo(`${running.portal.url}${pathOf(link.body.data.url)}/logo`);
    expect(logo.headers.get('content-type')).toBe('image/png');
    expect((await call('POST', '/api/tools/generate-pdf', { body: pdfOf('Invoice') })).status).toBe(200);
    await eventually(async () => {
      const { data } = (await call('GET', `/api/v1/documents/${batch.body.data.id}`)).body;
      return data.completed_at !== null;
    }, 60_000);
    // The first attempt failed: the second came from the queue of retries.
    await eventually(() => receiver.received.length >= 2, 60_000);
  } finally {
    logos.close();
    await receiver.close();
  }

  await insertOperator({ name: 'ada', role: 'operator', password: PASSWORD });
  const browser = browserOf(running.operations.url);
  expect((await browser.post('/login', { name: 'ada', password: PASSWORD })).status).toBe(303);
  for (const path of ['/', '/failures', '/deliveries', '/renders', '/queues/render-document', '/queues/fan-out-event'])
    expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  expect((await browser.get('/')).text).not.toContain('This cannot be read now');
  for (const action of ['pause', 'resume', 'retry'])
    expect([action, (await browser.post(`/queues/deliver-webhook/${action}`)).status]).toEqual([action, 303]);
  const env = { MONGODB_URI: workspace.mongodbUri, REDIS_URL: adminUrl, REDIS_PREFIX: workspace.redisPrefix };
  const listed = await runAdmin(['queues', 'list'], env);
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  const metricsOf = async (name: ServiceName) => (await fetch(`${running[name].healthUrl}/metrics`)).text();
  for (const name of SERVICES) expect(await metricsOf(name)).toContain('process_cpu_seconds_total');
  expect(await metricsOf('webhooks')).toMatch(/billhook_queue_jobs_ready\{queue="retry-webhook"\} \d/);
  expect(await metricsOf('mail')).toMatch(/billhook_queue_jobs_ready\{queue="send-mail"\} \d/);
  expect(await metricsOf('gateway')).toMatch(/billhook_queue_jobs_ready\{queue="render-document"\} \d/);
}

/**
 * Returns the answer with the logo of a page. A page waits seven seconds for its logo, which is not enough on a machine
 * that is busy with other suites, and asks again after a minute.
 */
async function loadedLogo(address: string): Promise<Response> {
  return eventually(async () => {
    const logo = await fetch(address);
    if (logo.status === 200) return logo;
    await pause(LOGO_ASK_MS);
    return false;
  }, LOGO_LIMIT_MS);
}

/** Returns what Redis rejected, from its own log. @param auditor a connection that may read it. */
export async function rejectedCommands(auditor: Pick<Server, 'call'>): Promise<string[]> {
  return ((await auditor.call('ACL', 'LOG', '100')) as unknown[][]).map((entry) => {
    const fields = Object.fromEntries(
      Array.from({ length: entry.length / 2 }, (_none, at) => [entry[at * 2], entry[at * 2 + 1]]),
    );
    return `${fields.username} ${fields.object} (${fields.reason})`;
  });
}

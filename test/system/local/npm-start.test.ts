// The first minute of a newcomer: start, paste the three lines, stop, and start again. All services are real.
import { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openRedis } from '#libs/redis/connection.ts';
import type { Facts } from '../../../deploy/local/banner.ts';
import { findMarked } from '../../../deploy/local/orphans.ts';
import type { Finding } from '../../../services/admin/check-result.ts';
import { eventually } from '../../support/eventually.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { REAL, type Start, start, whenReady } from './start-and-run.ts';

let folder: string;
let running: Start;
let facts: Facts;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-start-'));
  await startIt();
});
afterAll(async () => {
  await stopIt();
  await rm(folder, { recursive: true, force: true });
});

test('when the first line is pasted, then the response is a PDF', async () => {
  const response = await paste(/generate-pdf/);

  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(Buffer.from(await response.arrayBuffer()).toString('latin1')).toMatch(/^%PDF-[\s\S]*%%EOF\s*$/);
});

test('when the second line is pasted, then the third shows its event with a verified signature', async () => {
  const created = await paste(/\/api\/v1\/clients /);
  expect(created.status).toBe(201);
  const { data } = (await created.json()) as { data: { id: string } };

  const delivery = await eventually(() => deliveryOf(data.id));

  expect(delivery).toMatchObject({ verified: true, body: { type: 'client.created', data } });
});

test('when an invoice is sent, then the mailbox shows its mail with the PDF, and the invoice says that it was accepted', async () => {
  const post = async (path: string, body: object) => {
    const headers = { ...authorized(), 'Content-Type': 'application/json' };
    const response = await fetch(`${facts.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, data: ((await response.json()) as { data: { id: string } }).data };
  };
  const client = await post('/api/v1/clients', { name: 'Grace Hopper', email: 'grace@example.com' });
  const lines = [{ description: 'Design', quantity: 10, rate: 105 }];
  const wanted = { client_id: client.data.id, due_date: '2099-12-31', line_items: lines };
  const invoice = await post('/api/v1/invoices', wanted);
  const sent = await post(`/api/v1/invoices/${invoice.data.id}/send`, {});
  expect([client.status, invoice.status, sent.status]).toEqual([201, 201, 202]);

  const mail = await eventually(async () => {
    const mails = (await (await fetch(`${facts.mailboxUrl}mails.json`)).json()) as { id: string; to: string }[];
    return mails.find(({ to }) => to === 'grace@example.com');
  });

  const url = `${facts.mailboxUrl}mails/${mail.id}/`;
  expect(await (await fetch(`${url}html`)).text()).toMatch(/Grace Hopper[\s\S]*1,050\.00/);
  const pdf = Buffer.from(await (await fetch(`${url}attachments/0/`)).arrayBuffer());
  expect(pdf.toString('latin1')).toMatch(/^%PDF-[\s\S]*%%EOF\s*$/);
  const kept = await fetch(`${facts.url}/api/v1/messages/${sent.data.id}/source`, { headers: authorized() });
  expect(await kept.text()).toBe(await (await fetch(`${url}source`)).text());
  const shown = await eventually(async () => {
    const response = await fetch(`${facts.url}/api/v1/invoices/${invoice.data.id}`, { headers: authorized() });
    const { data } = (await response.json()) as { data: { delivery: { state: string } } };
    return data.delivery.state === 'accepted' && data;
  });
  expect(shown).toMatchObject({ status: 'Sent', delivery: { last_message_id: sent.data.id } });
});

test('when all this was done, then Redis has rejected no command of a service, each of which is a user of its own', async () => {
  const redis = openRedis(facts.redisUrl);
  await expect(redis.call('CONFIG', 'GET', 'dir')).rejects.toThrow(/NOPERM/);
  await redis.quit();
  const logs = join(folder, 'data', 'logs');
  for (const name of await readdir(logs)) expect(await readFile(join(logs, name), 'utf8')).not.toMatch(/NOPERM|NOAUTH/);
  expect(Object.keys(facts.healthUrls).sort()).toEqual([
    'gateway',
    'mail',
    'operations',
    'portal',
    'renderer',
    'scheduler',
    'webhooks',
  ]);
  for (const url of Object.values(facts.healthUrls))
    for (const path of ['/readyz', '/metrics']) expect((await fetch(`${url}${path}`)).status).toBe(200);
  const page = await fetch(`${facts.portalUrl}/p/unknown`);
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect((await fetch(facts.operationsUrl)).url).toBe(`${facts.operationsUrl}/login`);
});

test('when the doctor looks at it, then it finds all of it, and warns of nothing but a missing sandbox', async () => {
  const { stdout } = await runAdmin(['doctor', '--json', '--data', join(folder, 'data')], {});

  const findings = JSON.parse(stdout) as Finding[];
  const worrying = findings.filter(({ status, found }) => status !== 'ok' && !/without its sandbox/.test(found));
  expect(worrying).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      'MongoDB security',
      'Redis security',
      'Webhook secrets',
      'Service gateway',
      'Service renderer',
    ]),
  );
});

test('when it is stopped and started again, then key, clients and endpoint are the same', async () => {
  const before = (await (await paste(/\/api\/v1\/clients /)).json()) as { data: { id: string } };
  const { key } = facts;
  await stopIt();
  expect(await findMarked(await realpath(join(folder, 'data')))).toEqual([]);

  await startIt();

  expect(facts.key).toBe(key);
  const kept = await fetch(`${facts.url}/api/v1/clients/${before.data.id}`, { headers: authorized() });
  expect(kept.status).toBe(200);
  const { data: endpoints } = (await (
    await fetch(`${facts.url}/api/v1/webhooks`, { headers: authorized() })
  ).json()) as { data: { url: string }[] };
  expect(endpoints.map(({ url }) => url)).toEqual([`${facts.receiverUrl}/hook`]);
});

async function startIt() {
  running = start(REAL, ['--data', join(folder, 'data')], {});
  facts = await whenReady(running, join(folder, 'data'));
}

async function stopIt() {
  running.child.kill('SIGTERM');
  await running.exitCode;
}

function authorized() {
  return { Authorization: `Bearer ${facts.key}` };
}

// Does what a shell would do with a printed line; not every machine has curl.
async function paste(which: RegExp): Promise<Response> {
  const line =
    running
      .output()
      .split('\n')
      .find((text) => text.startsWith('curl ') && which.test(text)) ?? '';
  const [, url = ''] = /^curl -sS (\S+)/.exec(line) ?? [];
  const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name, value]) => [name, value] as [string, string],
  );
  const [, body] = /-d '([^']+)'/.exec(line) ?? [];
  return await fetch(url, { headers, ...(body ? { method: 'POST', body } : {}) });
}

async function deliveryOf(clientId: string) {
  const deliveries = (await (await paste(/\/deliveries$/)).json()) as { body: { data?: { id?: string } } }[];
  return deliveries.find(({ body }) => body.data?.id === clientId);
}

// Walks through every service of a running installation, from outside the cluster: `trial.sh FOLDER journey`. Its clients, the receiver of its
// webhooks and its SMTP server are at a public address, which the network policies open.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { simpleParser } from 'mailparser';
import { billhook } from '../../client/index.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';
import { startReceiver, verify } from '../../test/support/receiver.ts';
import { openSmtpRelay } from '../../test/support/smtp-relay.ts';

const HOST = '203.0.113.10';
const NODE = '203.0.113.1';
const LINK = /http:\/\/pay\.example\.com\/p\/[\w-]+/;
const WAIT_MS = 90_000;

const run = promisify(execFile);
const kubectl = async (...args: string[]) => (await run('kubectl', ['-n', 'billhook', ...args])).stdout;
const admin = (...args: string[]) => kubectl('exec', 'job/admin', '--', 'node', 'services/admin/main.ts', ...args);
const addressOf = async (service: string) =>
  `http://${await kubectl('get', 'service', service, '-o', 'jsonpath={.spec.clusterIP}')}`;

async function until<Value>(what: string, find: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await pause(100)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`waited ${WAIT_MS / 1_000} s for ${what}`);
}

const begun = performance.now();
function say(what: string, detail = '') {
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  process.stdout.write(`✓ ${seconds} s: ${what}${detail && `: ${detail}`}\n`);
}

const receiver = await startReceiver(undefined, HOST, 80);
const relay = await openSmtpRelay({}, HOST, 587);
const forward = spawn(
  'kubectl',
  ['-n', 'billhook', 'port-forward', '--address', NODE, 'deployment/operations', '8090'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  const [gateway, portal] = await Promise.all([addressOf('gateway'), addressOf('portal')]);
  const { id } = JSON.parse(await admin('accounts', 'create', '--name', 'Studio North', '--json'));
  const { key } = JSON.parse(await admin('keys', 'create', '--account', id, '--json'));
  const api = billhook({ url: gateway, key, retries: 0 });
  say('an account and a key', id);

  const pdf = await api.generatePdf({ body: { ...pdfOf('Invoice'), notes: 'Grüße · 謝謝 · شكرا · תודה' } });
  say('gateway and renderer: a document', `${pdf.size} bytes`);

  await api.updateAccount({ body: { company: 'Studio North', currency: 'EUR', receipts: true } });
  const { secret } = (
    await api.createWebhook({
      body: { url: receiver.url, events: ['client.created', 'invoice.paid', 'invoice.created'] },
    })
  ).data;
  const { data: client } = await api.addClient({ body: { name: 'Ada Lovelace', email: 'ada@example.com' } });
  const call = await until('a webhook', () => receiver.received[0]);
  assert.ok(secret);
  assert.equal(verify(secret, call).type, 'client.created');
  say('webhooks: a delivery, its signature verified', call.id);

  const today = new Date().toISOString().slice(0, 10);
  const { data: invoice } = await api.createInvoice({
    body: {
      client_id: client.id,
      line_items: [{ description: 'Support', quantity: 1, rate: 450 }],
      due_date: today,
      currency: 'EUR',
    },
  });
  await api.sendInvoice({ path: { id: invoice.id } });
  const mail = await until('a mail', async () => relay.taken[0] && simpleParser(relay.taken[0].source));
  assert.equal(mail.attachments.length, 1);
  say('mail: the invoice with its document', `"${mail.subject}", ${mail.attachments[0]?.size} bytes`);

  const path = new URL(LINK.exec(mail.text ?? '')?.[0] ?? '').pathname;
  const page = await (await fetch(portal + path)).text();
  assert.match(page, /€450\.00/);
  const paper = Buffer.from(await (await fetch(`${portal}${path}/pdf`)).arrayBuffer());
  assert.deepEqual(paper, mail.attachments[0]?.content);
  say('portal: the page of the invoice, and the same document');

  await api.payInvoice({ path: { id: invoice.id }, body: { method: 'bank_transfer' } });
  await until('a receipt', () => relay.taken[1]);
  assert.match(await (await fetch(portal + path)).text(), />Paid</);
  say('mail and portal: paid, with a receipt');

  const { data: recurring } = await api.createRecurringInvoice({
    body: {
      client_id: client.id,
      line_items: [{ description: 'Fee', quantity: 1, rate: 95 }],
      schedule: { unit: 'month', start_on: today },
    },
  });
  const made = await until('the scheduler', async () => {
    const { data } = await api.listOccurrences({ path: { id: recurring.id } });
    return data[0]?.invoice?.id;
  });
  say('scheduler: the invoice of a recurring one', made);

  const operator = JSON.parse(
    await admin('operators', 'create', '--name', `ada-${Date.now()}`, '--role', 'operator', '--json'),
  );
  const body = new URLSearchParams({ name: operator.name, password: operator.password });
  const login = await fetch(`http://${NODE}:8090/login`, { method: 'POST', body, redirect: 'manual' });
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const overview = await fetch(`http://${NODE}:8090/`, { headers: { cookie } });
  assert.deepEqual([login.status, overview.status], [303, 200]);
  assert.match(await overview.text(), /render-document/);
  say('dashboard: a login through kubectl port-forward, and the overview');

  const doctor = await admin('doctor');
  assert.doesNotMatch(doctor, /^problem/m);
  say('admin: the doctor finds no problem');
} finally {
  forward.kill();
  await Promise.all([relay.close(), receiver.close()]);
}

// Journey: time becomes an invoice, its client gets it by mail, opens the page, pays, and gets a receipt.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import getPort from 'get-port';
import { type ParsedMail, simpleParser } from 'mailparser';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver, verify } from '../support/receiver.ts';
import { openSmtpRelay, type Relay } from '../support/smtp-relay.ts';
import { startSystem, type TestSystem } from '../support/system.ts';

const LIMIT_MS = 120_000;
const HOUR_MS = 3_600_000;

let system: TestSystem;
let receiver: Receiver;
let relay: Relay;
beforeAll(async () => {
  const port = await getPort();
  [receiver, relay] = await Promise.all([startReceiver(), openSmtpRelay()]);
  system = await startSystem({
    env: {
      PORTAL_PORT: String(port),
      PORTAL_URL: `http://127.0.0.1:${port}`,
      SMTP_URL: relay.url,
      MAIL_FROM: 'billing@north.example',
    },
  });
  await Promise.all([system.spawn('portal'), system.spawn('mail')]);
}, LIMIT_MS);
afterAll(async () => {
  await system.close();
  await Promise.all([relay.close(), receiver.close()]);
});

async function post(path: string, body: object = {}) {
  const { status, body: made } = await system.call('POST', `/api/v1${path}`, { body });
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`);
  return made.data;
}

/** Waits for the next mail that the server takes. */
async function mail(count: number): Promise<ParsedMail> {
  await eventually(() => relay.taken.length >= count, 30_000);
  return simpleParser(relay.taken[count - 1]?.source ?? '');
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test(
  'when an agency bills its month, then the client gets the invoice, sees and pays it, and gets a receipt',
  async () => {
    const account = { company: 'Studio North', currency: 'EUR', receipts: true };
    const bank = { type: 'bank_transfer', holder: 'Studio North', iban: 'DE89370400440532013000' };
    await system.call('PATCH', '/api/v1/account', { body: { ...account, payment_options: [bank] } });
    const { secret } = await post('/webhooks', { url: receiver.url, events: ['invoice.paid', 'message.accepted'] });
    const client = await post('/clients', { name: 'Ada Lovelace', email: 'ada@example.com' });
    const project = await post('/projects', { name: 'Engine', client_id: client.id, hourly_rate: 95 });

    const started_at = new Date(Date.now() - 2 * HOUR_MS).toISOString();
    const timer = await post('/timers', { project_id: project.id, description: 'Sketches', started_at });
    await post(`/timers/${timer.id}/stop`);
    await post('/time-entries', { project_id: project.id, hours: 12.5, date: '2026-11-02', description: 'Drawings' });
    const invoice = await post('/invoices/from-time', { client_id: client.id });
    expect(invoice).toMatchObject({ status: 'Draft', amount: 1377.5 });
    await post(`/invoices/${invoice.id}/send`);

    const sent = await mail(1);
    expect(sent.subject).toContain('INV-0001');
    expect(relay.taken[0]?.to).toEqual(['ada@example.com']);
    const link = /http:\/\/127\.0\.0\.1:\d+\/p\/[\w-]+/.exec(sent.text ?? '')?.[0] ?? 'none';
    const open = await (await fetch(link)).text();
    expect(open).toContain('€1,377.50');
    expect(open).toContain('DE89 3704 0044 0532 0130 00');
    const paper = Buffer.from(await (await fetch(`${link}/pdf`)).arrayBuffer());
    expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
    expect(sent.attachments.map(({ content }) => sha256(content))).toEqual([sha256(paper)]);

    await post(`/invoices/${invoice.id}/payments`, { method: 'bank_transfer' });
    const receipt = await mail(2);
    expect(receipt.attachments).toHaveLength(1);
    expect(await (await fetch(link)).text()).toMatch(/>Paid</);
    const events = await eventually(() => receiver.received.length >= 3 && receiver.received);
    const types = events.map((call) => verify(secret, call).type);
    expect(types.toSorted()).toEqual(['invoice.paid', 'message.accepted', 'message.accepted']);
  },
  LIMIT_MS,
);

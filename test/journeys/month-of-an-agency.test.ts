// Journeys: time becomes an invoice, its client gets it by mail, opens the page, pays, and gets a receipt. Another client
// pays after three reminders and a broken promise.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ParsedMail, simpleParser } from 'mailparser';
import { addDays, dayIn } from '#libs/day.ts';
import { PaymentPromise, type PromiseRecord } from '#libs/models/answers/promise.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { driverOf } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { eventually } from '../support/eventually.ts';
import { type Receiver, startReceiver, verify } from '../support/receiver.ts';
import { readPdf } from '../support/renderer/read-pdf.ts';
import { openSmtpRelay, type Relay } from '../support/smtp-relay.ts';
import { steadyPort } from '../support/steady-port.ts';
import { startSystem, type TestSystem } from '../support/system.ts';

const HOUR_MS = 3_600_000;
const LINK = /http:\/\/127\.0\.0\.1:\d+\/p\/[\w-]+/;

let system: TestSystem;
let receiver: Receiver;
let relay: Relay;
beforeAll(async () => {
  const port = await steadyPort();
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
});
afterAll(async () => {
  await system.close();
  await Promise.all([relay.close(), receiver.close()]);
});

async function post(path: string, body: object = {}) {
  const { status, body: made } = await system.call('POST', `/api/v1${path}`, { body });
  if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`);
  return made.data;
}

/** Waits for the next mail that the server takes, and until the mail service has recorded it, with its events. */
async function mail(count: number): Promise<ParsedMail> {
  const accepted = { account_id: storedId(system.account.id), state: 'accepted' } as object;
  await eventually(
    async () => relay.taken.length >= count && (await driverOf(Message).countDocuments(accepted)) >= count,
  );
  return simpleParser(relay.taken[count - 1]?.source ?? '');
}

const linkIn = ({ text = '' }: ParsedMail) => LINK.exec(text)?.[0] ?? 'none';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('when an agency bills its month, then the client gets the invoice, sees and pays it, and gets a receipt', async () => {
  const account = { company: 'Studio North', currency: 'EUR', receipts: true };
  const bank = { type: 'bank_transfer', holder: 'Studio North', iban: 'DE89370400440532013000' };
  await system.call('PATCH', '/api/v1/account', { body: { ...account, payment_options: [bank] } });
  const { secret } = await post('/webhooks', { url: receiver.url, events: ['invoice.paid', 'message.accepted'] });
  const client = await post('/clients', { name: 'Ada Lovelace', email: 'ada@example.com' });
  const project = await post('/projects', { name: 'Engine', client_id: client.id, hourly_rate: 95 });

  const started_at = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  const timer = await post('/timers', { project_id: project.id, description: 'Sketches', started_at });
  // Without this time, a second more is billed on a slow machine.
  await post(`/timers/${timer.id}/stop`, { ended_at: new Date(Date.parse(started_at) + 2 * HOUR_MS).toISOString() });
  await post('/time-entries', { project_id: project.id, hours: 12.5, date: '2026-11-02', description: 'Drawings' });
  const invoice = await post('/invoices/from-time', { client_id: client.id });
  expect(invoice).toMatchObject({ status: 'Draft', amount: 1377.5 });
  await post(`/invoices/${invoice.id}/send`);

  const sent = await mail(1);
  expect(sent.subject).toContain('INV-0001');
  expect(relay.taken[0]?.to).toEqual(['ada@example.com']);
  expect(sent.text).toContain('IBAN DE89 3704 0044 0532 0130 00\nReference: INV-0001');
  const link = linkIn(sent);
  const open = await (await fetch(link)).text();
  expect(open).toContain('€1,377.50');
  expect(open).toContain('DE89 3704 0044 0532 0130 00');
  const paper = Buffer.from(await (await fetch(`${link}/pdf`)).arrayBuffer());
  expect(paper.subarray(0, 5).toString()).toBe('%PDF-');
  expect(sent.attachments.map(({ content }) => sha256(content))).toEqual([sha256(paper)]);

  await post(`/invoices/${invoice.id}/payments`, { method: 'bank_transfer' });
  const receipt = await mail(2);
  expect(receipt.attachments).toHaveLength(1);
  for (const url of [link, linkIn(receipt)]) expect(await (await fetch(url)).text()).toMatch(/>Paid</);
  const events = await eventually(() => receiver.received.length >= 3 && receiver.received);
  const types = events.map((call) => verify(secret, call).type);
  expect(types.toSorted()).toEqual(['invoice.paid', 'message.accepted', 'message.accepted']);

  const today = dayIn('UTC');
  await post(`/clients/${client.id}/statements/send`, { period: { from: addDays(today, -30), to: today } });
  const statement = await mail(3);
  expect(statement.text).toContain('The closing balance is €0.00.');
  const { text } = await readPdf(statement.attachments[0]?.content ?? Buffer.alloc(0));
  expect(text).toMatch(/INV-0001 .*€1,377\.50.*PAY-0001 .*€1,377\.50.*€0\.00/s);
});

/** Moves all that happened about an invoice into the past. */
async function letPass(days: number, id: string): Promise<void> {
  const earlier = (day: string) => addDays(day, -days);
  const account_id = storedId(system.account.id);
  const ofInvoice = { account_id, _id: storedId(id) };
  const invoice = (await driverOf(Invoice).findOne(ofInvoice)) as unknown as InvoiceRecord;
  const { due_date, expires_on, reminder_rest: rest } = invoice;
  const moved = {
    due_date: earlier(due_date),
    ...(expires_on ? { expires_on: earlier(expires_on) } : {}),
    ...(rest ? { 'reminder_rest.resumes_on': earlier(rest.resumes_on) } : {}),
    reminder_due_at: new Date(),
  };
  await driverOf(Invoice).updateOne(ofInvoice, { $set: moved as object });
  const about = { account_id, 'document.id': storedId(id) } as object;
  for (const found of await driverOf(Message).find(about).toArray()) {
    const { _id, accepted_at } = found as unknown as MessageRecord;
    const sent = new Date(Number(accepted_at) - days * 24 * HOUR_MS);
    await driverOf(Message).updateOne({ _id }, { $set: { accepted_at: sent } as object });
  }
  for (const found of await driverOf(PaymentPromise)
    .find({ account_id } as object)
    .toArray()) {
    const { _id, promised_for } = found as unknown as PromiseRecord;
    const day = earlier(promised_for);
    await driverOf(PaymentPromise).updateOne({ _id }, { $set: { promised_for: day, expires_on: day } as object });
  }
}

/** Runs a scheduler until it has done what is due on this day. */
async function aDay<Result>(isDone: () => Promise<Result>): Promise<Result> {
  const scheduler = await system.spawn('scheduler');
  const result = await isDone();
  await scheduler.stop();
  return result;
}

/** Fills in a form of the client's page as its reader does. */
async function answer(link: string, form: string, fields: Record<string, string>): Promise<void> {
  const page = await (await fetch(link)).text();
  const [inside = ''] = new RegExp(`<form[^>]* action="[^"]*/${form}"[\\s\\S]*?</form>`).exec(page) ?? [];
  const hidden = [...inside.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, ...pair]) => pair);
  const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
  const { status } = await fetch(`${link}/${form}`, { method: 'POST', body, redirect: 'manual' });
  expect([form, status]).toEqual([form, 303]);
}

test('when a client pays late, then it is reminded three times, its promise lets reminders rest until it is broken, and payment ends them', async () => {
  const today = dayIn('UTC');
  const reminders = [{ days: 3 }, { days: 10 }, { days: 21 }];
  await system.call('PATCH', '/api/v1/account', { body: { reminders, remind_at: '00:00' } });
  const { id: client_id } = await post('/clients', { name: 'Charles Babbage', email: 'charles@example.com' });
  const line_items = [{ description: 'Difference engine', quantity: 1, rate: 500 }];
  const { id } = await post('/invoices', { client_id, line_items, due_date: today, currency: 'EUR' });
  const mailsBefore = relay.taken.length;
  let mails = mailsBefore;
  const nextMail = () => mail(++mails);
  const eventTypes = async () =>
    (await system.call('GET', '/api/v1/events?limit=100')).body.data.map(({ type }: { type: string }) => type);
  const invoice = async () => (await system.call('GET', `/api/v1/invoices/${id}`)).body.data;
  await post(`/invoices/${id}/send`);
  expect((await nextMail()).subject).toContain('INV-0002');

  await letPass(3, id);
  const first = await aDay(nextMail);
  expect(first.subject).toBe('Reminder: invoice INV-0002');
  await post(`/invoices/${id}/payments`, { amount: 100 });
  await nextMail();

  await letPass(7, id);
  const second = await aDay(nextMail);
  expect(second.text).toContain('€400.00');
  await answer(linkIn(second), 'promise', { day: addDays(today, 2) });
  expect(await invoice()).toMatchObject({
    status: 'Overdue',
    reminder_rest: { because: 'promise', resumes_on: addDays(today, 3) },
  });

  await letPass(11, id);
  await aDay(() => eventually(async () => (await eventTypes()).includes('promise.broken')));
  const third = await aDay(nextMail);
  expect(third.text).toContain('Amount due: €400.00\n\nStudio North\nIBAN DE89');
  expect(await invoice()).toMatchObject({ reminder_rest: null });

  await post(`/invoices/${id}/payments`, { method: 'bank_transfer' });
  const receipt = await nextMail();
  expect(await (await fetch(linkIn(receipt))).text()).toMatch(/>Paid</);
  expect(relay.taken.slice(mailsBefore).map(({ to }) => to)).toEqual(Array(6).fill(['charles@example.com']));
  expect(await invoice()).toMatchObject({ status: 'Paid', amount_due: 0 });
  const told = ['reminder.sent', 'client.promised', 'promise.broken', 'invoice.paid'];
  expect((await eventTypes()).filter((type: string) => told.includes(type))).toEqual([
    'invoice.paid',
    'reminder.sent',
    'reminder.sent',
    'client.promised',
    'promise.broken',
    'reminder.sent',
    'invoice.paid',
  ]);
});

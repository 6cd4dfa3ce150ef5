// A message on its way to a real SMTP server that takes it, refuses it, defers it, hangs or breaks off.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sendMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { insertMailSource, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import { Message, type MessageRecord, type Recipient } from '#libs/models/messages/message.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, newRecord, wireId } from '#libs/models/tenant.ts';
import { openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { enqueueDueMessages } from '../../../services/mail/enqueue-due-messages.ts';
import { makeSendMessage, type SendOptions } from '../../../services/mail/send-message.ts';
import { type Connections, openConnections } from '../../../services/mail/smtp/connections.ts';
import { type OwnConnections, openOwnConnections } from '../../../services/mail/smtp/own-connections.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';
import { makeWayOf } from '../../../services/mail/way-out.ts';
import { eventually } from '../../support/eventually.ts';
import { insertMessage, inUnit, storedMessage } from '../../support/messages.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

/** A minute lasts 60 ms, and ten minutes last 600. */
const SCALE = 0.001;
const TIMEOUT_MS = 1_000;
const SOURCE = 'Subject: Invoice\r\n\r\nHello\r\n.\r\nA line that begins with a dot.\r\n';

let workspace: Workspace;
let queues: Queues;
let relay: Relay;
let connections: Connections;
let own: OwnConnections;
let worker: RunningWorker;
let polling: NodeJS.Timeout;
let accountId: string;

beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  ({ id: accountId } = await workspace.account());
});
beforeEach(async () => {
  relay = await openSmtpRelay();
  start();
});
afterEach(async () => {
  await stop();
  await relay.close();
  await Message.deleteMany({}).setOptions(acrossAccounts);
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

function start(options: Partial<SendOptions> = {}, url = relay.url) {
  connections = openConnections(serverOf(url), { name: 'mail.example.com', timeoutMs: TIMEOUT_MS });
  own = openOwnConnections({
    dial: openMailDialler({ allow: '127.0.0.0/8,::1' }),
    box: openSecretBox(workspace.secretKey),
    timeoutMs: TIMEOUT_MS,
  });
  const send = makeSendMessage({
    wayOf: makeWayOf(
      {
        connections,
        sender: { address: 'billing@example.com', domain: 'example.com' },
        bounceDomain: 'bounces.example.com',
      },
      own,
    ),
    mailOf: async (message) => ({ bytes: Buffer.from(SOURCE), message }),
    leaseMs: 2_000,
    retryScale: SCALE,
    onEvents: () => undefined,
    onOutcome: () => undefined,
    ...options,
  });
  const { redisUrl, redisPrefix: prefix } = workspace;
  worker = startWorker(sendMail, send, { redisUrl, prefix, concurrency: 3, log: testLog });
  polling = setInterval(() => void poll().catch(() => undefined), 50);
}

const poll = () => enqueueDueMessages({ queues, retryScale: SCALE, onEvents: () => undefined });

async function stop() {
  clearInterval(polling);
  await worker.close(5_000);
  connections.close();
  own.close();
  await queues.raw(sendMail).drain();
}

const to = (...addresses: string[]): Partial<MessageRecord> => ({
  recipients: addresses.map((address): Recipient => ({ address, role: 'to', state: 'queued' })),
});
const settled = (message: MessageRecord) =>
  eventually(async () => {
    const now = await storedMessage(message);
    return now.settled_at !== undefined && now;
  }, 15_000);
const statesOf = ({ recipients }: MessageRecord) =>
  recipients.map(({ address, state, code }) => [address, state, code].filter(Boolean).join(' '));

test('when the server takes it, then it is accepted, with the bytes as they were made and a return path of its own', async () => {
  const message = await insertMessage(accountId, to('ada@example.com', 'bob@example.com'));

  const now = await settled(message);

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 1, accepted_at: expect.any(Date) });
  expect(now.attempts).toMatchObject([{ code: '250', text: 'OK queued as 4711' }]);
  expect(statesOf(now)).toEqual(['ada@example.com accepted', 'bob@example.com accepted']);
  expect(relay.taken).toEqual([
    {
      from: `bounce+${wireId(message._id)}@bounces.example.com`,
      to: ['ada@example.com', 'bob@example.com'],
      source: SOURCE,
      isSecure: false,
      user: undefined,
    },
  ]);
  expect(now.lease_id).toBeUndefined();
  expect(now.due_at).toBeUndefined();
});

test('when several mails go out one after the other, then they share connections', async () => {
  for (let index = 0; index < 6; index += 1) await settled(await insertMessage(accountId));

  expect(relay.taken).toHaveLength(6);
  expect(relay.connections).toBeLessThan(3);
});

test('when the server has closed a kept connection, then the next mail goes out at its first attempt', async () => {
  await settled(await insertMessage(accountId));
  relay.hangUp();

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 1 });
  expect(relay.connections).toBe(2);
});

test('when one of three is refused for good and one for now, then each has its own state, and the third gets it once', async () => {
  let deferrals = 2;
  relay.behave({
    onRecipient(address) {
      if (address.startsWith('gone')) return '550 5.1.1 No such user';
      if (address.startsWith('busy') && deferrals-- > 0) return '451 4.7.1 Come back later';
      return undefined;
    },
  });

  const now = await settled(
    await insertMessage(accountId, to('ada@example.com', 'gone@example.com', 'busy@example.com')),
  );

  expect(now.state).toBe('accepted');
  expect(statesOf(now)).toEqual([
    'ada@example.com accepted',
    'gone@example.com failed 550 5.1.1',
    'busy@example.com accepted',
  ]);
  expect(relay.taken.map((mail) => mail.to)).toEqual([['ada@example.com'], ['busy@example.com']]);
  expect(now.attempts_made).toBe(3);
  expect(relay.named.filter((address) => address === 'gone@example.com')).toHaveLength(1);
});

test('when every recipient is refused for good, then the message failed, and no contents left', async () => {
  relay.behave({ onRecipient: () => '550 5.1.1 No such user' });

  const now = await settled(await insertMessage(accountId, to('ada@example.com', 'bob@example.com')));

  expect(now).toMatchObject({ state: 'failed', attempts_made: 1 });
  expect(now.recipients).toMatchObject([
    { state: 'failed', code: '550 5.1.1', text: 'No such user' },
    { state: 'failed', code: '550 5.1.1', text: 'No such user' },
  ]);
  expect(relay.taken).toEqual([]);
});

test.each([
  ['the sender', { onSender: () => '553 5.7.1 Not yours' }, '553 5.7.1'],
  ['the contents', { onContents: () => '554 5.6.0 Looks like spam' }, '554 5.6.0'],
])(
  'when the server refuses %s for good, then the message failed at its first attempt',
  async (_what, behaviour, code) => {
    relay.behave(behaviour);

    const now = await settled(await insertMessage(accountId));

    expect(now).toMatchObject({ state: 'failed', attempts_made: 1 });
    expect(statesOf(now)).toEqual([`ada@example.com failed ${code}`]);
  },
);

test('when the server defers the contents, then they are sent again and taken once', async () => {
  let deferrals = 2;
  relay.behave({ onContents: () => (deferrals-- > 0 ? '451 4.3.0 Try again' : undefined) });

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 3 });
  expect(now.attempts.map(({ code }) => code)).toEqual(['451 4.3.0', '451 4.3.0', '250']);
  expect(relay.taken).toHaveLength(1);
});

test('when the server takes it and hangs, then it is unknown, sent once more after its wait, and then failed', async () => {
  relay.behave({ onContents: () => 'hang' });
  const message = await insertMessage(accountId);

  const unknown = await eventually(async () => {
    const now = await storedMessage(message);
    return now.state === 'unknown' && now;
  });
  const waitMs = (unknown.next_at as Date).getTime() - (unknown.unknown_at as Date).getTime();
  const now = await settled(message);

  expect(waitMs).toBe(600);
  expect(now).toMatchObject({ state: 'failed', attempts_made: 2 });
  expect(relay.taken.map(({ source }) => source)).toEqual([SOURCE, SOURCE]);
});

test('when the server breaks off after the contents, and answers the second time, then it is accepted', async () => {
  let breaks = 1;
  relay.behave({ onContents: () => (breaks-- > 0 ? 'break' : undefined) });

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 2, unknown_at: expect.any(Date) });
  expect(relay.taken).toHaveLength(2);
});

test('when the server cannot be reached, then attempts go on until two days have passed, and the record says why', async () => {
  await stop();
  await relay.close();
  start({ retryScale: 0.000_02 });
  // 48 hours last 3.5 seconds.
  const now = await settled(await insertMessage(accountId));
  relay = await openSmtpRelay();

  expect(now.state).toBe('failed');
  expect(now.attempts_made).toBeGreaterThan(4);
  expect(now.attempts.at(-1)?.text).toMatch(/ECONNREFUSED/);
  expect(now.attempts.at(-1)?.code).toBeUndefined();
});

test('when an address was suppressed meanwhile, then the others get the mail', async () => {
  const message = await insertMessage(accountId, {
    ...to('ada@example.com', 'bounced@example.com'),
    ...{ next_at: new Date(Date.now() + 500), due_at: new Date(Date.now() + 500) },
  });
  const { Suppression } = await import('#libs/models/messages/suppression.ts');
  await Suppression.create({ account_id: accountId, address: 'bounced@example.com', reason: 'bounce' });

  const now = await settled(message);

  expect(statesOf(now)).toEqual(['ada@example.com accepted', 'bounced@example.com suppressed']);
  expect(relay.named).toEqual(['ada@example.com']);
});

test('when its document is not to be sent any more, then it is cancelled, and nothing leaves', async () => {
  await stop();
  start({ mailOf: async () => ({ withdrawn: 'The invoice was cancelled' }) });

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'cancelled', attempts: [{ text: 'The invoice was cancelled' }] });
  expect(relay.connections).toBe(0);
});

test('when the invoice is paid while the server waits for the contents of its reminder, then it is cancelled, and nothing leaves', async () => {
  const payer = newRecord(accountId);
  await driverOf(Invoice).insertOne({ ...payer, status: 'Sent', amount: 10_000 } as never);
  const document = { type: 'invoice', id: payer._id, number: 'INV-0042' } as const;
  relay.behave({
    async onRecipient() {
      await driverOf(Invoice).updateOne({ _id: payer._id } as object, {
        $set: { status: 'Paid', amount_paid: 10_000 },
      });
      return undefined;
    },
  });

  const now = await settled(
    await insertMessage(accountId, { document, reminder: { amount_due: 10_000, currency: 'EUR' } }),
  );

  expect(now).toMatchObject({ state: 'cancelled', attempts: [{ text: 'Nothing is due of the invoice any more' }] });
  expect([relay.named, relay.taken]).toEqual([['ada@example.com'], []]);
});

test('when the lease is lost while the server waits for the contents, then none leave', async () => {
  const message = await insertMessage(accountId);
  await stop();
  start({
    mailOf: async (leased) => {
      await driverOf(Message).updateOne({ _id: message._id } as object, { $set: { lease_id: 'of another worker' } });
      return { bytes: Buffer.from(SOURCE), message: leased };
    },
  });
  await eventually(() => relay.named.length > 0);
  await eventually(async () => worker.active() === 0);

  expect(relay.taken).toEqual([]);
  expect((await storedMessage(message)).state).toBe('queued');
});

test('when Redis is emptied while messages wait, then each goes out once', async () => {
  await stop();
  const messages = await Promise.all(Array.from({ length: 5 }, () => insertMessage(accountId)));
  await poll();
  await queues.raw(sendMail).obliterate({ force: true });
  // Ten seconds later, as far as the record says.
  await Message.updateMany({}, { $set: { due_at: new Date() } }).setOptions(acrossAccounts);
  start();

  const all = await Promise.all(messages.map(settled));

  expect(all.map(({ state }) => state)).toEqual(Array(5).fill('accepted'));
  expect(relay.taken).toHaveLength(5);
});

test('when one account has a hundred mails waiting, then the mail of another is among the first', async () => {
  await stop();
  const { id: other } = await workspace.account();
  for (let index = 0; index < 100; index += 1) await insertMessage(accountId, to(`a${index}@example.com`));
  await insertMessage(other, to('b@example.com'));
  start();

  await eventually(() => relay.named.includes('b@example.com'));

  expect(relay.named.indexOf('b@example.com')).toBeLessThan(10);
});

describe('a kept mail', () => {
  test('when it is kept, then it comes back as it was', async () => {
    const message = await insertMessage(accountId, { next_at: new Date(Date.now() + 3_600_000) });
    const { findMailSource } = await import('#libs/models/messages/mail-source.ts');
    const source = await mailSourceOf(message, Buffer.from(SOURCE), new Date());
    await inUnit(accountId, ({ session }) => insertMailSource(source, session));

    expect((await findMailSource(accountId, message._id))?.toString()).toBe(SOURCE);
  });
});

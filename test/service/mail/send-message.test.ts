// A message on its way to a real SMTP server that takes it, refuses it, defers it, hangs or breaks off.
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import mongoose from 'mongoose';
import { reportBounce } from '#libs/billing/messages/report-bounce.ts';
import { retryMessage } from '#libs/billing/messages/retry-message.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { sendMail, sendOwnMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { findMailSource, insertMailSource, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import { Message, type MessageRecord, type Recipient } from '#libs/models/messages/message.ts';
import { Suppression } from '#libs/models/messages/suppression.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, newId, newRecord, storedId, wireId } from '#libs/models/tenant.ts';
import { makeToken } from '#libs/models/token.ts';
import { openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { enqueueDueMessages } from '../../../services/mail/enqueue-due-messages.ts';
import { holdMail } from '../../../services/mail/held-mail.ts';
import { makeMailOf } from '../../../services/mail/make-mail.ts';
import { makeSendMessage, type SendOptions, type UnkeptMail } from '../../../services/mail/send-message.ts';
import { type Connections, openConnections } from '../../../services/mail/smtp/connections.ts';
import { type OwnConnections, openOwnConnections } from '../../../services/mail/smtp/own-connections.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';
import { makeWayOf } from '../../../services/mail/way-out.ts';
import { eventually } from '../../support/eventually.ts';
import {
  insertInvoice,
  insertMessage,
  inUnit,
  MAILED_CLIENT,
  messageOf,
  setUpMail,
  storedMessage,
  wholeMail,
} from '../../support/messages.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

/** A minute lasts 60 ms, and ten minutes last 600. */
const SCALE = 0.001;
/** No step of a test on a busy machine takes as long. A shorter one adds attempts that no test expects. */
const TIMEOUT_MS = 30_000;
/** The timeout where a server hangs. */
const SHORT_TIMEOUT_MS = 2_000;
/** The same of leases: one that runs out while its worker has no processor adds an attempt. */
const LEASE_MS = 60_000;
const SOURCE = 'Subject: Invoice\r\n\r\nHello\r\n.\r\nA line that begins with a dot.\r\n';

/** The bytes of which a large mail is made, which are a third less than those of the mail. */
const LARGE = 6 * 2 ** 20;

let workspace: Workspace;
let queues: Queues;
let relay: Relay;
let connections: Connections;
let own: OwnConnections;
let worker: RunningWorker;
let polling: NodeJS.Timeout;
let accountId: string;
/** The mails that were made in this test. */
let makes: number;

beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  ({ id: accountId } = await workspace.account());
});
beforeEach(async () => {
  makes = 0;
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

function start(
  options: Partial<SendOptions> = {},
  { timeoutMs = TIMEOUT_MS, concurrency = 3 }: { timeoutMs?: number; concurrency?: number } = {},
) {
  connections = openConnections(serverOf(relay.url), { name: 'mail.example.com', timeoutMs });
  own = openOwnConnections({
    dial: openMailDialler({ allow: '127.0.0.0/8,::1' }),
    box: openSecretBox(workspace.secretKey),
    timeoutMs,
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
    mailOf: makeMail,
    leaseMs: LEASE_MS,
    retryScale: SCALE,
    onEvents: () => undefined,
    onOutcome: () => undefined,
    ...options,
  });
  const { redisUrl, redisPrefix: prefix } = workspace;
  worker = startWorker(sendMail, send, { redisUrl, prefix, concurrency, log: testLog });
  polling = setInterval(() => void poll().catch(() => undefined), 50);
}

/** Makes a mail that differs at each make, and keeps it as the service does. */
async function makeMail(message: MessageRecord, { isFirst }: { isFirst: boolean }) {
  const kept = isFirst ? undefined : await findMailSource(accountId, message._id);
  if (kept) return { contents: await holdMail([kept]) };
  makes += 1;
  const bytes = Buffer.from(SOURCE + 'Made again.\r\n'.repeat(makes - 1));
  const source = await mailSourceOf(message, wholeMail(bytes), new Date());
  const values = { subject: 'Made', attachments: [{ name: 'a.pdf', bytes: 3, sha256: 'ab' }] };
  const keep = ({ session }: UnitOfWork) => insertMailSource(source, session);
  const ready: UnkeptMail['ready'] = (work) => work(keep);
  return { contents: await holdMail([bytes]), unkept: { values, ready } };
}

/** Returns the bytes of buffers that this process holds. */
function bytesHeld(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().arrayBuffers;
}

const poll = () => enqueueDueMessages({ queues, retryScale: SCALE, onEvents: () => undefined });

async function restartWithShortTimeout() {
  await stop();
  start({}, { timeoutMs: SHORT_TIMEOUT_MS });
}

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
  });
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
  expect([now.subject, now.attachments]).toEqual(['Made', [{ name: 'a.pdf', bytes: 3, sha256: 'ab' }]]);
  expect((await findMailSource(accountId, message._id))?.toString()).toBe(SOURCE);
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

test('when the domain of an address has umlauts, then it goes out in ASCII, and a refusal is that of its recipient', async () => {
  relay.behave({ onRecipient: (address) => (address.startsWith('gone') ? '550 5.1.1 No such user' : undefined) });

  const now = await settled(await insertMessage(accountId, to('ada@bücher.example', 'gone@bücher.example')));

  // The test server writes the domain as people do again.
  expect(relay.taken).toEqual([expect.objectContaining({ to: ['ada@bücher.example'] })]);
  expect(relay.taken[0]?.isUtf8).toBeUndefined();
  expect(statesOf(now)).toEqual(['ada@bücher.example accepted', 'gone@bücher.example failed 550 5.1.1']);
});

test('when an operator retries, then mail that waits leaves at once, and a rejected recipient alone gets another mail', async () => {
  await setUpMail();
  const retry = (message: MessageRecord) => inUnit(accountId, (unit) => retryMessage(unit, wireId(message._id)));
  const later = new Date(Date.now() + 3_600_000);
  const waiting = await insertMessage(accountId, { next_at: later, due_at: later, ...to('bob@example.com') });
  relay.behave({ onRecipient: (address) => (address.startsWith('gone') ? '550 5.7.1 Blocked' : undefined) });
  const document = await insertInvoice(accountId);
  const refused = await settled(
    await insertMessage(accountId, { document, ...to('ada@example.com', 'gone@example.com') }),
  );
  relay.behave({});

  await retry(waiting);
  const outcome = await retry(refused);
  const again = outcome && 'again' in outcome && (await settled(outcome.again));

  expect(await settled(waiting)).toMatchObject({ state: 'accepted', attempts_made: 1 });
  expect(again && statesOf(again)).toEqual(['gone@example.com accepted']);
  const got = relay.taken.map((mail) => mail.to.join()).toSorted();
  expect(got).toEqual(['ada@example.com', 'bob@example.com', 'gone@example.com']);
});

test('when the server repeats an address and the link of the mail, then the record has its words, and the log neither', async () => {
  const token = makeToken();
  const words = `<ada@example.com> blocked for https://pay.example/l/${token}`;
  relay.behave({ onRecipient: () => `550 5.7.1 ${words}` });
  const lines: unknown[] = [];
  const keep = (line: unknown) => void lines.push(line);
  const child = jest.spyOn(testLog, 'child').mockReturnValue({ info: keep, warn: keep, error: keep } as never);

  const now = await settled(await insertMessage(accountId));

  child.mockRestore();
  expect(now.attempts).toMatchObject([{ text: words }]);
  expect(lines).toContainEqual(expect.objectContaining({ text: expect.stringContaining('blocked for https://') }));
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`ada@|${token}`));
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

test('when the server defers the recipient, then the mail of the first attempt is kept, and it is the one that leaves', async () => {
  let deferrals = 2;
  relay.behave({ onRecipient: () => (deferrals-- > 0 ? '451 4.7.1 Greylisted' : undefined) });

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 3, subject: 'Made' });
  expect([makes, relay.taken.map(({ source }) => source)]).toEqual([1, [SOURCE]]);
});

test('when the server takes it and hangs, then it is unknown, sent once more after its wait, and then failed', async () => {
  await restartWithShortTimeout();
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
  const scale = 0.000_02;
  start({ retryScale: scale });
  const now = await settled(await insertMessage(accountId));
  relay = await openSmtpRelay();

  expect(now.state).toBe('failed');
  expect(now.attempts_made).toBeGreaterThan(1);
  // The last attempt is the one whose wait, of six hours at most, would end after the two days.
  const triedMs = (now.settled_at as Date).getTime() - now.created_at.getTime();
  expect(triedMs).toBeGreaterThanOrEqual(42 * 3_600_000 * scale);
  expect(now.attempts.at(-1)?.text).toMatch(/ECONNREFUSED/);
  expect(now.attempts.at(-1)?.code).toBeUndefined();
});

test('when no mail service ran for days, and the server defers the first attempt, then another one follows', async () => {
  let deferrals = 1;
  relay.behave({ onRecipient: () => (deferrals-- > 0 ? '451 4.7.1 Greylisted' : undefined) });
  const planned = new Date(Date.now() - 3 * 24 * 3_600_000);

  const now = await settled(await insertMessage(accountId, { created_at: planned, next_at: planned, due_at: planned }));

  expect([now.state, now.attempts.map(({ code }) => code)]).toEqual(['accepted', ['451 4.7.1', '250']]);
});

test.each([
  ['takes it', undefined],
  ['does not answer', 'hang'],
  ['defers it', '451 4.3.0 Try again'],
])(
  'when a copy comes back before the server %s, then its recipient has bounced and gets no other',
  async (_, answer) => {
    if (answer === 'hang') await restartWithShortTimeout();
    const message = await insertMessage(accountId, to('ada@example.com', 'bob@example.com'));
    const returned = { message_id: wireId(message._id), recipient: 'ada@example.com', kind: 'returned' } as const;
    relay.behave({
      async onContents() {
        await inUnit(accountId, (unit) => reportBounce(unit, returned));
        relay.behave({});
        return answer;
      },
    });

    const now = await settled(message);

    expect([now.state, statesOf(now)]).toEqual(['accepted', ['ada@example.com bounced', 'bob@example.com accepted']]);
    const repeated = answer === undefined ? [] : ['bob@example.com'];
    expect(relay.named).toEqual(['ada@example.com', 'bob@example.com', ...repeated]);
  },
);

test('when an address was suppressed meanwhile, then the others get the mail', async () => {
  await Suppression.create({ account_id: accountId, address: 'bounced@example.com', reason: 'bounce' });

  const now = await settled(await insertMessage(accountId, to('ada@example.com', 'bounced@example.com')));

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
  await driverOf(Invoice).insertOne({ ...payer, client_id: MAILED_CLIENT, status: 'Sent', amount: 10_000 } as never);
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

test('when its document has another client by then, then it is cancelled, and nothing leaves', async () => {
  const document = await insertInvoice(accountId, { client_id: storedId(newId()) });

  const now = await settled(await insertMessage(accountId, { document }));

  expect(now).toMatchObject({ state: 'cancelled', attempts: [{ text: 'The document has another client now' }] });
  expect(relay.taken).toEqual([]);
});

test('when the lease is lost while the server waits for the contents, then none leave', async () => {
  const message = await insertMessage(accountId);
  await stop();
  start({
    mailOf: async (leased) => {
      await driverOf(Message).updateOne({ _id: message._id } as object, { $set: { lease_id: 'of another worker' } });
      return makeMail(leased, { isFirst: true });
    },
  });
  await eventually(() => relay.named.length > 0);
  await eventually(async () => worker.active() === 0);

  expect(relay.taken).toEqual([]);
  const now = await storedMessage(message);
  expect([now.state, now.subject]).toEqual(['queued', message.subject]);
  expect(await findMailSource(accountId, message._id)).toBeUndefined();
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

test('when a process died in the middle of a transaction, then its message leaves within seconds, and another does not wait for it', async () => {
  await stop();
  const message = await insertMessage(accountId);
  const session = mongoose.connection.getClient().startSession();
  session.startTransaction();
  const isLocked = { $set: { lease_id: 'of a process that died' } };
  await driverOf(Message).updateOne({ _id: message._id }, isLocked as object, { session });
  start();

  // Without help MongoDB ends the transaction after a minute.
  const all = await Promise.all([message, await insertMessage(accountId)].map(settled));
  await session.endSession();

  expect(all.map(({ state }) => state)).toEqual(['accepted', 'accepted']);
});

test('when an account fills the queue, then a mail of another is enqueued all the same, and its mails for an own server are one job', async () => {
  await stop();
  const { id: other } = await workspace.account();
  const due = Array.from({ length: 450 }, () => messageOf(accountId));
  const own = Array.from({ length: 3 }, () => messageOf(accountId, { sender: 'billing@north.example' }));
  await driverOf(Message).insertMany([...due, ...own]);
  for (let hasMore = true; hasMore; ) hasMore = await poll();
  const { ready } = await queues.counts(sendMail);
  const message = await insertMessage(other);

  await poll();

  const added = (await queues.raw(sendMail).getJobs(['prioritized', 'waiting'])).map(({ data }) => data.messageId);
  expect([ready < 450, added.includes(wireId(message._id)), added.length < 450]).toEqual([true, true, true]);
  expect((await queues.counts(sendOwnMail)).ready).toBe(1);
  await queues.raw(sendOwnMail).drain();
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

test('when the server breaks off while the mail is being kept, then it is kept once, and leaves at the next attempt', async () => {
  await stop();
  start({
    async mailOf(message, attempt) {
      const made = await makeMail(message, attempt);
      const { unkept } = made;
      if (!unkept) return made;
      const dropped = jest.spyOn(connections, 'drop');
      const ready: UnkeptMail['ready'] = (work) =>
        unkept.ready((keep) =>
          work(async (unit) => {
            await keep(unit);
            relay.hangUp();
            await eventually(() => dropped.mock.calls.length > 0);
          }),
        );
      return { ...made, unkept: { ...unkept, ready } };
    },
  });

  const now = await settled(await insertMessage(accountId));

  expect(now).toMatchObject({ state: 'accepted', attempts_made: 2 });
  expect(now.unknown_at).toBeUndefined();
  expect(relay.taken.map(({ source }) => source)).toEqual([SOURCE]);
});

test('when the end of an attempt cannot be written, then it is tried a few times until the lease ends, and then again later', async () => {
  await stop();
  /** How often the end of each attempt was written, by their order. */
  const writes: number[] = [];
  start({
    leaseMs: 4_000,
    async mailOf(message, attempt) {
      const made = await makeMail(message, attempt);
      const { unkept } = made;
      if (!unkept) return made;
      const index = writes.push(0) - 1;
      const ready: UnkeptMail['ready'] = (work) =>
        unkept.ready((keep) =>
          work(async (unit) => {
            writes[index] = (writes[index] ?? 0) + 1;
            if (index === 0) throw new Error('a fault of this program');
            await keep(unit);
          }),
        );
      return { ...made, unkept: { ...unkept, ready } };
    },
  });
  relay.behave({ onRecipient: () => (writes.length > 1 ? undefined : '451 4.7.1 Come back later') });

  expect(await settled(await insertMessage(accountId))).toMatchObject({ state: 'accepted' });
  expect(writes[0]).toBeGreaterThan(1);
  // Without pauses it would be thousands.
  expect(writes[0]).toBeLessThan(100);
});

describe('large mails', () => {
  const markdown = { toHtml: async (text: string) => text };
  const print = async () => {
    throw new Error('these mails are kept');
  };
  const mailOf = makeMailOf({ from: 'billing@example.com', print, markdown });

  /** Inserts a message whose mail was kept at an earlier attempt. */
  async function kept(address: string, source: string): Promise<MessageRecord> {
    const own = newRecord(accountId);
    const client_id = storedId(newId());
    const record = await mailSourceOf({ ...own, client_id }, wholeMail(source), new Date());
    await inUnit(accountId, ({ session }) => insertMailSource(record, session));
    return insertMessage(accountId, { ...own, client_id, ...to(address), revision: 1 });
  }

  /** Inserts a message with a mail that can hardly be deflated. */
  async function large(name: string) {
    const address = `${name}@example.com`;
    const lines = randomBytes(LARGE).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
    const source = `Subject: ${name}\r\n\r\n${lines}\r\n`;
    return { address, source, message: await kept(address, source) };
  }

  test('when a server hangs before and in the middle of large mails, then they are not in memory, a small one leaves, and they do after it', async () => {
    await stop();
    const mails = [];
    for (const name of ['before1', 'before2', 'during1', 'during2']) mails.push(await large(name));
    let stalled = 0;
    relay.behave({
      onRecipient: (address) => (address.startsWith('before') ? 'hang' : undefined),
      onStart: (address) => (address.startsWith('during') && ++stalled > 0 ? 'stall' : undefined),
    });
    const before = bytesHeld();
    start({ mailOf }, { timeoutMs: 60_000, concurrency: mails.length + 1 });
    await eventually(() => relay.named.length === mails.length && stalled === 2);

    // The driver has the last one that it has read for a while.
    await eventually(() => bytesHeld() - before < LARGE);
    expect((await settled(await kept('ada@example.com', SOURCE))).state).toBe('accepted');

    relay.behave({});
    relay.hangUp();
    for (const { message } of mails) expect((await settled(message)).state).toBe('accepted');
    for (const { address, source } of mails)
      expect(relay.taken.map((mail) => mail.to[0] === address && mail.source === source)).toContain(true);
  });
});

describe('a kept mail', () => {
  test('when it is kept, then it comes back as it was', async () => {
    const message = await insertMessage(accountId, { next_at: new Date(Date.now() + 3_600_000) });
    const source = await mailSourceOf(message, wholeMail(SOURCE), new Date());
    await inUnit(accountId, ({ session }) => insertMailSource(source, session));

    expect((await findMailSource(accountId, message._id))?.toString()).toBe(SOURCE);
  });
});

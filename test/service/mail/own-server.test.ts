// Mail that leaves by an account's own server: encrypted, through the guard, and without harm to the mail of others.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sendMail, sendOwnMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { findMailServer, MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { findOwn, insertOwn, removeOwn } from '#libs/models/records.ts';
import { acrossAccounts, newRecord, wireId } from '#libs/models/tenant.ts';
import { type DialMailServer, openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { enqueueDueMessages } from '../../../services/mail/enqueue-due-messages.ts';
import { holdMail } from '../../../services/mail/held-mail.ts';
import { makeSendMessage } from '../../../services/mail/send-message.ts';
import { openConnections } from '../../../services/mail/smtp/connections.ts';
import { type OwnConnections, openOwnConnections } from '../../../services/mail/smtp/own-connections.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';
import { takeTurns } from '../../../services/mail/take-turns.ts';
import { testMailServers } from '../../../services/mail/test-mail-servers.ts';
import { makeWayOf } from '../../../services/mail/way-out.ts';
import { certifyLocalhost } from '../../support/certificate.ts';
import { eventually } from '../../support/eventually.ts';
import { insertInvoice, insertMessage, inUnit, setUpMail, storedMessage } from '../../support/messages.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

const SCALE = 0.001;
/** A machine that stands still for two seconds must not end a connection that waits for its next mail. */
const TIMEOUT_MS = 15_000;
const SHORT_TIMEOUT_MS = 2_000;
const SOURCE = 'Subject: Invoice\r\n\r\nHello\r\n';
const certified = certifyLocalhost();

let workspace: Workspace;
let queues: Queues;
/** The server of the installation. */
let relay: Relay;
let ownRelay: Relay;
let own: OwnConnections;
let accountId: string;
const workers: RunningWorker[] = [];
const closing: (() => unknown)[] = [];
type Settings = { dial?: DialMailServer; timeoutMs?: number };

beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
});
beforeEach(async () => {
  certified.trust();
  ({ id: accountId } = await workspace.account());
  relay = await openSmtpRelay();
  ownRelay = await openSmtpRelay({
    key: certified.key,
    cert: certified.cert,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss'
        ? done(null, { user: username })
        : done(Object.assign(new Error('Wrong password'), { responseCode: 535 })),
  });
  start();
});
afterEach(async () => {
  await stop();
  certified.distrust();
  await Promise.all([relay.close(), ownRelay.close()]);
  for (const job of [sendMail, sendOwnMail]) await queues.raw(job).drain();
  await Message.deleteMany({}).setOptions(acrossAccounts);
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

function start({ dial = openMailDialler({ allow: '127.0.0.0/8,::1' }), timeoutMs = TIMEOUT_MS }: Settings = {}) {
  const connections = openConnections(serverOf(relay.url), { name: 'mail.example.com', timeoutMs });
  own = openOwnConnections({ dial, box: openSecretBox(workspace.secretKey), timeoutMs });
  const sender = { address: 'billing@example.com', domain: 'example.com' };
  const send = makeSendMessage({
    wayOf: makeWayOf({ connections, sender, bounceDomain: undefined }, own),
    mailOf: async () => ({ contents: await holdMail([Buffer.from(SOURCE)]) }),
    leaseMs: 60_000,
    retryScale: SCALE,
    onEvents: () => undefined,
    onOutcome: () => undefined,
  });
  const { redisUrl, redisPrefix: prefix } = workspace;
  const options = { redisUrl, prefix, concurrency: 3, log: testLog };
  workers.push(startWorker(sendMail, send, options), startWorker(sendOwnMail, takeTurns(send), options));
  const polling = setInterval(() => void poll().catch(() => undefined), 50);
  closing.push(
    () => connections.close(),
    () => clearInterval(polling),
  );
}

async function stop(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
  await Promise.all(workers.splice(0).map((worker) => worker.close(5_000)));
  own.close();
}

async function restart(settings: Settings): Promise<void> {
  await stop();
  start(settings);
}

const poll = () => enqueueDueMessages({ queues, retryScale: SCALE, onEvents: () => undefined });

async function setServer(id: string, fields: Partial<MailServerRecord> = {}) {
  const server: MailServerRecord = {
    ...newRecord(id),
    host: 'localhost',
    port: ownRelay.port,
    tls: 'starttls',
    user: 'ada',
    secret: openSecretBox(workspace.secretKey).seal('p@ss'),
    from: 'billing@north.example',
    ...fields,
  };
  await inUnit(id, async ({ session }) => {
    const before = await findMailServer(id, session);
    if (before) await removeOwn(MailServer, before, session);
    await insertOwn(MailServer, server, session);
  });
  return server;
}

const ownMessage = (id = accountId) => insertMessage(id, { sender: 'billing@north.example' });
const settled = (message: MessageRecord) =>
  eventually(async () => {
    const now = await storedMessage(message);
    return now.settled_at !== undefined && now;
  });
const attempted = (message: MessageRecord) =>
  eventually(async () => {
    const { attempts } = await storedMessage(message);
    return attempts[0];
  });

/** A server that takes connections and says nothing. `connections` are the most that were open at once. */
async function silentServer(): Promise<{ port: number; connections: () => number }> {
  const sockets = new Set<Socket>();
  let most = 0;
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    most = Math.max(most, sockets.size);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, connections: () => most };
}

test('when an account has a server of its own, then its mail leaves by it, encrypted and logged in, over one connection', async () => {
  await setServer(accountId, { bounce_domain: 'bounces.north.example' });
  const messages = [await ownMessage(), await ownMessage(), await ownMessage()];

  for (const message of messages) expect((await settled(message)).state).toBe('accepted');
  expect(ownRelay.taken.map(({ from, isSecure, user }) => [from, isSecure, user])).toEqual(
    expect.arrayContaining(messages.map(({ _id }) => [`bounce+${wireId(_id)}@bounces.north.example`, true, 'ada'])),
  );
  expect(ownRelay.connections).toBe(1);
  expect(relay.connections).toBe(0);
});

test('when the domain of its sender has umlauts, then its mail does not need a server that knows them', async () => {
  await setServer(accountId, { from: 'rechnung@müller.example' });
  const message = await insertMessage(accountId, { sender: 'rechnung@müller.example' });

  expect((await settled(message)).state).toBe('accepted');
  expect(ownRelay.taken.map(({ isUtf8 }) => isUtf8)).toEqual([undefined]);
});

test('when the password is changed, then the next attempt logs in with the new one', async () => {
  await setServer(accountId, { secret: openSecretBox(workspace.secretKey).seal('wrong') });
  const message = await ownMessage();
  expect(await attempted(message)).toMatchObject({ code: '535', text: 'Wrong password' });

  await setServer(accountId);

  expect(await settled(message)).toMatchObject({ state: 'accepted' });
});

test('when the address of the sender is changed, then mail that waits leaves with the new one', async () => {
  await setServer(accountId, { secret: openSecretBox(workspace.secretKey).seal('wrong') });
  const document = await insertInvoice(accountId);
  const message = await insertMessage(accountId, { document, sender: 'billing@north.example' });
  await attempted(message);

  await setServer(accountId, { from: 'billing@south.example' });

  expect(await settled(message)).toMatchObject({ state: 'cancelled' });
  const anew = await Message.findOne({ account_id: accountId, _id: { $ne: message._id } }).lean<MessageRecord>();
  expect(anew?.recipients.map(({ address }) => address)).toEqual(['ada@example.com']);
  expect(anew && (await settled(anew))).toMatchObject({ state: 'accepted', sender: 'billing@south.example' });
  expect(ownRelay.taken.map(({ from }) => from)).toEqual(['billing@south.example']);
});

const DELETED = 'The mail server of the account was deleted';
const removeServer = () =>
  inUnit(accountId, async ({ session }) => {
    const server = await findMailServer(accountId, session);
    if (server) await removeOwn(MailServer, server, session);
  });

describe('when the server is deleted', () => {
  const STEP = { kind: 'reminder_1', reminder: { days: 3, amount_due: 12_300, currency: 'EUR' } } as const;
  const overdue = () => insertInvoice(accountId, { due_date: '2020-01-01' });
  const others = (message: MessageRecord) =>
    Message.find({ account_id: accountId, _id: { $ne: message._id } }).lean<MessageRecord[]>();
  afterEach(() => unregisterMailService());

  test.each(['invoice', 'reminder'])('then its %s leaves by the server of the installation, once', async (kind) => {
    await setUpMail();
    const reminders = [{ days: 3, template: 'reminder_1' }];
    await Account.updateOne({ _id: accountId }, { $set: { reminders } });
    const document = kind === 'invoice' ? await insertInvoice(accountId) : await overdue();
    const once = `reminder/${String(document.id)}/3`;
    const fields = kind === 'invoice' ? {} : { ...STEP, once };
    await setServer(accountId, { secret: openSecretBox(workspace.secretKey).seal('wrong') });
    const message = await insertMessage(accountId, { document, sender: 'billing@north.example', ...fields });
    await attempted(message);

    await removeServer();

    expect(await settled(message)).toMatchObject({ state: 'cancelled' });
    const [anew, ...more] = await others(message);
    expect(more).toEqual([]);
    expect(anew && (await settled(anew))).toMatchObject({ state: 'accepted', ...fields });
    expect([(await storedMessage(message)).once, anew?.sender]).toEqual([undefined, undefined]);
    expect(relay.taken.map(({ to }) => to)).toEqual([['ada@example.com']]);
  });

  test('and the installation has none, then its messages fail, and the step of a reminder is free for another one', async () => {
    const document = await overdue();
    const [plain, step] = [
      await ownMessage(),
      await insertMessage(accountId, {
        ...{ document, sender: 'billing@north.example', once: `reminder/${String(document.id)}/3` },
        ...STEP,
      }),
    ];

    expect((await settled(plain)).recipients).toMatchObject([{ state: 'failed', text: DELETED }]);
    expect(await settled(step)).toMatchObject({ state: 'cancelled', attempts: [{ text: DELETED }] });
    expect((await storedMessage(step)).once).toBeUndefined();
    expect((await findOwn(Invoice, accountId, document.id))?.reminder_due_at).toEqual(expect.any(Date));
    expect(relay.connections).toBe(0);
  });

  test('and a mail may have arrived, then it is not sent by another one', async () => {
    await setUpMail();
    const message = await insertMessage(accountId, {
      ...{ sender: 'billing@north.example', state: 'unknown', unknown_at: new Date() },
    });

    expect(await settled(message)).toMatchObject({ state: 'failed', recipients: [{ text: DELETED }] });
    expect(await others(message)).toEqual([]);
  });
});

test.each(['a certificate that nothing vouches for', 'no encryption'])(
  'when the server has %s, then neither password nor mail leaves',
  async (lack) => {
    if (lack === 'no encryption') await setServer(accountId, { port: relay.port });
    else {
      certified.distrust();
      await setServer(accountId);
    }
    const message = await ownMessage();

    expect((await attempted(message))?.text).toMatch(/certificate|command not recognized/);
    expect((await storedMessage(message)).state).toBe('queued');
    expect([ownRelay.taken, relay.taken, relay.named]).toEqual([[], [], []]);
  },
);

describe('an account with a server that does not answer', () => {
  beforeEach(async () => await restart({ timeoutMs: SHORT_TIMEOUT_MS }));

  test('when it has many mails, then it holds one slot, and its neighbours, with and without own servers, do not wait', async () => {
    const silent = await silentServer();
    await setServer(accountId, { port: silent.port });
    for (let index = 0; index < 30; index += 1) await ownMessage();
    await eventually(() => silent.connections() > 0);
    const { id: neighbour } = await workspace.account();
    const { id: withOwn } = await workspace.account();
    await setServer(withOwn);
    const mails = [await insertMessage(neighbour), await ownMessage(withOwn), await insertMessage(neighbour)];

    // The silent server is waited for meanwhile.
    for (const mail of mails) expect((await settled(mail)).state).toBe('accepted');
    expect(silent.connections()).toBe(1);
  });

  test('when its connection is tested, then the test ends, and says why', async () => {
    const silent = await silentServer();
    await setServer(accountId, { port: silent.port, test: { requested_at: new Date() }, test_due_at: new Date() });

    await testMailServers(own);

    const server = await findMailServer(accountId);
    expect(server?.test).toMatchObject({
      has_passed: false,
      text: expect.stringMatching(/Greeting|Timeout|took too long/),
    });
    expect(server?.test_due_at).toBeUndefined();
  });
});

test.each([
  ['takes the login', 'p@ss', { has_passed: true }],
  ['refuses the login', 'wrong', { has_passed: false, code: '535', text: 'Wrong password' }],
])(
  'when a test is due and the server %s, then the record says it, and no mail leaves',
  async (_what, password, expected) => {
    const secret = openSecretBox(workspace.secretKey).seal(password);
    await setServer(accountId, { secret, test: { requested_at: new Date() }, test_due_at: new Date() });

    await testMailServers(own);

    expect((await findMailServer(accountId))?.test).toMatchObject({ ...expected, at: expect.any(Date) });
    expect(ownRelay.taken).toEqual([]);
  },
);

test('when the address is not public, then nothing is dialled, and the record does not say why', async () => {
  await restart({ dial: openMailDialler({ allow: '' }) });
  const { id: other } = await workspace.account();
  await setServer(accountId);
  await setServer(other, { host: 'no-such-name.invalid', port: 587 });

  const attempts = [await attempted(await ownMessage()), await attempted(await ownMessage(other))];

  const same = { text: 'The mail server cannot be reached', duration_ms: undefined, code: undefined };
  expect(attempts.map(({ text, duration_ms, code }) => ({ text, duration_ms, code }))).toEqual([same, same]);
  expect(ownRelay.connections).toBe(0);
});

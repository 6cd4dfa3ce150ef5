// No mail waits for longer because another one has a fault, a service stops, its account is busy, or it was set aside before its repair.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { retryMessage } from '#libs/billing/messages/retry-message.ts';
import { appError } from '#libs/errors.ts';
import { sendMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Message } from '#libs/models/messages/message.ts';
import { forgetTriesInWork, openTries, openTryAgain, RoundTry, TRIES_MAX } from '#libs/models/operations/round-try.ts';
import { acrossAccounts, newId, storedId, wireId } from '#libs/models/tenant.ts';
import { enqueueDueMessages } from '../../../services/mail/enqueue-due-messages.ts';
import { makeSendMessage } from '../../../services/mail/send-message.ts';
import { eventually } from '../../support/eventually.ts';
import { insertMessage, inUnit, storedMessage } from '../../support/messages.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { openWorkspace, testLog, type Workspace } from '../../support/workspace.ts';

const DAY_MS = 24 * 3_600_000;
let workspace: Workspace;
let queues: Queues;
let accountId: string;
beforeAll(async () => {
  workspace = await openWorkspace();
  queues = await openReadyQueues(workspace);
  ({ id: accountId } = await workspace.account());
});
afterEach(async () => {
  await queues.raw(sendMail).drain();
  await Message.deleteMany({}).setOptions(acrossAccounts);
  await RoundTry.collection.deleteMany({});
});
afterAll(async () => {
  await queues.close();
  await workspace.close();
});

test('when messages that were half sent cannot be changed, then the others are enqueued, and these are looked at again later', async () => {
  const past = new Date(Date.now() - 60_000);
  const abandoned = { state: 'sending', lease_id: newId(), lease_until: past, due_at: past } as const;
  const broken = await insertMessage((await workspace.account()).id, abandoned);
  // No version of the service stores a message without recipients.
  await Message.collection.updateOne({ _id: broken._id as never }, { $unset: { recipients: 1 } });
  await insertMessage(accountId);

  const round = enqueueDueMessages({ queues, retryScale: 1, onEvents: () => undefined });

  await expect(round).rejects.toThrow('1 messages that were half sent could not be changed');
  expect((await queues.counts(sendMail)).ready).toBe(1);
  expect((await storedMessage(broken)).due_at?.getTime()).toBeGreaterThan(Date.now());
});

test('when a service stops in order while it works on a record, then that try does not count', async () => {
  const record = { id: storedId(newId()), accountId };
  const countOf = async () => (await RoundTry.findOne({ account_id: accountId, record_id: record.id }).lean())?.tries;
  const tryAgain = openTryAgain('attempts of mails');
  for (let stops = 0; stops < TRIES_MAX; stops += 1) {
    void tryAgain(record, () => new Promise(() => undefined));
    await eventually(async () => (await countOf()) === 1);
    await forgetTriesInWork();
    await eventually(async () => (await countOf()) === undefined);
  }
});

test('when the account of a record is busy, then the try does not count, and the round goes on', async () => {
  const record = { id: storedId(newId()), accountId };
  const busy = appError('record_busy');

  for (let rounds = 0; rounds <= TRIES_MAX; rounds += 1) {
    const tries = await openTries('overdue invoices', new Date());
    expect(await tries.run(record, () => Promise.reject(busy))).toEqual({ isDone: false, error: busy });
  }
  // A majority read may lack the last removal.
  expect(await RoundTry.countDocuments({ account_id: accountId }).readConcern('local')).toBe(0);
});

test('when an operator retries a message that is set aside, then an attempt is made at once', async () => {
  const tomorrow = new Date(Date.now() + DAY_MS);
  const message = await insertMessage(accountId, {
    revision: 4,
    attempts_made: 3,
    next_at: tomorrow,
    due_at: tomorrow,
  });
  const tries = await openTries('attempts of mails', new Date());
  for (let times = 0; times < TRIES_MAX; times += 1)
    await tries.run({ id: message._id, accountId }, () => Promise.reject(new Error('a fault of this program')));
  expect(await RoundTry.countDocuments({ account_id: accountId, retry_at: { $gt: new Date() } })).toBe(1);

  expect(await inUnit(accountId, (unit) => retryMessage(unit, wireId(message._id)))).toMatchObject({ hastened: {} });
  let attempts = 0;
  const send = makeSendMessage({
    async wayOf() {
      attempts += 1;
      return { notYet: 'no server' };
    },
    mailOf: () => Promise.reject(new Error('is not reached')),
    ...{ leaseMs: 10_000, retryScale: 1, onEvents: () => undefined, onOutcome: () => undefined },
  });
  const context = { log: testLog, signal: new AbortController().signal, isFirstRun: true };
  await send({ messageId: wireId(message._id), accountId }, context as never);

  expect(attempts).toBe(1);
  expect((await storedMessage(message)).attempts_made).toBe(4);
});

// A mail service is killed at each step of an attempt, and another one sends what is left: each mail once, or twice if its contents had left.
import assert from 'node:assert/strict';
import { sendMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { driverOf, findOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { eventually } from '../eventually.ts';
import { setUpMail, storedMessage } from '../messages.ts';
import { openSmtpRelay, type Relay } from '../smtp-relay.ts';
import { launchService, spawnService } from '../spawn-service.ts';
import { madeBy } from './billing-world.ts';
import { type CrashPoint, nameOf, stepsIn, watchedService } from './crash-points.ts';
import { callerOf, type Trials, whenDead } from './trial.ts';

/** The transactions of the first attempt, in their order. The message was acquired by an update of its own. */
export const MAIL_TRANSACTIONS = ['keep the mail and begin sending', 'record the answer'] as const;
const RECORD = MAIL_TRANSACTIONS.length;
const AN_HOUR_MS = 3_600_000;
const SENT_LIMIT_MS = 60_000;

export interface MailTrials extends Trials {
  /** The queues of the services, which are emptied. */
  queues: Queues;
}

interface Killed {
  message: MessageRecord;
  point: CrashPoint;
  /** True when the server had the mail, and the record did not say so yet. */
  mayBeTwice: boolean;
}

/** @returns the steps of each transaction of an attempt. */
export async function learnMail(trials: MailTrials): Promise<string[][]> {
  return withRelay(async (relay) => {
    const message = await queuedMail(trials);
    const service = await spawnService('mail', trials.workspace, settings(relay, watchedService()));
    try {
      await accepted(message);
      return await eventually(() => {
        const steps = stepsIn(service.output());
        // A busy machine may repeat the last transaction.
        return steps.length >= RECORD && steps.slice(0, RECORD);
      });
    } finally {
      await service.stop();
    }
  });
}

/**
 * Kills a mail service at each point, empties its queue each time, and starts one that survives.
 * @returns the points at which a mail was lost, or left once too often.
 */
export async function tryMail(trials: MailTrials, points: readonly CrashPoint[]): Promise<string[]> {
  return withRelay(async (relay) => {
    const killed: Killed[] = [];
    for (const point of points) {
      const message = await queuedMail(trials);
      await whenDead(await launchService('mail', trials.workspace, settings(relay, watchedService(point))));
      await trials.queues.raw(sendMail).obliterate({ force: true });
      // The next one that dies must find no other mail.
      await driverOf(Message).updateOne({ _id: message._id } as object, { $set: { due_at: inAnHour() } });
      const { state } = await storedMessage(message);
      killed.push({ message, point, mayBeTwice: copiesOf(relay, message).length > 0 && state !== 'accepted' });
    }
    for (const {
      message: { _id },
    } of killed)
      await leaseEnds(_id);
    const survivor = await spawnService('mail', trials.workspace, settings(relay));
    const failures: string[] = [];
    for (const one of killed) {
      await judge(one, relay).catch((error: Error) => failures.push(error.message));
    }
    await survivor.stop();
    return failures;
  });
}

async function judge({ message, point, mayBeTwice }: Killed, relay: Relay): Promise<void> {
  const what = `a mail, killed ${nameOf(point)}`;
  const { unknown_at } = await accepted(message).catch(() => assert.fail(`${what}: lost`));
  const copies = copiesOf(relay, message);
  assert.equal(copies.length, mayBeTwice ? 2 : 1, `${what}: left ${copies.length} times`);
  if (mayBeTwice) assert.ok(unknown_at, `${what}: a second copy of a mail that was not unknown`);
  assert.equal(new Set(copies.map(({ source }) => source)).size, 1, `${what}: the copies differ`);
}

function copiesOf({ taken }: Relay, { recipients }: MessageRecord): Relay['taken'] {
  return taken.filter(({ to }) => to[0] === recipients[0]?.address);
}

function accepted(message: MessageRecord): Promise<MessageRecord> {
  return eventually(async () => {
    const now = await storedMessage(message);
    return now.state === 'accepted' && now;
  }, SENT_LIMIT_MS);
}

async function queuedMail({ workspace, gateway }: MailTrials): Promise<MessageRecord> {
  const account = await workspace.account();
  const call = callerOf(gateway, account);
  await setUpMail();
  const { id } = await (await madeBy(call)).invoice();
  const to = [`${account.id}@example.com`];
  const message = await call('POST', `/invoices/${id}/send`, { to, attach_pdf: false, include_link: false });
  return requireMessage(account.id, message.id);
}

async function requireMessage(accountId: Id, id: Id): Promise<MessageRecord> {
  const found = await findOwn(Message, accountId, id);
  assert.ok(found);
  return found;
}

/** Lets the lease of the dead process end now. */
async function leaseEnds(_id: MessageRecord['_id']): Promise<void> {
  const now = new Date();
  await driverOf(Message).updateOne({ _id, lease_until: { $exists: true } } as object, { $set: { lease_until: now } });
  await driverOf(Message).updateOne({ _id } as object, { $set: { due_at: now } });
}

const inAnHour = () => new Date(Date.now() + AN_HOUR_MS);

function settings(relay: Relay, env: Record<string, string> = {}): Record<string, string> {
  return { SMTP_URL: relay.url, MAIL_FROM: 'billing@example.com', MAIL_RETRY_SCALE: '0.001', ...env };
}

async function withRelay<Result>(work: (relay: Relay) => Promise<Result>): Promise<Result> {
  const relay = await openSmtpRelay();
  try {
    return await work(relay);
  } finally {
    await relay.close();
  }
}

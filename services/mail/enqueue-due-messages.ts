// The poller. It enqueues messages that are due, and ends what a dead worker left half sent.
import { groupBy } from 'es-toolkit/array/groupBy';
import { partition } from 'es-toolkit/array/partition';
import { moveMessage } from '#libs/billing/messages/move-message.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { sendMail, sendOwnMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { findOwn } from '#libs/models/records.ts';
import { collectFailures } from '#libs/models/rounds.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { mailJob } from './mail-job.ts';
import { repetitionAt } from './retry-schedule.ts';
import { countEnqueued, type DueMessage, findDueMessages, lookAgain } from './store/due-messages.ts';

/** The messages that one round looks at. */
const LOOKED_AT = 1_000;
/** The messages that one round enqueues. */
const ENQUEUED_MAX = 200;
/** The number of ready jobs above which the backlog of an account waits in MongoDB, which is divided fairly later. */
const QUEUED_MAX = 200;
/** The messages of each account that are enqueued even then: those of others must not wait until the queue is shorter. */
const ALWAYS_QUEUED = 20;
/** The time after which a message that is due and was enqueued is enqueued again, in case Redis has lost the job. */
const ENQUEUE_GRACE_MS = 10_000;
/** The time after which the poller looks again at messages behind the first one for an own server, which one job sends in turn. */
const TURN_GRACE_MS = 60_000;

export interface PollOptions {
  queues: Queues;
  retryScale: number;
  /** Called when events were written. */
  onEvents: () => void;
}

/**
 * Looks at due messages once.
 * @returns true when there is more.
 * @throws while MongoDB or Redis is unavailable; the messages stay due.
 */
export async function enqueueDueMessages({ queues, retryScale, onEvents }: PollOptions): Promise<boolean> {
  const now = agreedTime();
  const due = await findDueMessages(LOOKED_AT);
  if (due.length === 0) return false;
  const [leased, free] = partition(due, ({ lease_until }) => lease_until !== undefined && lease_until.getTime() > now);
  const [abandoned, waiting] = partition(free, ({ state }) => state === 'sending');
  await lookAgain(leased, ({ lease_until }) => lease_until as Date);
  const [own, others] = partition(waiting, ({ sender }) => sender !== undefined);
  const more = [await enqueue(queues, sendMail, others, now), await enqueueTurns(queues, own, now)];
  // This comes after enqueueing, because it waits for accounts and may fail.
  await loseAll(abandoned, { retryScale, onEvents });
  return waiting.length === 0 ? due.length >= LOOKED_AT : more.includes(true);
}

/** Enqueues messages that wait, unless the queue is paused, and only a few of each account when it is full. @returns true when there is more. */
async function enqueue(
  queues: Queues,
  job: typeof sendMail,
  waiting: readonly DueMessage[],
  now: number,
): Promise<boolean> {
  if (waiting.length === 0) return false;
  const [{ ready }, isPaused] = await Promise.all([queues.counts(job), queues.raw(job).isPaused()]);
  if (isPaused) return false;
  const enqueued = await countEnqueued(LOOKED_AT, new Date(now), new Date(now + ENQUEUE_GRACE_MS));
  const isFull = ready > QUEUED_MAX;
  const chosen = inTurns(waiting, enqueued)
    .filter(({ behind }) => !isFull || behind < ALWAYS_QUEUED)
    .slice(0, ENQUEUED_MAX);
  await queues.enqueueAll(
    job,
    chosen.map(({ message, behind }) => mailJob(message, behind)),
  );
  // This comes after enqueueing, so that a message that did not get on the queue is still due.
  const again = new Date(now + ENQUEUE_GRACE_MS);
  await lookAgain(
    chosen.map(({ message }) => message),
    () => again,
  );
  return !isFull && chosen.length < waiting.length && ready + chosen.length <= QUEUED_MAX;
}

/** Enqueues the first message of each account for its own server. Its job goes on with the others, see take-turns.ts. */
async function enqueueTurns(queues: Queues, waiting: readonly DueMessage[], now: number): Promise<boolean> {
  const [first, behind] = partition(inTurns(waiting, new Map()), (one) => one.behind === 0);
  const messagesOf = (turns: typeof first) => turns.map(({ message }) => message);
  const hasMore = await enqueue(queues, sendOwnMail, messagesOf(first), now);
  const again = new Date(now + TURN_GRACE_MS);
  await lookAgain(messagesOf(behind), () => again);
  return hasMore;
}

/**
 * Returns the first message of every account, then the second of every account, and so on.
 * @param enqueued the messages of each account that are on the queue already, which are before its others.
 */
function inTurns(
  messages: readonly DueMessage[],
  enqueued: ReadonlyMap<Id, number>,
): { message: DueMessage; behind: number }[] {
  const byAccount = Object.entries(groupBy(messages, ({ account_id }) => wireId(account_id)));
  return byAccount
    .flatMap(([id, own]) => own.map((message, index) => ({ message, behind: (enqueued.get(id) ?? 0) + index })))
    .toSorted((one, other) => one.behind - other.behind);
}

/** Records of each that nothing is known of it: its worker died after contents had begun to leave. */
async function loseAll(messages: readonly DueMessage[], { retryScale, onEvents }: Omit<PollOptions, 'queues'>) {
  const failures = collectFailures();
  const failed: DueMessage[] = [];
  for (const one of messages) {
    const { _id, account_id } = one;
    try {
      const accountId = wireId(account_id);
      const { hasEvents } = await runUnitOfWork({ accountId, by: { type: 'mail' } }, async (unit) => {
        const message: MessageRecord | null = await findOwn(Message, accountId, _id, unit.session);
        if (!message) return;
        const now = agreedDate();
        const facts = { now };
        const attempt = { at: now, text: 'The process that sent it ended before the server answered' };
        const nextAt = repetitionAt(now, retryScale);
        if (message.unknown_at)
          await moveMessage(unit, message, { move: 'loseAbandonedAgain', facts, values: { settledAt: now, attempt } });
        else
          await moveMessage(unit, message, {
            move: 'loseAbandoned',
            facts,
            values: { nextAt, dueAt: nextAt, unknownAt: now, attempt },
          });
      });
      if (hasEvents) onEvents();
    } catch (error) {
      failures.add(String(_id), error);
      failed.push(one);
    }
  }
  // Others would not come into view behind hundreds of these.
  const again = new Date(agreedTime() + ENQUEUE_GRACE_MS);
  await lookAgain(failed, () => again);
  failures.report((count) => `${count} messages that were half sent could not be changed`);
}

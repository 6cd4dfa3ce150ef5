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
import { wireId } from '#libs/models/tenant.ts';
import { mailJob } from './mail-job.ts';
import { repetitionAt } from './retry-schedule.ts';
import { type DueMessage, findDueMessages, lookAgain } from './store/due-messages.ts';

/** The messages that one round looks at. */
const LOOKED_AT = 1_000;
/** The messages that one round enqueues. */
const ENQUEUED_MAX = 200;
/** The number of ready jobs above which the poller waits: what stays in MongoDB is divided fairly later. */
const QUEUED_MAX = 200;
/** The time after which a message that is due and was enqueued is enqueued again, in case Redis has lost the job. */
const ENQUEUE_GRACE_MS = 10_000;

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
  await loseAll(abandoned, { retryScale, onEvents });
  if (waiting.length === 0) return due.length >= LOOKED_AT;
  const [own, others] = partition(waiting, ({ sender }) => sender !== undefined);
  const more = [await enqueue(queues, sendMail, others, now), await enqueue(queues, sendOwnMail, own, now)];
  return more.includes(true);
}

/** Enqueues messages that wait, unless the queue is full or paused. @returns true when there is more. */
async function enqueue(
  queues: Queues,
  job: typeof sendMail,
  waiting: readonly DueMessage[],
  now: number,
): Promise<boolean> {
  if (waiting.length === 0) return false;
  const [{ ready }, isPaused] = await Promise.all([queues.counts(job), queues.raw(job).isPaused()]);
  if (isPaused || ready > QUEUED_MAX) return false;
  const chosen = inTurns(waiting).slice(0, ENQUEUED_MAX);
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
  return chosen.length < waiting.length && ready + chosen.length <= QUEUED_MAX;
}

/** Returns the first message of every account, then the second of every account, and so on. */
function inTurns(messages: readonly DueMessage[]): { message: DueMessage; behind: number }[] {
  const byAccount = Object.values(groupBy(messages, ({ account_id }) => wireId(account_id)));
  return byAccount
    .flatMap((own) => own.map((message, behind) => ({ message, behind })))
    .toSorted((one, other) => one.behind - other.behind);
}

/** Records of each that nothing is known of it: its worker died after contents had begun to leave. */
async function loseAll(messages: readonly DueMessage[], { retryScale, onEvents }: Omit<PollOptions, 'queues'>) {
  const failures = collectFailures();
  for (const { _id, account_id } of messages) {
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
    }
  }
  failures.report((count) => `${count} messages that were half sent could not be changed`);
}

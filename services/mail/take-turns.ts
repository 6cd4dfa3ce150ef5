// Accounts with a mail server of their own take turns: one mail of an account at a time, so that a server that hangs holds one slot.
import { agreedTime } from '#libs/clock.ts';
import type { SendMail } from '#libs/jobs/catalog.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import type { Id } from '#libs/models/tenant.ts';
import { findNextOwnMessage } from './store/due-messages.ts';

/** The time after which an account gives its slot to the next one. */
const TURN_MS = 60_000;

/**
 * Returns a handler that goes on with the other messages of the account, over the connection that it has. The job of a message
 * whose account has its turn does nothing: the message is due, and is sent in this turn or the next.
 */
export function takeTurns(send: JobHandler<SendMail>): JobHandler<SendMail> {
  const running = new Set<Id>();
  return async (job, context) => {
    const { accountId } = job;
    if (running.has(accountId)) return;
    running.add(accountId);
    try {
      const until = agreedTime() + TURN_MS;
      let next: SendMail | undefined = job;
      while (next && agreedTime() < until && !context.signal.aborted) {
        await send(next, context);
        next = await findNextOwnMessage(accountId);
      }
    } finally {
      running.delete(accountId);
    }
  };
}

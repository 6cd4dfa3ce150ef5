// The job of one attempt: acquires the message, makes its mail if there is none yet, hands it over and records what became of it.
import { randomUUID } from 'node:crypto';
import { moveMessage } from '#libs/billing/messages/move-message.ts';
import { reasonToWithdraw, withdrawMessage } from '#libs/billing/messages/withdraw-message.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { SendMail } from '#libs/jobs/catalog.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { isFollowing } from '#libs/models/messages/message-moves.ts';
import { suppressedOf } from '#libs/models/messages/suppression.ts';
import { openTryAgain } from '#libs/models/operations/round-try.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type Attempted, type Conclusion, conclusionOf, conclusionWithout, hasIt } from './conclude-attempt.ts';
import { type HandOver, handOver } from './smtp/hand-over.ts';
import { withoutReply } from './smtp/smtp-reply.ts';
import { extendLease } from './store/due-messages.ts';
import type { WayOf } from './way-out.ts';

/** A lease is extended this often while it lasts. */
const EXTENSIONS = 3;

/** The mail of a message, or why there is none. */
export type MadeMail =
  | { bytes: Buffer; message: MessageRecord }
  /** It cannot be made now, and can be later. */
  | { notYet: string }
  /** The lease is lost. */
  | { lost: true }
  /** The document is not to be sent any more. */
  | { withdrawn: string }
  /** It can never be sent, such as one that is too large. */
  | { impossible: string };

/**
 * Returns the same mail at every attempt.
 * @param signal aborts when the service stops.
 */
export type MailOf = (message: MessageRecord, leaseId: string, signal: AbortSignal) => Promise<MadeMail>;

export interface SendOptions {
  wayOf: WayOf;
  mailOf: MailOf;
  /** The time after which another worker takes the message of a worker that has died. */
  leaseMs: number;
  retryScale: number;
  /** Called when events were written. */
  onEvents: () => void;
  onOutcome: (
    outcome: HandOver['outcome'] | 'impossible' | 'withdrawn' | 'not made',
    durationMs: number,
    isOwn: boolean,
  ) => void;
}

interface Lease {
  id: string;
  message: MessageRecord;
}

export function makeSendMessage(options: SendOptions): JobHandler<SendMail> {
  const tryAgain = openTryAgain('attempts of mails');

  return async ({ messageId, accountId }, { log, signal }) => {
    const held: { lease?: Lease | undefined } = {};
    const record = { id: storedId(messageId), accountId };
    const tried = await tryAgain(record, async () => {
      held.lease = await acquire(accountId, messageId);
      if (held.lease) await attempt(held.lease, signal, log);
    });
    if (tried.isDone) return;
    const { setAside, retryAt, error } = tried;
    if (setAside)
      log.error({ err: error, errorId: setAside.id, messageId }, 'this message is set aside and tried again in a day');
    // After a failure the lease still belongs to this worker.
    const lease = retryAt && (held.lease ?? (await acquire(accountId, messageId)));
    if (lease) await postpone(lease, retryAt);
    if (error) throw error;
  };

  async function acquire(accountId: Id, messageId: Id): Promise<Lease | undefined> {
    return retryWhileUnavailable(async () => {
      const id = randomUUID();
      const message = await inUnit(accountId, async (unit) => {
        const found: MessageRecord | null = await findOwn(Message, accountId, storedId(messageId), unit.session);
        if (!found) return undefined;
        const now = agreedDate();
        const leaseUntil = new Date(now.getTime() + options.leaseMs);
        const move = found.state === 'unknown' ? 'acquireUnknown' : 'acquire';
        const values = { leaseId: id, leaseUntil, dueAt: leaseUntil };
        return moveMessage(unit, found, { move, facts: { now }, values });
      });
      return message && { id, message };
    });
  }

  async function attempt(lease: Lease, signal: AbortSignal, log: Logger): Promise<void> {
    const stopExtending = keepLease(lease);
    try {
      await send(lease, signal, log);
    } finally {
      stopExtending();
    }
  }

  async function send({ id: leaseId, message }: Lease, signal: AbortSignal, log: Logger): Promise<void> {
    const accountId = wireId(message.account_id);
    const messageId = wireId(message._id);
    const addresses = message.recipients.map(({ address }) => address);
    const refused = await suppressedOf(accountId, addresses);
    const suppressed = message.recipients.flatMap((one, index) =>
      isFollowing(one) && refused.has(one.address) ? [index] : [],
    );
    const to = message.recipients.flatMap((one, index) =>
      isFollowing(one) && !suppressed.includes(index) ? [one.address] : [],
    );
    const at = agreedDate();
    const attempted = (): Attempted => {
      const now = agreedDate();
      const durationMs = now.getTime() - at.getTime();
      return { message, leaseId, at, durationMs, suppressed, now, retryScale: options.retryScale };
    };
    const onOutcome = (outcome: Parameters<SendOptions['onOutcome']>[0], durationMs = 0) =>
      options.onOutcome(outcome, durationMs, message.sender !== undefined);
    if (to.length === 0) {
      onOutcome('impossible');
      return record(message, conclusionWithout(attempted(), 'Every recipient is suppressed'));
    }
    const way = await options.wayOf(message);
    if ('impossible' in way) {
      onOutcome('impossible');
      return record(message, conclusionWithout(attempted(), way.impossible));
    }
    if ('notYet' in way) {
      onOutcome('unreachable');
      return record(message, conclusionOf(attempted(), { outcome: 'unreachable', reply: withoutReply(way.notYet) }));
    }
    const made = await options.mailOf(message, leaseId, signal);
    if ('lost' in made) return;
    const withdraw = async (current: MessageRecord, reason: string) => {
      onOutcome('withdrawn');
      log.info({ messageId, text: reason }, 'the message is withdrawn');
      // Some of its recipients have it already.
      if (current.recipients.some(hasIt)) return record(current, conclusionWithout(attempted(), reason));
      const now = agreedDate();
      return write(accountId, (unit) => withdrawMessage(unit, current, { leaseId, reason, now }));
    };
    if ('withdrawn' in made) return withdraw(message, made.withdrawn);
    if ('impossible' in made) {
      onOutcome('impossible');
      return record(message, conclusionWithout(attempted(), made.impossible));
    }
    if ('notYet' in made) {
      onOutcome('not made');
      log.warn({ messageId, text: made.notYet }, 'the mail could not be made; it is tried again');
      return record(message, conclusionOf(attempted(), { outcome: 'unreachable', reply: withoutReply(made.notYet) }));
    }
    const { connections, returnPath: from } = way;
    let current = made.message;
    let reason: string | undefined;
    const begin = async (unit: UnitOfWork) => {
      reason = await reasonToWithdraw(unit, made.message);
      return reason ? undefined : moveMessage(unit, made.message, { move: 'beginSending', facts: { leaseId } });
    };
    const result = await handOver(connections, { envelope: { from, to }, bytes: made.bytes }, async () => {
      const begun = await retryWhileUnavailable(() => inUnit(accountId, begin));
      if (begun) current = begun;
      return begun !== undefined;
    });
    if (reason) return withdraw(made.message, reason);
    const { durationMs } = attempted();
    onOutcome(result.outcome, durationMs);
    const reply = result.outcome === 'stopped' ? undefined : result.reply;
    const { outcome } = result;
    log.info({ messageId, outcome, code: reply?.code, text: reply?.text, durationMs }, 'attempt made');
    // Another worker has the message, or it was cancelled.
    if (result.outcome === 'stopped') return;
    await record(current, conclusionOf({ ...attempted(), message: current }, result));
  }

  /** Records the end of the attempt. What the server has said must not be lost, so it is tried as long as the lease lasts. */
  async function record(message: MessageRecord, step: Conclusion): Promise<void> {
    await write(wireId(message.account_id), (unit) => moveMessage(unit, message, step));
  }

  async function write(accountId: Id, work: (unit: UnitOfWork) => Promise<unknown>): Promise<void> {
    const until = agreedTime() + options.leaseMs;
    for (;;) {
      try {
        await retryWhileUnavailable(() => inUnit(accountId, work));
        return;
      } catch (error) {
        if (agreedTime() >= until) throw error;
      }
    }
  }

  async function postpone({ id: leaseId, message }: Lease, nextAt: Date): Promise<void> {
    await record(message, { move: 'retryLater', facts: { leaseId }, values: { nextAt, dueAt: nextAt } });
  }

  /** Extends the lease until the returned function is called. If it is lost, contents no longer leave, see beginSending. */
  function keepLease({ id, message }: Lease): () => void {
    const extend = () => extendLease(message, id, new Date(agreedTime() + options.leaseMs));
    const timer = setInterval(() => void extend().catch(() => undefined), options.leaseMs / EXTENSIONS);
    return () => clearInterval(timer);
  }

  async function inUnit<Result>(accountId: Id, work: Parameters<typeof runUnitOfWork<Result>>[1]): Promise<Result> {
    const { result, hasEvents } = await runUnitOfWork({ accountId, by: { type: 'mail' } }, work);
    if (hasEvents) options.onEvents();
    return result;
  }
}

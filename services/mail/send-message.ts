// The job of one attempt: acquires the message, makes its mail if there is none yet, hands it over and records what became of it.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { archiveOf, followArchive, followed } from '#libs/billing/messages/archive-copies.ts';
import { type MessageStep, moveMessage } from '#libs/billing/messages/move-message.ts';
import { repeatReceipt } from '#libs/billing/messages/repeat-failed.ts';
import { hasIt, reasonToWithdraw, SENDER_GONE, withdrawMessage } from '#libs/billing/messages/withdraw-message.ts';
import { lookAfterFailure } from '#libs/billing/reminders/plan-reminder.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import type { SendMail } from '#libs/jobs/catalog.ts';
import type { JobHandler } from '#libs/jobs/worker.ts';
import { maskedReply } from '#libs/mail/masked.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { findMailService } from '#libs/models/messages/mail-service.ts';
import { Message, type MessageRecord, REPLY_LONGEST } from '#libs/models/messages/message.ts';
import { isFollowing, type MessageMoveValues } from '#libs/models/messages/message-moves.ts';
import type { MessageMove } from '#libs/models/messages/message-states.ts';
import { suppressedOf } from '#libs/models/messages/suppression.ts';
import { openTryAgain } from '#libs/models/operations/round-try.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type Attempted, type Conclusion, conclusionOf, conclusionWithout } from './conclude-attempt.ts';
import type { HeldMail } from './held-mail.ts';
import { openPlaces } from './places.ts';
import { type HandOver, handOver } from './smtp/hand-over.ts';
import { withoutReply } from './smtp/smtp-reply.ts';
import { acquireNew, extendLease } from './store/due-messages.ts';
import type { WayOf } from './way-out.ts';

/** A lease is extended this often while it lasts. */
const EXTENSIONS = 3;

/** The transactions in which the archive of the account is added to a message. */
const FOLLOW_TRIES = 3;

/** The pause after which the end of an attempt is written again. */
const WRITE_AGAIN_MS = 500;

/** A mail that was made for this attempt and must be kept with what comes of it, so that every other attempt sends the same. */
export interface UnkeptMail {
  /** The fields of the message that show the mail. */
  values: Pick<MessageMoveValues, 'subject' | 'attachments' | 'shown'>;
  /** Runs work with the function that keeps the mail. The form in which it is kept is in memory only meanwhile. */
  ready: <Result>(work: (keep: KeepMail) => Promise<Result>) => Promise<Result>;
}

export type KeepMail = (unit: UnitOfWork) => Promise<void>;

/** The fields and the write that keep a mail together with a move of its message. */
interface KeptWith {
  values: UnkeptMail['values'];
  keep: KeepMail;
}

/** The mail of a message, or why there is none. */
export type MadeMail =
  | { contents: HeldMail; unkept?: UnkeptMail }
  /** It cannot be made now, and can be later. */
  | { notYet: string }
  /** The document is not to be sent any more. */
  | { withdrawn: string }
  /** It can never be sent, such as one that is too large. */
  | { impossible: string };

/**
 * Returns the same mail at every attempt. The caller releases its contents.
 * @param attempt.isFirst true when no earlier attempt can have kept a mail.
 * @param attempt.signal aborts when the service stops.
 */
export type MailOf = (message: MessageRecord, attempt: { isFirst: boolean; signal: AbortSignal }) => Promise<MadeMail>;

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
  /** True when no worker had the message before. */
  isFirst: boolean;
}

export function makeSendMessage(options: SendOptions): JobHandler<SendMail> {
  const tryAgain = openTryAgain('attempts of mails');
  // Transactions of one account conflict: side by side, they would begin again and again.
  const enterTransaction = openPlaces();

  return async ({ messageId, accountId }, { log, signal, isFirstRun }) => {
    const first = isFirstRun ? await acquireFirst(accountId, messageId) : undefined;
    // A worker that dies leaves its lease, so the next attempt is counted.
    if (first) return attempt(first, signal, log);
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

  async function acquireFirst(accountId: Id, messageId: Id): Promise<Lease | undefined> {
    const id = randomUUID();
    const message = await retryWhileUnavailable(() => acquireNew(accountId, messageId, { id, ms: options.leaseMs }));
    return message && { id, message, isFirst: true };
  }

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
      return message && { id, message, isFirst: false };
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

  async function send(lease: Lease, signal: AbortSignal, log: Logger): Promise<void> {
    const { id: leaseId, isFirst } = lease;
    const message = await withPresentArchive(lease);
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
    const attempted = (current: MessageRecord): Attempted => {
      const now = agreedDate();
      const durationMs = now.getTime() - at.getTime();
      return { message: current, addresses, leaseId, at, durationMs, suppressed, now, retryScale: options.retryScale };
    };
    const end = (conclude: (attempted: Attempted) => Conclusion, mail?: KeptWith) =>
      record(message, (current) => conclude(attempted(current)), mail);
    const endWithout = (text: string) => end((one) => conclusionWithout(one, text));
    const endLater = (text: string) =>
      end((one) => conclusionOf(one, { outcome: 'unreachable', reply: withoutReply(text) }));
    const onOutcome = (outcome: Parameters<SendOptions['onOutcome']>[0], durationMs = 0) =>
      options.onOutcome(outcome, durationMs, message.sender !== undefined);
    if (to.length === 0) {
      onOutcome('impossible');
      return endWithout('Every recipient is suppressed');
    }
    const way = await options.wayOf(message);
    const withdraw = async (reason: string) => {
      onOutcome('withdrawn');
      log.info({ messageId, text: reason }, 'the message is withdrawn');
      // Some of its recipients have it already.
      if (message.recipients.some(hasIt)) return endWithout(reason);
      const now = agreedDate();
      return write(message, (unit, current) => withdrawMessage(unit, current, { leaseId, reason, now }));
    };
    if ('senderGone' in way) {
      // Its recipients must not get two that differ, and without any mail server only a reminder can wait for one.
      if (!message.unknown_at && (message.reminder || (await findMailService()))) return withdraw(SENDER_GONE);
      onOutcome('impossible');
      return endWithout(SENDER_GONE);
    }
    if ('notYet' in way) {
      onOutcome('unreachable');
      return endLater(way.notYet);
    }
    const made = await options.mailOf(message, { isFirst, signal });
    if ('withdrawn' in made) return withdraw(made.withdrawn);
    if ('impossible' in made) {
      onOutcome('impossible');
      return endWithout(made.impossible);
    }
    if ('notYet' in made) {
      onOutcome('not made');
      log.warn({ messageId, text: made.notYet }, 'the mail could not be made; it is tried again');
      return endLater(made.notYet);
    }
    const { connections, returnPath } = way;
    const { contents, unkept } = made;
    let hasBegun = false;
    let reason: string | undefined;
    const begin = (mail?: KeptWith) => async (unit: UnitOfWork) => {
      const current = await asStored(unit, message);
      reason = await reasonToWithdraw(unit, current, mail?.values.shown);
      if (reason) return undefined;
      return moveWithMail(unit, current, { move: 'beginSending', facts: { leaseId } }, mail);
    };
    try {
      const mail = { envelope: { from: returnPath, to }, contents };
      const result = await handOver(connections, mail, async () => {
        const begun = await withUnkept(unkept, (kept) => retryWhileUnavailable(() => inUnit(accountId, begin(kept))));
        hasBegun = begun !== undefined;
        return hasBegun;
      });
      if (reason) return await withdraw(reason);
      const { durationMs } = attempted(message);
      onOutcome(result.outcome, durationMs);
      const reply = result.outcome === 'stopped' ? undefined : result.reply;
      const { outcome } = result;
      const text = reply && maskedReply(reply.text, REPLY_LONGEST);
      log.info({ messageId, outcome, code: reply?.code, text, durationMs }, 'attempt made');
      // Another worker has the message, or it was cancelled.
      if (result.outcome === 'stopped') return;
      await withUnkept(hasBegun ? undefined : unkept, (kept) => end((one) => conclusionOf(one, result), kept));
    } finally {
      await contents.release();
    }
  }

  /** Returns the message with the address for blind copies that its account has now. */
  async function withPresentArchive({ id: leaseId, message }: Lease): Promise<MessageRecord> {
    const accountId = wireId(message.account_id);
    const archive = await archiveOf({ accountId }, await readAccount(accountId));
    if (!followed(message, archive)) return message;
    const follow = async (unit: UnitOfWork) => followArchive(unit, await asStored(unit, message), { archive, leaseId });
    // A transaction may not see the lease that was acquired a moment before. One that is lost is missed before the contents leave.
    for (let tries = 0; tries < FOLLOW_TRIES; tries += 1) {
      const changed = await retryWhileUnavailable(() => inUnit(accountId, follow));
      if (changed) return changed;
    }
    return message;
  }

  /** Records the end of the attempt. What the server has said must not be lost, so it is tried as long as the lease lasts. */
  async function record(
    message: MessageRecord,
    conclude: (current: MessageRecord) => Conclusion,
    mail?: KeptWith,
  ): Promise<void> {
    await write(message, async (unit, current) => {
      const ended = await moveWithMail(unit, current, conclude(current), mail);
      if (!ended) return;
      await lookAfterFailure(unit, ended);
      await repeatReceipt(unit, ended);
    });
  }

  async function write(
    message: MessageRecord,
    work: (unit: UnitOfWork, current: MessageRecord) => Promise<unknown>,
  ): Promise<void> {
    const accountId = wireId(message.account_id);
    const until = agreedTime() + options.leaseMs;
    for (;;) {
      try {
        await retryWhileUnavailable(() => inUnit(accountId, async (unit) => work(unit, await asStored(unit, message))));
        return;
      } catch (error) {
        if (agreedTime() >= until) throw error;
      }
      await pause(WRITE_AGAIN_MS);
    }
  }

  async function postpone({ id: leaseId, message }: Lease, nextAt: Date): Promise<void> {
    await record(message, () => ({ move: 'retryLater', facts: { leaseId }, values: { nextAt, dueAt: nextAt } }));
  }

  /** Extends the lease until the returned function is called. If it is lost, contents no longer leave, see beginSending. */
  function keepLease({ id, message }: Lease): () => void {
    const extend = () => extendLease(message, id, new Date(agreedTime() + options.leaseMs));
    const timer = setInterval(() => void extend().catch(() => undefined), options.leaseMs / EXTENSIONS);
    return () => clearInterval(timer);
  }

  async function inUnit<Result>(accountId: Id, work: Parameters<typeof runUnitOfWork<Result>>[1]): Promise<Result> {
    const leave = await enterTransaction(accountId);
    try {
      const { result, hasEvents } = await runUnitOfWork({ accountId, by: { type: 'mail' } }, work);
      if (hasEvents) options.onEvents();
      return result;
    } finally {
      leave();
    }
  }
}

/** Runs work with the mail in the form in which it is kept, or with nothing when it is kept already. */
function withUnkept<Result>(
  unkept: UnkeptMail | undefined,
  work: (mail?: KeptWith) => Promise<Result>,
): Promise<Result> {
  return unkept ? unkept.ready((keep) => work({ values: unkept.values, keep })) : work();
}

/** Returns the message with its recipients as they are now: a delivery report changes them during an attempt, too. */
async function asStored({ session, accountId }: UnitOfWork, message: MessageRecord): Promise<MessageRecord> {
  const stored: MessageRecord | null = await findOwn(Message, accountId, message._id, session);
  return stored ?? message;
}

/** Makes the move, and keeps the mail in the same transaction if it is not kept yet. */
async function moveWithMail<Name extends MessageMove>(
  unit: UnitOfWork,
  message: MessageRecord,
  step: MessageStep<Name>,
  mail: KeptWith | undefined,
): Promise<MessageRecord | undefined> {
  const moved = await moveMessage(unit, message, { ...step, values: { ...step.values, ...mail?.values } });
  if (moved) await mail?.keep(unit);
  return moved;
}

// Decides what follows from an attempt: which recipients have the mail, which never get it, and whether another attempt follows.
import type { MessageStep } from '#libs/billing/messages/move-message.ts';
import { hasIt } from '#libs/billing/messages/withdraw-message.ts';
import type { MailAttempt, MessageRecord } from '#libs/models/messages/message.ts';
import { isFollowing, type RecipientOutcome } from '#libs/models/messages/message-moves.ts';
import { nextAttemptAt, repetitionAt } from './retry-schedule.ts';
import type { HandOver, Refusal } from './smtp/hand-over.ts';
import { type SmtpReply, withoutReply } from './smtp/smtp-reply.ts';

export interface Attempted {
  /** The message as it is at the end of the attempt. */
  message: MessageRecord;
  /** The addresses of its recipients, in their order, as the attempt used them. The client may be anonymised since. */
  addresses: readonly string[];
  leaseId: string;
  at: Date;
  durationMs: number;
  /** The recipients, by their places, that were suppressed before the attempt. */
  suppressed: readonly number[];
  now: Date;
  retryScale: number;
}

/** The moves that end the lease of an attempt. */
export type Conclusion = MessageStep<
  'accept' | 'acceptRest' | 'giveUp' | 'retryLater' | 'withdraw' | 'lose' | 'loseAgain'
>;

/** Returns the move that records the attempt. */
export function conclusionOf(attempted: Attempted, result: Exclude<HandOver, { outcome: 'stopped' }>): Conclusion {
  const { message, leaseId, at, now, retryScale } = attempted;
  if (result.outcome === 'unknown') {
    const attempt = attemptOf(attempted, result.reply);
    const outcomes = suppressions(attempted);
    if (message.unknown_at)
      return { move: 'loseAgain', facts: { leaseId }, values: { settledAt: now, attempt }, outcomes };
    const nextAt = repetitionAt(now, retryScale);
    const values = { nextAt, dueAt: nextAt, unknownAt: now, attempt };
    return { move: 'lose', facts: { leaseId }, values, outcomes };
  }
  const refusals = result.outcome === 'unreachable' ? [] : result.refusals;
  const hidesTime = result.outcome === 'unreachable' && result.hidesTime;
  const attempt = attemptOf(attempted, result.reply, hidesTime);
  const sorted = sortOut(attempted, result, refusals);
  const nextAt =
    sorted.waiting.length > 0
      ? nextAttemptAt(
          { attemptsMade: message.attempts_made + 1, since: message.attempts[0]?.at ?? at, now },
          retryScale,
        )
      : undefined;
  const outcomes = [...suppressions(attempted), ...sorted.refused];
  if (nextAt) {
    const accepted = sorted.taken.map((index): RecipientOutcome => ({ index, move: 'accept', at: now }));
    return {
      move: 'retryLater',
      facts: { leaseId },
      values: { nextAt, dueAt: nextAt, attempt },
      outcomes: [...outcomes, ...accepted],
    };
  }
  return endOf(attempted, { hasLeft: hasLeft(result), taken: sorted.taken.length > 0, attempt }, [
    ...outcomes,
    // Tried for long enough.
    ...sorted.waiting.map((one) => refusalAt(one, now)),
  ]);
}

/** Returns the move of a message that is not sent at all: it is too large, or all its recipients are suppressed. */
export function conclusionWithout(attempted: Attempted, text: string): Conclusion {
  const attempt = attemptOf(attempted, withoutReply(text));
  const rest = attempted.message.recipients.flatMap((recipient, index) =>
    isFollowing(recipient) && !attempted.suppressed.includes(index)
      ? [refusalAt({ index, reply: withoutReply(text) }, attempted.now)]
      : [],
  );
  const outcomes = [...suppressions(attempted), ...rest];
  return endOf(attempted, { hasLeft: false, taken: false, attempt }, outcomes);
}

interface Placed {
  index: number;
  reply: SmtpReply;
}

/** Sorts the recipients of this attempt: the mail was taken for them, they are rejected for good, or they wait. */
function sortOut(
  { message, addresses, suppressed, now }: Attempted,
  result: HandOver,
  refusals: readonly Refusal[],
): { taken: number[]; refused: RecipientOutcome[]; waiting: Placed[] } {
  const byAddress = new Map(refusals.map(({ address, reply }) => [address, reply]));
  const sorted = { taken: [] as number[], refused: [] as RecipientOutcome[], waiting: [] as Placed[] };
  for (const [index, recipient] of message.recipients.entries()) {
    if (!isFollowing(recipient) || suppressed.includes(index)) continue;
    const reply = byAddress.get(addresses[index] as string);
    if (reply?.isPermanent) sorted.refused.push(refusalAt({ index, reply }, now));
    else if (reply) sorted.waiting.push({ index, reply });
    else if (result.outcome === 'taken') sorted.taken.push(index);
    else if (result.outcome === 'unreachable') sorted.waiting.push({ index, reply: result.reply });
  }
  return sorted;
}

/** Returns the move into the state in which the message stays. */
function endOf(
  { message, leaseId, now }: Attempted,
  { hasLeft: isSending, taken, attempt }: { hasLeft: boolean; taken: boolean; attempt: MailAttempt },
  outcomes: RecipientOutcome[],
): Conclusion {
  const values = { settledAt: now, attempt };
  const isAccepted = taken || message.recipients.some(hasIt);
  if (!isAccepted) return { move: 'giveUp', facts: { leaseId }, values, outcomes };
  const move = isSending ? 'accept' : 'acceptRest';
  return { move, facts: { leaseId }, values: { ...values, acceptedAt: message.accepted_at ?? now }, outcomes };
}

function hasLeft(result: HandOver): boolean {
  return result.outcome === 'taken' || (result.outcome === 'refused' && result.hasLeft);
}

function suppressions({ message, suppressed, now }: Attempted): RecipientOutcome[] {
  return [...message.recipients.entries()]
    .filter(([index, recipient]) => suppressed.includes(index) && isFollowing(recipient))
    .map(([index]) => ({ index, move: 'suppress', at: now }));
}

function refusalAt({ index, reply }: Placed, at: Date): RecipientOutcome {
  return { index, move: 'refuse', at, text: reply.text, ...(reply.code ? { code: reply.code } : {}) };
}

function attemptOf({ at, durationMs }: Attempted, { code, text }: SmtpReply, hidesTime = false): MailAttempt {
  return {
    at,
    ...(hidesTime ? {} : { duration_ms: durationMs }),
    ...(code ? { code } : {}),
    ...(text ? { text } : {}),
  };
}

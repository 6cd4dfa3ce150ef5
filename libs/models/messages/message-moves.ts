// Makes the filters and updates of messages from the table of moves. No other file changes the state of a message.
import { fieldsRemovedBy, fieldsSetBy, guardFilter } from '../moves.ts';
import type { MailAttachment, MailAttempt, MessageRecord, MessageState, Recipient, RecipientState } from './message.ts';
import { MESSAGE_ATTEMPTS_KEPT } from './message.ts';
import { MESSAGE_GUARDS, type MessageFacts } from './message-guards.ts';
import {
  FOLLOWING,
  MESSAGE_MOVES,
  MESSAGE_STATE_FIELDS,
  MESSAGE_STATE_TABLE,
  type MessageMove,
  type MessageMoveRow,
  RECIPIENT_MOVES,
  type RecipientMoveName,
} from './message-states.ts';

/** The values that a move writes besides the states and the end of a lease. */
export interface MessageMoveValues {
  nextAt?: Date;
  dueAt?: Date;
  leaseId?: string;
  leaseUntil?: Date;
  settledAt?: Date;
  unknownAt?: Date;
  acceptedAt?: Date;
  updatedAt?: Date;
  subject?: string;
  attachments?: MailAttachment[];
  shown?: string | undefined;
  /** An attempt that was made, for the log of the message. */
  attempt?: MailAttempt | undefined;
}

const STORED_AS = {
  nextAt: 'next_at',
  dueAt: 'due_at',
  leaseId: 'lease_id',
  leaseUntil: 'lease_until',
  settledAt: 'settled_at',
  unknownAt: 'unknown_at',
  acceptedAt: 'accepted_at',
  updatedAt: 'updated_at',
  subject: 'subject',
  attachments: 'attachments',
  shown: 'shown',
} as const satisfies Record<Exclude<keyof MessageMoveValues, 'attempt'>, string>;

const FIELDS = {
  field: 'state',
  storedAs: STORED_AS,
  states: MESSAGE_STATE_TABLE,
  stateFields: MESSAGE_STATE_FIELDS,
};

/** The end of one recipient, apart from its message. */
export interface RecipientOutcome {
  /** The place in `recipients`. */
  index: number;
  move: RecipientMoveName;
  code?: string | undefined;
  text?: string | undefined;
  at: Date;
}

/** Returns the filter under which the move is allowed. The caller adds id and account. */
export function messageGuard<Name extends MessageMove>(
  name: Name,
  facts: MessageFacts<(typeof MESSAGE_MOVES)[Name]['guards'][number]>,
): object {
  const { from, guards }: MessageMoveRow = MESSAGE_MOVES[name];
  return guardFilter(MESSAGE_GUARDS, { field: 'state', from, guards }, facts);
}

/**
 * Returns the update that makes the move.
 * @param recipients those of the record. They follow the message, except the `outcomes`.
 * @throws Error when the values do not belong to the new state, or an outcome is none of the recipient's moves.
 */
export function messageChange(
  name: MessageMove,
  { attempt, ...values }: MessageMoveValues,
  recipients: readonly Recipient[],
  outcomes: readonly RecipientOutcome[] = [],
) {
  const move: MessageMoveRow = MESSAGE_MOVES[name];
  const removed = fieldsRemovedBy(FIELDS, move);
  const raised = { ...(move.lease === 'ends' ? { revision: 1 } : {}), ...(attempt ? { attempts_made: 1 } : {}) };
  return {
    $set: {
      ...fieldsSetBy(name, FIELDS, move, values),
      ...recipientChanges(name, recipients, outcomes, values.updatedAt),
    },
    ...(removed.length > 0 ? { $unset: Object.fromEntries(removed.map((field) => [field, 1 as const])) } : {}),
    ...(Object.keys(raised).length > 0 ? { $inc: raised } : {}),
    ...(attempt ? { $push: { attempts: { $each: [attempt], $slice: -MESSAGE_ATTEMPTS_KEPT } } } : {}),
  };
}

/** Returns the update of recipients alone, as a delivery report changes them. */
export function recipientChange(recipients: readonly Recipient[], outcome: RecipientOutcome, updatedAt: Date) {
  return { $set: { updated_at: updatedAt, ...outcomeOf(recipients, outcome) } };
}

/** True when the recipient may make the move. */
export function canMove({ state }: Pick<Recipient, 'state'>, move: RecipientMoveName): boolean {
  return (RECIPIENT_MOVES[move].from as readonly RecipientState[]).includes(state);
}

/** True of a message that the erasure of its client ends. */
export function canErase({ state }: Pick<MessageRecord, 'state'>): boolean {
  return (MESSAGE_MOVES.erase.from as readonly MessageState[]).includes(state);
}

/** True of a recipient that is still to be tried. */
export function isFollowing({ state }: Pick<Recipient, 'state'>): boolean {
  return (FOLLOWING as readonly RecipientState[]).includes(state);
}

/** The fields of a new message that its move decides. */
export function newMessageState(name: 'plan' | 'queue', nextAt: Date) {
  const state: MessageState = MESSAGE_MOVES[name].to;
  return {
    state,
    next_at: nextAt,
    due_at: nextAt,
    revision: 0,
    attempts: [],
    attempts_made: 0,
    attachments: [],
  } satisfies Partial<MessageRecord>;
}

function recipientChanges(
  name: MessageMove,
  recipients: readonly Recipient[],
  outcomes: readonly RecipientOutcome[],
  at: Date | undefined,
) {
  const { to }: MessageMoveRow = MESSAGE_MOVES[name];
  const changes: Record<string, unknown> = {};
  for (const [index, recipient] of recipients.entries()) {
    const outcome = outcomes.find((one) => one.index === index);
    if (outcome) Object.assign(changes, outcomeOf(recipients, outcome));
    else if (to !== 'same' && isFollowing(recipient) && recipient.state !== to) {
      changes[`recipients.${index}.state`] = to;
      if (at) changes[`recipients.${index}.at`] = at;
    }
  }
  return changes;
}

function outcomeOf(recipients: readonly Recipient[], { index, move, code, text, at }: RecipientOutcome) {
  const recipient = recipients[index];
  if (!recipient || !canMove(recipient, move)) {
    throw new Error(`recipient ${index} is ${recipient?.state ?? 'unknown'} and cannot ${move}`);
  }
  const place = `recipients.${index}`;
  return {
    [`${place}.state`]: RECIPIENT_MOVES[move].to,
    [`${place}.at`]: at,
    ...(code === undefined ? {} : { [`${place}.code`]: code }),
    ...(text === undefined ? {} : { [`${place}.text`]: text }),
  };
}

/** Returns the update that notes a reply without a change of the state. */
export function recipientNote({ index, code, text, at }: Omit<RecipientOutcome, 'move'>) {
  const place = `recipients.${index}`;
  return {
    $set: {
      [`${place}.at`]: at,
      ...(code === undefined ? {} : { [`${place}.code`]: code }),
      ...(text === undefined ? {} : { [`${place}.text`]: text }),
    },
  };
}

// The state machine of a message and of each of its recipients: the fields of each state, and every move with its actor
// and its guards.
import type { MessageState, RecipientState } from './message.ts';
import type { MessageGuard } from './message-guards.ts';

/** The actor of a move. `round`: a planned round of the mail service or the scheduler. */
type MessageActor = 'caller' | 'operator' | 'worker' | 'round' | 'receiving server';

/** Fields that belong to a state. */
export const MESSAGE_STATE_FIELDS = ['next_at', 'due_at', 'lease_id', 'lease_until', 'settled_at'] as const;
type StateField = (typeof MESSAGE_STATE_FIELDS)[number];

interface State {
  meaning: string;
  /** The fields of the state. A move into the state removes all other state fields. */
  keeps: readonly StateField[];
}

const OPEN = ['next_at', 'due_at', 'lease_id', 'lease_until'] as const;

export const MESSAGE_STATE_TABLE: Readonly<Record<MessageState, State>> = {
  planned: { meaning: 'The caller named a time, which has not come.', keeps: ['next_at', 'due_at'] },
  queued: {
    meaning: 'An attempt is due, under way, or planned for later. The relay has not got the mail.',
    keeps: OPEN,
  },
  sending: { meaning: 'The mail goes to the relay, which has not said yet that it took it.', keeps: OPEN },
  accepted: { meaning: 'The relay took it for at least one recipient.', keeps: ['settled_at'] },
  unknown: {
    meaning:
      'The relay got the mail and did not say whether it took it. It is sent once more, with the same Message-ID.',
    keeps: OPEN,
  },
  failed: { meaning: 'The relay took it for no recipient.', keeps: ['settled_at'] },
  cancelled: { meaning: 'It was cancelled before it left.', keeps: ['settled_at'] },
};

export interface MessageMoveRow {
  by: MessageActor;
  /** The states before the move. Empty means that the message does not exist yet. */
  from: readonly MessageState[];
  /** `same` leaves the state as it is. */
  to: MessageState | 'same';
  /** Conditions that the write itself checks, besides `from`. */
  guards: readonly MessageGuard[];
  lease: 'none' | 'begins' | 'keeps' | 'ends';
}

/** The moves. Every change of a message's state is one of them, see message-moves.ts. */
export const MESSAGE_MOVES = {
  plan: { by: 'caller', from: [], to: 'planned', guards: ['isOnce'], lease: 'none' },
  queue: { by: 'caller', from: [], to: 'queued', guards: ['isOnce'], lease: 'none' },

  /** A worker takes a message whose time has come. */
  acquire: { by: 'worker', from: ['planned', 'queued'], to: 'queued', guards: ['isReady', 'isFree'], lease: 'begins' },
  acquireUnknown: { by: 'worker', from: ['unknown'], to: 'unknown', guards: ['isReady', 'isFree'], lease: 'begins' },
  extendLease: {
    by: 'worker',
    from: ['queued', 'unknown', 'sending'],
    to: 'same',
    guards: ['ownsLease'],
    lease: 'keeps',
  },
  /** The last step before the contents of the mail leave. */
  beginSending: { by: 'worker', from: ['queued', 'unknown'], to: 'sending', guards: ['ownsLease'], lease: 'keeps' },
  accept: { by: 'worker', from: ['sending'], to: 'accepted', guards: ['ownsLease'], lease: 'ends' },
  /** Others took it, and these recipients are never tried again. */
  acceptRest: { by: 'worker', from: ['queued', 'unknown'], to: 'accepted', guards: ['ownsLease'], lease: 'ends' },
  retryLater: {
    by: 'worker',
    from: ['queued', 'sending', 'unknown'],
    to: 'queued',
    guards: ['ownsLease'],
    lease: 'ends',
  },
  giveUp: { by: 'worker', from: ['queued', 'sending', 'unknown'], to: 'failed', guards: ['ownsLease'], lease: 'ends' },
  /** The document is no longer to be sent: it was cancelled, or nothing is due of it any more. */
  withdraw: { by: 'worker', from: ['queued', 'unknown'], to: 'cancelled', guards: ['ownsLease'], lease: 'ends' },

  /** The worker got no answer after the contents of the mail. */
  lose: { by: 'worker', from: ['sending'], to: 'unknown', guards: ['ownsLease', 'isFirstDoubt'], lease: 'ends' },
  loseAgain: { by: 'worker', from: ['sending'], to: 'failed', guards: ['ownsLease', 'isRepeated'], lease: 'ends' },
  /** The worker died after it had begun to send. */
  loseAbandoned: { by: 'round', from: ['sending'], to: 'unknown', guards: ['isFree', 'isFirstDoubt'], lease: 'ends' },
  loseAbandonedAgain: { by: 'round', from: ['sending'], to: 'failed', guards: ['isFree', 'isRepeated'], lease: 'ends' },

  /** The poller looks at it again later: it is on the queue, a worker has it, or the end of its attempt could not be written. */
  lookAgain: {
    by: 'round',
    from: ['planned', 'queued', 'sending', 'unknown'],
    to: 'same',
    guards: ['isAsRead'],
    lease: 'keeps',
  },

  /** The mail server works again, and the message need not wait for its next attempt. */
  hasten: { by: 'operator', from: ['queued'], to: 'same', guards: ['isLater', 'isFree'], lease: 'ends' },

  cancel: { by: 'caller', from: ['planned', 'queued'], to: 'cancelled', guards: ['isFree'], lease: 'ends' },
  /**
   * The client was anonymised. A worker that has a lease loses it. One that is being sent makes this move as soon as its
   * attempt ends in one of these states.
   */
  erase: { by: 'caller', from: ['planned', 'queued', 'unknown'], to: 'cancelled', guards: [], lease: 'ends' },
} as const satisfies Record<string, MessageMoveRow>;

export type MessageMove = keyof typeof MESSAGE_MOVES;

interface RecipientMove {
  by: MessageActor;
  from: readonly RecipientState[];
  to: RecipientState;
}

/** States in which a recipient follows its message: whatever becomes of the message becomes of the recipient. */
export const FOLLOWING = ['planned', 'queued', 'sending', 'unknown'] as const satisfies readonly RecipientState[];

/** The moves of one recipient that its message does not make. */
export const RECIPIENT_MOVES = {
  /** The relay took the mail for it, while other recipients are still to be tried. */
  accept: { by: 'worker', from: FOLLOWING, to: 'accepted' },
  /** The relay rejected it for good. */
  refuse: { by: 'worker', from: FOLLOWING, to: 'failed' },
  /** Its address was suppressed after the message was planned. */
  suppress: { by: 'worker', from: FOLLOWING, to: 'suppressed' },
  /** It came back. A queued recipient may have it: a copy can arrive although no relay has said so. */
  bounce: { by: 'receiving server', from: ['queued', 'sending', 'accepted', 'unknown'], to: 'bounced' },
  complain: { by: 'receiving server', from: ['queued', 'sending', 'accepted', 'unknown', 'bounced'], to: 'complained' },
} as const satisfies Record<string, RecipientMove>;

export type RecipientMoveName = keyof typeof RECIPIENT_MOVES;

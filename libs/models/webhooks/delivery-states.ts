// The state machine of a delivery: the fields of each state, and every move with its actor and its guards.
import type { DeliveryStatus } from './delivery.ts';
import type { DeliveryGuard } from './delivery-guards.ts';

/** The actor of a move. A caller replays over the API, an operator on the dashboard. */
type DeliveryActor = 'fan-out' | 'worker' | 'poller' | 'caller or operator' | 'reconcile';

/**
 * Fields that belong to a state. `lease_id` and `lease_until` exist while a worker has the delivery, and after that
 * worker died.
 */
export const STATE_FIELDS = ['next_at', 'due_at', 'lease_id', 'lease_until', 'settled_at'] as const;
type StateField = (typeof STATE_FIELDS)[number];

interface State {
  meaning: string;
  /** The fields of the state. A move into the state removes all other state fields. */
  keeps: readonly StateField[];
}

export const DELIVERY_STATES: Readonly<Record<DeliveryStatus, State>> = {
  pending: {
    meaning: 'An attempt is due, under way, or planned for later.',
    keeps: ['next_at', 'due_at', 'lease_id', 'lease_until'],
  },
  delivered: { meaning: 'The receiver answered 2xx.', keeps: ['settled_at'] },
  dead: { meaning: 'All attempts failed, or the endpoint was deleted.', keeps: ['settled_at'] },
  held: { meaning: 'The endpoint is disabled.', keeps: [] },
};

export interface Move {
  by: DeliveryActor;
  /** The states before the move. Empty means that the delivery does not exist yet. */
  from: readonly DeliveryStatus[];
  to: DeliveryStatus;
  /** Conditions that the write itself checks, besides `from`. */
  guards: readonly DeliveryGuard[];
  /** `any`: an insert may come with a lease (a reservation) or without one. */
  lease: 'any' | 'begins' | 'keeps' | 'ends';
  /** True when jobs of the earlier state must not run any more. Their ids carry the old revision. */
  raisesRevision: boolean;
}

/** The moves. Every change of a delivery's state is one of them, see delivery-moves.ts. */
export const DELIVERY_MOVES = {
  fanOut: { by: 'fan-out', from: [], to: 'pending', guards: ['isNew'], lease: 'any', raisesRevision: false },
  replayMissing: {
    by: 'caller or operator',
    from: [],
    to: 'pending',
    guards: ['isNew'],
    lease: 'any',
    raisesRevision: false,
  },

  acquire: worker('pending', ['isReady', 'isFreeOrReserved'], { lease: 'begins', raisesRevision: false }),
  extendLease: worker('pending', ['ownsLease'], { lease: 'keeps', raisesRevision: false }),
  deliver: worker('delivered', ['ownsLease']),
  retryLater: worker('pending', ['ownsLease']),
  giveUp: worker('dead', ['ownsLease']),
  defer: worker('pending', ['ownsLease']),
  suspendLeased: worker('held', ['ownsLease']),
  /**
   * The circuit breaker of the endpoint has closed. Fan-out and poller make this move, too, if it closed while they
   * deferred.
   */
  recall: worker('pending', ['isDeferred', 'isFree'], { lease: 'keeps', raisesRevision: true }),

  enqueue: poller({ raisesRevision: false }),
  /** The worker with the lease died. BullMQ ignores the id of the old job as long as that job exists. */
  enqueueAgain: poller({ raisesRevision: true }),
  /** A worker has the delivery, so the poller looks again when the lease ends. */
  recheckAfterLease: poller({ raisesRevision: true }),
  deferDue: poller({ raisesRevision: true }),

  /** Replays one delivery in any state. The attempt of a leased one counts as the replay. */
  replay: replay(['pending', 'delivered', 'dead', 'held'], ['isFree']),
  /** Replays many deliveries of one endpoint, including delivered ones. */
  replayEnded: replay(['delivered', 'dead', 'held'], []),
  replayUndelivered: replay(['dead', 'held'], []),
  /** Comes with either of these two: a delivery that waits for its next attempt becomes due at once. */
  hasten: replay(['pending'], ['isFree', 'isLater']),

  /** The endpoint was disabled. */
  suspend: reconcile(['pending'], 'held', ['isFree']),
  /** The endpoint was enabled. */
  resume: reconcile(['held'], 'pending', []),
  /** The endpoint was deleted. */
  abandon: reconcile(['pending', 'held'], 'dead', ['isFree']),
} as const satisfies Record<string, Move>;

export type DeliveryMove = keyof typeof DELIVERY_MOVES;

function worker<To extends DeliveryStatus, const Guards extends readonly DeliveryGuard[]>(
  to: To,
  guards: Guards,
  { lease, raisesRevision }: Pick<Move, 'lease' | 'raisesRevision'> = { lease: 'ends', raisesRevision: true },
) {
  return { by: 'worker', from: ['pending'], to, guards, lease, raisesRevision } as const;
}

function poller({ raisesRevision }: Pick<Move, 'raisesRevision'>) {
  return {
    by: 'poller',
    from: ['pending'],
    to: 'pending',
    guards: ['isAsRead'],
    lease: 'keeps',
    raisesRevision,
  } as const;
}

function replay<const Guards extends readonly DeliveryGuard[]>(from: readonly DeliveryStatus[], guards: Guards) {
  return { by: 'caller or operator', from, to: 'pending', guards, lease: 'ends', raisesRevision: true } as const;
}

function reconcile<To extends DeliveryStatus, const Guards extends readonly DeliveryGuard[]>(
  from: readonly DeliveryStatus[],
  to: To,
  guards: Guards,
) {
  return { by: 'reconcile', from, to, guards, lease: 'ends', raisesRevision: true } as const;
}

// Makes the filters and updates of deliveries from the table of moves. No other file changes the state of a delivery.
import { fieldsRemovedBy, fieldsSetBy, guardFilter } from '../moves.ts';
import type { StoredId } from '../tenant.ts';
import { ATTEMPTS_KEPT, type Attempt, type DeliveryStatus } from './delivery.ts';
import { DELIVERY_GUARDS, type GuardFacts, type Reservation } from './delivery-guards.ts';
import { DELIVERY_MOVES, DELIVERY_STATES, type DeliveryMove, type Move, STATE_FIELDS } from './delivery-states.ts';

/** The values that a move writes besides the status, the revision and the end of a lease. */
export interface MoveValues {
  nextAt?: Date;
  dueAt?: Date;
  leaseId?: string;
  leaseUntil?: Date;
  settledAt?: Date;
  updatedAt?: Date;
  deferrals?: number;
  /** The spent attempts. 0 when the schedule begins again. */
  attemptsMade?: number;
  /** An attempt that was made, for the log of the delivery. */
  attempt?: Attempt | undefined;
}

const STORED_AS = {
  nextAt: 'next_at',
  dueAt: 'due_at',
  leaseId: 'lease_id',
  leaseUntil: 'lease_until',
  settledAt: 'settled_at',
  updatedAt: 'updated_at',
  deferrals: 'deferrals',
  attemptsMade: 'attempts_made',
} as const satisfies Record<Exclude<keyof MoveValues, 'attempt'>, string>;

const FIELDS = { field: 'status', storedAs: STORED_AS, states: DELIVERY_STATES, stateFields: STATE_FIELDS };

/** Returns the filter under which the move is allowed. The caller adds id and account. */
export function guardOf<Name extends DeliveryMove>(
  name: Name,
  facts: GuardFacts<(typeof DELIVERY_MOVES)[Name]['guards'][number]>,
): object {
  const { from, guards }: Move = DELIVERY_MOVES[name];
  return guardFilter(DELIVERY_GUARDS, { field: 'status', from, guards }, facts);
}

/** Returns the update that makes the move. @throws Error when the values do not belong to the new state. */
export function changeOf(name: DeliveryMove, { attempt, ...values }: MoveValues) {
  const move = moveOf(name);
  const removed = fieldsRemovedBy(FIELDS, move);
  const { raisesRevision } = DELIVERY_MOVES[name];
  return {
    $set: fieldsSetBy(name, FIELDS, move, values),
    ...(removed.length > 0 ? { $unset: Object.fromEntries(removed.map((field) => [field, 1 as const])) } : {}),
    ...(raisesRevision ? { $inc: { revision: 1, ...(attempt ? { attempts_made: 1 } : {}) } } : {}),
    ...(attempt ? { $push: { attempts: { $each: [attempt], $slice: -ATTEMPTS_KEPT } } } : {}),
  };
}

/** Returns the update that makes the move for many deliveries. @param attempt an expression for the attempt of each. */
export function changeOfMany(name: 'deliver', values: Omit<MoveValues, 'attempt'>, attempt: object) {
  const move = moveOf(name);
  return [
    {
      $set: {
        ...fieldsSetBy(name, FIELDS, move, values),
        revision: { $add: ['$revision', 1] },
        attempts_made: { $add: ['$attempts_made', 1] },
        attempts: { $slice: [{ $concatArrays: ['$attempts', [attempt]] }, -ATTEMPTS_KEPT] },
      },
    },
    { $unset: fieldsRemovedBy(FIELDS, move) },
  ];
}

/** Returns the move with `same` for its state if that never changes. */
function moveOf(name: DeliveryMove) {
  const { from, to, lease }: Move = DELIVERY_MOVES[name];
  return { to: from.length === 1 && from[0] === to ? ('same' as const) : to, lease };
}

/** The fields that a delivery takes over from its event. */
export interface FannedOut {
  _id: StoredId;
  account_id: StoredId;
  type: string;
  request_id?: string | null | undefined;
  trace?: string | null | undefined;
}

/** Returns a new delivery without its id. @param plan due at once unless given, and without a lease unless reserved. */
export function newDelivery(
  event: FannedOut,
  endpointId: StoredId,
  now: Date,
  plan: { nextAt?: Date; dueAt?: Date; deferrals?: number; reservation?: Reservation | undefined } = {},
) {
  const { nextAt = now, dueAt = nextAt, deferrals = 0, reservation } = plan;
  return {
    account_id: event.account_id,
    event_id: event._id,
    endpoint_id: endpointId,
    event_type: event.type,
    ...(event.request_id ? { request_id: event.request_id } : {}),
    ...(event.trace ? { trace: event.trace } : {}),
    status: DELIVERY_MOVES.fanOut.to satisfies DeliveryStatus,
    attempts_made: 0,
    attempts: [],
    next_at: nextAt,
    due_at: dueAt,
    revision: 0,
    deferrals,
    ...(reservation ? { lease_id: reservation.leaseId, lease_until: reservation.until } : {}),
    created_at: now,
    updated_at: now,
  };
}

/**
 * Returns the update that inserts a delivery which no fan-out has made, and leaves an existing one unchanged. The filter
 * names the account.
 */
export function insertMissing(event: FannedOut, endpointId: StoredId, now: Date) {
  const { account_id: _inFilter, ...fields } = newDelivery(event, endpointId, now);
  return { $setOnInsert: fields };
}

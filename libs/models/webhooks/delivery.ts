// One event on its way to one endpoint: what was tried, what came back, and when it is next due. This is the retry clock.
import { hash } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { readAfterElection } from '../../mongo/read-after-election.ts';
import { countAlong, newestFirst, type Page, type Wanted } from '../listing.ts';
import { driverOf } from '../records.ts';
import { dashed, type Id, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** `held`: its endpoint is disabled. `dead`: all attempts failed. Both wait for a replay. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'held'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * What a tenant learns of a failure. `unreachable` is all of: no such host, refused address, closed port, broken TLS, not HTTP.
 * It must not be split: a caller could find out which ports are open where only we can look.
 * `secret_unreadable`: no key opens the signing secret, so nobody was called.
 */
export type ErrorClass =
  | 'unreachable'
  | 'timeout'
  | 'redirect'
  | 'status'
  | 'gone'
  | 'endpoint_deleted'
  | 'secret_unreadable';

/** A delivery that was replayed may have more attempts than the schedule; the oldest are forgotten. */
export const ATTEMPTS_KEPT = 25;
const SETTLED_KEPT_SECONDS = 90 * 24 * 3_600;

const attemptSchema = new Schema(
  {
    at: { type: Date, required: true },
    /** Absent when there was no answer: the time to a refusal tells of a port, too. */
    duration_ms: Number,
    response_status: Number,
    /** Absent on success. */
    error_class: String,
  },
  { _id: false },
);

const deliverySchema = new Schema(
  {
    /** Made of event and endpoint, see deliveryId. */
    _id: requiredIdField,
    account_id: requiredIdField,
    event_id: requiredIdField,
    endpoint_id: requiredIdField,
    event_type: { type: String, required: true },
    request_id: String,
    /** Of its event. */
    trace: String,
    status: { type: String, required: true, enum: DELIVERY_STATUSES },
    /** How many attempts of the schedule are spent; a replay starts again at 0. */
    attempts_made: { type: Number, required: true, default: 0 },
    attempts: { type: [attemptSchema], required: true, default: [] },
    /** When the next attempt may be made; only while pending. */
    next_at: Date,
    /** When the clock must put it on the queue (again); only while pending. Later than next_at while a job is on its way. */
    due_at: Date,
    /** Who makes an attempt owns the delivery until lease_until; the id is the owner's proof. */
    lease_id: String,
    lease_until: Date,
    /** Part of the job's id: grows with every attempt and every change of plan, so one turn has one job, however often it is put in. */
    turn: { type: Number, required: true, default: 0 },
    /** How often it had to wait for its endpoint's breaker, without an attempt. */
    postponed: { type: Number, required: true, default: 0 },
    /** When it was delivered or given up. */
    settled_at: Date,
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'deliveries' },
);
deliverySchema.plugin(tenant);
const OF_ENDPOINT_BY_STATUS = { account_id: 1, endpoint_id: 1, status: 1, created_at: -1, _id: -1 } as const;
/** Indexes of what has ended; of the dead alone. */
export const SETTLED = 'settled';
export const SETTLED_DEAD = 'settled_dead';
/** The filter of those that failed and are tried again. It has an index. */
export const RETRYING = { status: 'pending', attempts_made: { $gt: 0 } } as const;
const OF_ENDPOINT = { account_id: 1, endpoint_id: 1, created_at: -1, _id: -1 } as const;
deliverySchema.index(OF_ENDPOINT_BY_STATUS);
deliverySchema.index(OF_ENDPOINT);
// An operator looks over all accounts, by state and time.
deliverySchema.index({ status: 1, created_at: -1, _id: -1 });
deliverySchema.index({ due_at: 1 }, { sparse: true });
// Sparse: what is on its way costs it nothing.
deliverySchema.index({ settled_at: 1 }, { name: SETTLED, sparse: true, expireAfterSeconds: SETTLED_KEPT_SECONDS });
// An index that removes what is old may have one field. A second one for the dead alone costs what is delivered nothing.
deliverySchema.index({ settled_at: 1, status: 1 }, { name: SETTLED_DEAD, partialFilterExpression: { status: 'dead' } });
// Of those that failed and are tried again alone: what is delivered at once costs it nothing.
deliverySchema.index({ status: 1, attempts_made: 1 }, { name: 'retrying', partialFilterExpression: RETRYING });

export type DeliveryRecord = InferSchemaType<typeof deliverySchema>;
export type Attempt = InferSchemaType<typeof attemptSchema>;

export const Delivery = model('Delivery', deliverySchema);

/** The same for the same pair, always: fanning an event out twice cannot make a second delivery. A UUIDv8 of SHA-256. */
export function deliveryId(eventId: Id | StoredId, endpointId: Id | StoredId): Id {
  const digest = hash('sha256', `${String(eventId)}/${String(endpointId)}`);
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return dashed(`${digest.slice(0, 12)}8${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`);
}

/** The delivery as the API returns it. */
export function deliveryView(delivery: DeliveryRecord) {
  return {
    id: String(delivery._id),
    webhook_id: String(delivery.endpoint_id),
    event_id: String(delivery.event_id),
    event_type: delivery.event_type,
    status: delivery.status,
    attempts: delivery.attempts.map((attempt) => ({
      at: attempt.at.toISOString(),
      duration_ms: attempt.duration_ms ?? null,
      response_status: attempt.response_status ?? null,
      error_class: attempt.error_class ?? null,
    })),
    request_id: delivery.request_id ?? null,
    next_attempt_at: delivery.next_at?.toISOString() ?? null,
    created_at: delivery.created_at.toISOString(),
    updated_at: delivery.updated_at.toISOString(),
  };
}

/** @returns a page of an endpoint's deliveries, newest first, and how many there are. */
export async function findDeliveriesOf(
  { accountId, endpointId, status }: { accountId: Id; endpointId: Id; status: DeliveryStatus | undefined },
  wanted: Pick<Wanted, 'offset' | 'limit' | 'after'>,
): Promise<Page<DeliveryRecord>> {
  const filter = {
    account_id: storedId(accountId),
    endpoint_id: storedId(endpointId),
    ...(status ? { status } : {}),
  };
  const hint = status ? OF_ENDPOINT_BY_STATUS : OF_ENDPOINT;
  const [page, total] = await Promise.all([
    newestFirst<DeliveryRecord>(driverOf(Delivery), filter, wanted, hint),
    countAlong(hint, Delivery, filter),
  ]);
  return { ...page, total };
}

/** What a delivery takes over from its event. */
export interface FannedOut {
  _id: StoredId;
  account_id: StoredId;
  type: string;
  request_id?: string | null | undefined;
  trace?: string | null | undefined;
}

/** What a delivery is born with. */
export function newDelivery(event: FannedOut, endpointId: StoredId, now: Date) {
  return {
    event_id: event._id,
    endpoint_id: endpointId,
    event_type: event.type,
    created_at: now,
    ...(event.request_id ? { request_id: event.request_id } : {}),
    ...(event.trace ? { trace: event.trace } : {}),
  };
}

/** Not in the hands of somebody who makes an attempt. */
export const notLeased = (now: Date) => ({ $or: [{ lease_until: null }, { lease_until: { $lte: now } }] });

const startAgain = (now: Date) => ({
  $set: { status: 'pending' as const, attempts_made: 0, postponed: 0, next_at: now, due_at: now, updated_at: now },
  $unset: { settled_at: 1, lease_id: 1, lease_until: 1 } as const,
  $inc: { turn: 1 },
});

/** Sends a delivery again, whatever became of it; one that is waiting goes at once. @returns null when there is none. */
export async function replayDelivery(accountId: Id, id: Id, now: Date = agreedDate()): Promise<DeliveryRecord | null> {
  const filter = { _id: id, account_id: accountId };
  const replayed = await Delivery.findOneAndUpdate({ ...filter, ...notLeased(now) }, startAgain(now), {
    returnDocument: 'after',
  }).lean<DeliveryRecord>();
  // An attempt that is being made right now is the replay.
  return replayed ?? readAfterElection(() => Delivery.findOne(filter).lean<DeliveryRecord>());
}

/**
 * Sends events to an endpoint (again), also those it never got, and at once what waits for its next attempt.
 * @param options.skipDelivered also leaves out events without a delivery that are older than deliveries are kept: they may have been delivered.
 * @returns how many go out.
 */
export async function replayEvents(
  events: (FannedOut & { created_at: Date })[],
  endpointId: Id,
  options: { skipDelivered: boolean },
  now: Date = agreedDate(),
): Promise<number> {
  if (events.length === 0) return 0;
  const forgottenBefore = new Date(now.getTime() - SETTLED_KEPT_SECONDS * 1_000);
  const made = await Delivery.bulkWrite(
    events.flatMap((event) => {
      const filter = { _id: storedId(deliveryId(event._id, endpointId)), account_id: event.account_id };
      const again: DeliveryStatus[] = options.skipDelivered ? ['dead', 'held'] : ['dead', 'held', 'delivered'];
      const { $set, $inc, $unset } = startAgain(now);
      const sendAgain = {
        updateOne: {
          // One that waits for its next attempt goes at once. One that is due or in hand is on its way.
          filter: {
            ...filter,
            $or: [{ status: { $in: again } }, { status: 'pending' as const, next_at: { $gt: now }, ...notLeased(now) }],
          },
          update: { $set, $inc, $unset },
        },
      };
      if (options.skipDelivered && event.created_at < forgottenBefore) return [sendAgain];
      return [
        sendAgain,
        {
          updateOne: {
            // By the key alone, which no two accounts share: only so the server itself tries again when a fan-out makes it meanwhile.
            filter: { _id: filter._id },
            update: {
              $setOnInsert: {
                account_id: event.account_id,
                ...newDelivery(event, storedId(endpointId), now),
                ...$set,
                attempts: [],
                turn: 0,
              },
            },
            upsert: true,
          },
        },
      ];
    }),
  );
  return made.modifiedCount + made.upsertedCount;
}

/** Stops the deliveries of a disabled endpoint; they keep until somebody wants them. */
export async function holdDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
  await Delivery.updateMany(
    // An attempt in hand is left to end; what follows it is held when its time comes.
    { account_id: accountId, endpoint_id: endpointId, status: 'pending', ...notLeased(now) },
    {
      $set: { status: 'held', updated_at: now },
      $unset: { next_at: 1, due_at: 1, lease_id: 1, lease_until: 1 },
      $inc: { turn: 1 },
    },
  );
}

/** Gives up what was not delivered to an endpoint that is deleted. */
export async function abandonDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<void> {
  await Delivery.updateMany(
    // An attempt in hand is left to end; what follows it finds no endpoint.
    { account_id: accountId, endpoint_id: endpointId, status: { $in: ['pending', 'held'] }, ...notLeased(now) },
    {
      $set: { status: 'dead', settled_at: now, updated_at: now },
      $unset: { next_at: 1, due_at: 1, lease_id: 1, lease_until: 1 },
      $inc: { turn: 1 },
    },
  );
}

/** Sends what was held while the endpoint was disabled. @returns how many. */
export async function releaseDeliveries(accountId: Id, endpointId: Id, now: Date = agreedDate()): Promise<number> {
  const filter = { account_id: accountId, endpoint_id: endpointId, status: 'held' as const };
  return (await Delivery.updateMany(filter, startAgain(now))).modifiedCount;
}

// One event on its way to one endpoint: its attempts, their results, and the time of the next attempt.
import { hash } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { dashed, type Id, requiredIdField, type StoredId, tenant } from '../tenant.ts';

/** The meaning of each status, and the moves between them, are in delivery-states.ts. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead', 'held'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The class of a failure that a tenant sees. `unreachable` is all of: no such host, refused address, closed port,
 * broken TLS, not HTTP. It must not be split: a tenant could find out which ports are open in the operator's network.
 * `secret_unreadable`: no key opens the signing secret, so no call was made.
 */
export type ErrorClass =
  | 'unreachable'
  | 'timeout'
  | 'redirect'
  | 'status'
  | 'gone'
  | 'endpoint_deleted'
  | 'secret_unreadable';

/** The number of attempts that the record keeps, the latest ones. Replays add attempts without end. */
export const ATTEMPTS_KEPT = 25;
/** The most headers of a response that an attempt keeps. */
export const HEADERS_KEPT = 20;
/** The most bytes of the kept headers together, each counted with HEADER_BYTES for its place in a response of the API. */
export const HEAD_BYTES_MAX = 1_024;
export const HEADER_BYTES = 24;
export const SETTLED_KEPT_SECONDS = 90 * 24 * 3_600;

const attemptSchema = new Schema(
  {
    at: { type: Date, required: true },
    /** Absent without a response, because the time until a refusal would reveal if a port is open. */
    duration_ms: Number,
    response_status: Number,
    /** Absent on success. */
    error_class: String,
    /** The head of the response, shortened and masked. Absent without a response. */
    response_headers: { type: [{ _id: false, name: String, value: String }], default: undefined },
  },
  { _id: false },
);

export interface ResponseHeader {
  /** In lower case. */
  name: string;
  value: string;
}

const deliverySchema = new Schema(
  {
    /** The id that follows from event and endpoint, see deliveryId. */
    _id: requiredIdField,
    account_id: requiredIdField,
    event_id: requiredIdField,
    endpoint_id: requiredIdField,
    event_type: { type: String, required: true },
    request_id: String,
    /** The trace of its event. */
    trace: String,
    status: { type: String, required: true, enum: DELIVERY_STATUSES },
    /** The number of spent attempts of the schedule. A replay starts again at 0. */
    attempts_made: { type: Number, required: true, default: 0 },
    attempts: { type: [attemptSchema], required: true, default: [] },
    /** The time from which the next attempt may be made. Only set while pending. */
    next_at: Date,
    /**
     * The time at which the poller must look at it (again). Only set while pending, and later than next_at while a job
     * is on its way.
     */
    due_at: Date,
    /** The proof of the worker that owns the delivery until lease_until. */
    lease_id: String,
    lease_until: Date,
    /**
     * A part of the job's id. Each attempt and each change of plan raises it, so one revision has one job, however
     * often it is enqueued.
     */
    revision: { type: Number, required: true, default: 0 },
    /** The number of times in a row that the endpoint's circuit breaker deferred it without an attempt. */
    deferrals: { type: Number, required: true, default: 0 },
    /** The time at which it became delivered or dead. */
    settled_at: Date,
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'deliveries' },
);
deliverySchema.plugin(tenant);
/** The orders of an endpoint's deliveries: those of one status, and all. */
export const OF_ENDPOINT_BY_STATUS = { account_id: 1, endpoint_id: 1, status: 1, created_at: -1, _id: -1 } as const;
export const OF_ENDPOINT = { account_id: 1, endpoint_id: 1, created_at: -1, _id: -1 } as const;
/** The indexes of deliveries that have ended, and of dead ones only. */
export const SETTLED = 'settled';
export const SETTLED_DEAD = 'settled_dead';
/** The filter of deliveries that failed and will be tried again. It has an index. */
export const RETRYING = { status: 'pending', attempts_made: { $gt: 0 } } as const;
/** The index of suspended deliveries, by endpoint. */
export const SUSPENDED = 'suspended';
deliverySchema.index(OF_ENDPOINT_BY_STATUS);
deliverySchema.index(OF_ENDPOINT);
// An operator searches all accounts by state and time.
deliverySchema.index({ status: 1, created_at: -1, _id: -1 });
deliverySchema.index({ due_at: 1 }, { sparse: true });
// The index is sparse, so that a delivery that has not ended costs it nothing.
deliverySchema.index({ settled_at: 1 }, { name: SETTLED, sparse: true, expireAfterSeconds: SETTLED_KEPT_SECONDS });
// A TTL index can have one field only. This second one has dead deliveries only, so that a successful one costs it
// nothing.
deliverySchema.index({ settled_at: 1, status: 1 }, { name: SETTLED_DEAD, partialFilterExpression: { status: 'dead' } });
// The index is partial, so that a delivery that succeeds at the first attempt costs it nothing.
deliverySchema.index({ status: 1, attempts_made: 1 }, { name: 'retrying', partialFilterExpression: RETRYING });
deliverySchema.index({ status: 1, endpoint_id: 1 }, { name: SUSPENDED, partialFilterExpression: { status: 'held' } });

export type DeliveryRecord = Omit<InferSchemaType<typeof deliverySchema>, 'attempts'> & { attempts: Attempt[] };
export type Attempt = Omit<InferSchemaType<typeof attemptSchema>, 'response_headers'> & {
  response_headers?: ResponseHeader[] | null;
};

export const Delivery = model('Delivery', deliverySchema);

/**
 * Returns the id for an event and an endpoint, a UUIDv8 of their SHA-256. A second fan-out therefore cannot make a
 * second delivery.
 */
export function deliveryId(eventId: Id | StoredId, endpointId: Id | StoredId): Id {
  const digest = hash('sha256', `${String(eventId)}/${String(endpointId)}`);
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return dashed(`${digest.slice(0, 12)}8${digest.slice(13, 16)}${variant}${digest.slice(17, 32)}`);
}

/** Returns the delivery in the form of the API. */
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
      response_headers: attempt.response_headers?.map(({ name, value }) => ({ name, value })) ?? null,
    })),
    request_id: delivery.request_id ?? null,
    next_attempt_at: delivery.next_at?.toISOString() ?? null,
    created_at: delivery.created_at.toISOString(),
    updated_at: delivery.updated_at.toISOString(),
  };
}

// A URL that an account registered to receive its events, with the secret its deliveries are signed with.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { idField, newId, requiredIdField, tenant } from '../tenant.ts';
import type { Pause } from './endpoint-pauses.ts';
import type { FormerSecret } from './endpoint-secrets.ts';

/** The most endpoints of an account. Each event costs one delivery per endpoint. */
export const ENDPOINTS_MAX = 20;

/**
 * `manual`: the account asked for it. `gone`: the receiver answered 410. `failing`: only failures for five days.
 * `operator`: an operator disabled it on the dashboard.
 */
export const DISABLED_REASONS = ['manual', 'gone', 'failing', 'operator'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const failureSchema = new Schema(
  { at: { type: Date, required: true }, response_status: Number, error_class: String },
  { _id: false },
);

const endpointSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    /**
     * A number from 0 to ENDPOINTS_MAX - 1, unique in the account. It keeps two concurrent registrations from both
     * taking the last place.
     */
    slot: { type: Number, required: true },
    url: { type: String, required: true },
    /** Event types, `noun.*` or `*`. */
    events: { type: [String], required: true },
    description: String,
    enabled: { type: Boolean, required: true, default: true },
    disabled_reason: String,
    /** The pauses in which it gets no events, oldest first: before its registration, and while it was disabled. */
    pauses: { type: [{ _id: false, after: Number, until: Number }], default: undefined },
    /** The secret in sealed form, see secret-box.ts. */
    secret: { type: String, required: true },
    /** The former secrets, latest first, each with the end of its overlap. */
    previous_secrets: { type: [{ _id: false, secret: String, until: Date }], default: undefined },
    /** The start of the current series of failures, and their number. Absent after a success. */
    failing_since: Date,
    failures: Number,
    /** The latest failed attempt of the current series. */
    last_failure: failureSchema,
    /** The time at which a caller last asked for a ping. */
    tested_at: Date,
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'webhook_endpoints' },
);
endpointSchema.plugin(tenant);
endpointSchema.index({ account_id: 1, slot: 1 }, { unique: true });
endpointSchema.index({ account_id: 1, created_at: -1, _id: -1 });

/** The filter of endpoints that have failed three times in a row. It has an index. */
export const FAILING = { enabled: true, failures: { $gte: 3 } } as const;
// The index is partial, so that an endpoint that works costs it nothing.
endpointSchema.index({ enabled: 1, failures: -1 }, { name: 'failing', partialFilterExpression: FAILING });

/** The filter of disabled endpoints. It has an index, for the latest ones first. */
export const DISABLED = { enabled: false } as const;
endpointSchema.index({ enabled: 1, updated_at: -1 }, { name: 'disabled', partialFilterExpression: DISABLED });

/** The update fields that end a series of failures. */
export const NO_FAILURES = { failing_since: 1, failures: 1, last_failure: 1 } as const;

export type WebhookEndpointRecord = Omit<InferSchemaType<typeof endpointSchema>, 'previous_secrets' | 'pauses'> & {
  previous_secrets?: FormerSecret[] | null;
  pauses?: Pause[] | null;
};

export const WebhookEndpoint = model('WebhookEndpoint', endpointSchema);

/** Returns the endpoint in the form of the API, without its secret. */
export function endpointView(endpoint: WebhookEndpointRecord) {
  return {
    id: String(endpoint._id),
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description ?? null,
    enabled: endpoint.enabled,
    disabled_reason: endpoint.enabled ? null : (endpoint.disabled_reason ?? 'manual'),
    failing_since: endpoint.failing_since?.toISOString() ?? null,
    created_at: endpoint.created_at.toISOString(),
    updated_at: endpoint.updated_at.toISOString(),
  };
}

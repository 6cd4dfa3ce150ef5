// The response to a POST with an `Idempotency-Key`, committed together with the effects of the POST.
import { createHash } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { type Id, idField, requiredIdField, tenant } from './tenant.ts';

const KEPT_SECONDS = 24 * 3600;

const idempotencySchema = new Schema(
  {
    /** The hash of account and key, so that the keys of two accounts never meet. */
    _id: { type: String, required: true },
    account_id: requiredIdField,
    /** The hash of method, path and body. The same key for another request is a mistake of the caller. */
    fingerprint: { type: String, required: true },
    status: { type: Number, required: true },
    /** The body, without `data` when an event keeps that. */
    body: { type: String, required: true },
    /** The event that keeps a large response, because it carries the same record. */
    event_id: idField,
    created_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'idempotency_records' },
);
idempotencySchema.plugin(tenant);
idempotencySchema.index({ created_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });

export type IdempotencyRecord = InferSchemaType<typeof idempotencySchema>;

export const Idempotency = model('IdempotencyRecord', idempotencySchema);

/** Returns the id of the record: the SHA-256 of account and key in hex. */
export function idempotencyId(accountId: Id, key: string): string {
  return createHash('sha256').update(`${accountId}\n${key}`).digest('hex');
}

// The response to a POST that carried an `Idempotency-Key`, committed together with what the POST did.
import { createHash } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { type Id, idField, requiredIdField, tenant } from './tenant.ts';

const KEPT_SECONDS = 24 * 3600;

const idempotencySchema = new Schema(
  {
    /** Hash of account and key, so that keys of two accounts never meet. */
    _id: { type: String, required: true },
    account_id: requiredIdField,
    /** Hash of method, path and body: the same key for something else is a mistake of the caller. */
    fingerprint: { type: String, required: true },
    status: { type: Number, required: true },
    /** Without `data` when that is kept in an event. */
    body: { type: String, required: true },
    /** A large response is that of the event that tells the same. */
    event_id: idField,
    created_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'idempotency_records' },
);
idempotencySchema.plugin(tenant);
idempotencySchema.index({ created_at: 1 }, { expireAfterSeconds: KEPT_SECONDS });

export type IdempotencyRecord = InferSchemaType<typeof idempotencySchema>;

export const Idempotency = model('IdempotencyRecord', idempotencySchema);

export function idempotencyId(accountId: Id, key: string): string {
  return createHash('sha256').update(`${accountId}\n${key}`).digest('hex');
}

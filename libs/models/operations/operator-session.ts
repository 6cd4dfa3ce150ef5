// A login of an operator.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate, agreedTime } from '../../clock.ts';
import { type Id, requiredIdField, type StoredId } from '../tenant.ts';
import { hashToken, makeToken } from '../token.ts';

/** A working day. A forgotten browser logs out, and one login per shift is enough. */
export const SESSION_LIFE_MS = 12 * 3600 * 1000;

const sessionSchema = new Schema(
  {
    /** SHA-256 of the token, hex. */
    _id: { type: String, required: true },
    operator_id: requiredIdField,
    /** A token in every form of this session, which other sites cannot know. */
    csrf: { type: String, required: true },
    address: String,
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'operator_sessions' },
);
sessionSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });
sessionSchema.index({ operator_id: 1 });

export type OperatorSessionRecord = InferSchemaType<typeof sessionSchema>;

export const OperatorSession = model('OperatorSession', sessionSchema);

/** Opens a session. @returns the token for the cookie. The database has only its hash. */
export async function openSession(operatorId: Id | StoredId, address: string): Promise<string> {
  const token = makeToken();
  const now = agreedTime();
  await OperatorSession.create({
    _id: hashToken(token),
    operator_id: operatorId,
    csrf: makeToken(),
    address,
    created_at: new Date(now),
    expires_at: new Date(now + SESSION_LIFE_MS),
  });
  return token;
}

/**
 * Returns the live session of the token, else null. MongoDB removes old ones only about once a minute, so the time is
 * checked here.
 */
export async function findSession(token: string, now: Date = agreedDate()): Promise<OperatorSessionRecord | null> {
  return OperatorSession.findOne({ _id: hashToken(token), expires_at: { $gt: now } }).lean<OperatorSessionRecord>();
}

export async function closeSession(token: string): Promise<void> {
  await OperatorSession.deleteOne({ _id: hashToken(token) });
}

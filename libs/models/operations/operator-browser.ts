// A browser in which an operator has logged in before. Failed logins of strangers do not delay the next login in it.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate, agreedTime } from '../../clock.ts';
import { type Id, requiredIdField, type StoredId } from '../tenant.ts';
import { hashToken, makeToken } from '../token.ts';

/** The time from the last login until the browser is forgotten: longer than a holiday. */
export const BROWSER_LIFE_MS = 90 * 24 * 3600 * 1000;

const browserSchema = new Schema(
  {
    /** SHA-256 of the token, hex. */
    _id: { type: String, required: true },
    operator_id: requiredIdField,
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'operator_browsers' },
);
browserSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });
browserSchema.index({ operator_id: 1 });

export const OperatorBrowser = model('OperatorBrowser', browserSchema);

type OperatorBrowserRecord = InferSchemaType<typeof browserSchema>;

/** Returns the operator who logged in with this browser within BROWSER_LIFE_MS. */
export async function operatorOfBrowser(token: string, now: Date = agreedDate()): Promise<StoredId | undefined> {
  const found = await OperatorBrowser.findOne({ _id: hashToken(token), expires_at: { $gt: now } })
    .select({ operator_id: 1 })
    .lean<Pick<OperatorBrowserRecord, 'operator_id'>>();
  return found?.operator_id;
}

/**
 * Remembers the browser from this login on.
 * @param known the browser's token, if it has one of this operator.
 * @returns the token for its cookie.
 */
export async function rememberBrowser(operatorId: Id | StoredId, known?: string): Promise<string> {
  const token = known ?? makeToken();
  const expires_at = new Date(agreedTime() + BROWSER_LIFE_MS);
  const _id = hashToken(token);
  await OperatorBrowser.updateOne({ _id }, { $set: { operator_id: operatorId, expires_at } }, { upsert: true });
  return token;
}

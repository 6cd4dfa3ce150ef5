// A browser that a portal link has let in. It ends with the link, and with the API key that made the link.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { inTransaction } from '../../mongo/connection.ts';
import { ApiKey, type ApiKeyRecord, isUsable } from '../accounts/api-key.ts';
import { acrossAccounts, requiredIdField, tenant } from '../tenant.ts';
import { hashToken, makeToken } from '../token.ts';
import { countBrowser, findPortalLink } from './portal-link.ts';

const sessionSchema = new Schema(
  {
    /** SHA-256 of the token in the cookie, hex. */
    _id: { type: String, required: true },
    account_id: requiredIdField,
    link_id: requiredIdField,
    /** The API key that made the link. */
    key_id: requiredIdField,
    /** A token in every form of this session, which other sites cannot know. */
    csrf: { type: String, required: true },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'portal_sessions' },
);
sessionSchema.plugin(tenant);
sessionSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

export type PortalSessionRecord = InferSchemaType<typeof sessionSchema>;

export const PortalSession = model('PortalSession', sessionSchema);

/** A live session with the key whose rights it has, as the key is now. */
export interface LiveSession {
  session: PortalSessionRecord;
  key: ApiKeyRecord;
}

/**
 * Exchanges the token of a link for a session.
 * @returns the token for the cookie and the end of the session. Undefined when the link is unknown or has expired, when
 * it has let in all the browsers it may, and when its key has ended.
 */
export async function openPortalSession(linkToken: string): Promise<{ token: string; expiresAt: Date } | undefined> {
  const link = await findPortalLink(linkToken);
  if (!link || !(await findKey(link))) return undefined;
  const token = makeToken();
  const isOpen = await inTransaction(async (session) => {
    if (!(await countBrowser(link, session))) return false;
    const record = {
      _id: hashToken(token),
      account_id: link.account_id,
      link_id: link._id,
      key_id: link.key_id,
      csrf: makeToken(),
      created_at: agreedDate(),
      expires_at: link.expires_at,
    };
    await PortalSession.create([record], { session });
    return true;
  });
  return isOpen ? { token, expiresAt: link.expires_at } : undefined;
}

/** True for the token of a link that lets a browser in. */
export async function isLiveLink(linkToken: string): Promise<boolean> {
  const link = await findPortalLink(linkToken);
  return link !== null && (await findKey(link)) !== undefined;
}

/** Returns the live session of the token in a cookie. The visitor is not known yet, so the query covers all accounts. */
export async function findPortalSession(token: string, now: Date = agreedDate()): Promise<LiveSession | undefined> {
  // MongoDB removes old sessions only about once a minute, so the time is checked here.
  const session = await PortalSession.findOne({ _id: hashToken(token), expires_at: { $gt: now } })
    .setOptions(acrossAccounts)
    .lean<PortalSessionRecord>();
  const key = session && (await findKey(session, now));
  return session && key ? { session, key } : undefined;
}

export async function closePortalSession({ _id, account_id }: PortalSessionRecord): Promise<void> {
  await PortalSession.deleteOne({ _id, account_id });
}

/** Returns the key if it is neither revoked nor expired. It is read each time, so that a revocation holds at once. */
async function findKey(
  { account_id, key_id }: Pick<PortalSessionRecord, 'account_id' | 'key_id'>,
  now: Date = agreedDate(),
): Promise<ApiKeyRecord | undefined> {
  const key = await ApiKey.findOne({ _id: key_id, account_id }).lean<ApiKeyRecord>();
  return key && isUsable(key, now) ? key : undefined;
}

// A link to the portal's page for the developer of an account. An API key makes it, and it never may more than that key.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { appError } from '../../errors.ts';
import type { Session } from '../../mongo/connection.ts';
import { changeTime } from '../counter.ts';
import { acrossAccounts, type Id, idField, newId, requiredIdField, tenant } from '../tenant.ts';
import { hashToken, makeToken } from '../token.ts';

/** Long enough to follow a link and to look for a fault, short enough for one that stays in a history of chats. */
const LINK_LIFE_MS = 3600 * 1000;
/** The most live links of an account. */
export const LINKS_MAX = 100;
/** The most browsers that one link lets in. */
export const BROWSERS_MAX = 10;

/** Returns the 409 for an account that has LINKS_MAX links. */
const linksMaxReached = () => appError('portal_link_limit_reached', { limit: LINKS_MAX });

const linkSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    /** SHA-256 of the token, hex. */
    hash: { type: String, required: true },
    /** The API key that made it, and whose rights it has. */
    key_id: requiredIdField,
    /** The number of browsers that it has let in. */
    browsers: { type: Number, required: true, default: 0 },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'portal_links' },
);
linkSchema.plugin(tenant);
linkSchema.index({ hash: 1 }, { unique: true });
linkSchema.index({ account_id: 1, expires_at: 1 });
linkSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0 });

export type PortalLinkRecord = InferSchemaType<typeof linkSchema>;

export const PortalLink = model('PortalLink', linkSchema);

export interface NewPortalLink {
  accountId: Id;
  keyId: Id;
  /** The end of the key. The link does not outlive it. */
  keyExpiresAt?: Date | undefined;
}

/**
 * Makes a link.
 * @returns the stored record and the token, which cannot be read again.
 * @throws AppError 409 when the account has LINKS_MAX live links.
 */
export async function insertPortalLink(session: Session, { accountId, keyId, keyExpiresAt }: NewPortalLink) {
  // The row lock of the account: two requests at once cannot both make the last link allowed.
  await changeTime(session, accountId, new Date());
  const now = agreedDate();
  const live = { account_id: accountId, expires_at: { $gt: now } };
  if ((await PortalLink.countDocuments(live, { session, limit: LINKS_MAX })) >= LINKS_MAX) throw linksMaxReached();
  const token = makeToken();
  const end = new Date(now.getTime() + LINK_LIFE_MS);
  const link = new PortalLink({
    account_id: accountId,
    hash: hashToken(token),
    key_id: keyId,
    created_at: now,
    expires_at: keyExpiresAt && keyExpiresAt < end ? keyExpiresAt : end,
  });
  await link.save({ session });
  return { token, link: link.toObject() as PortalLinkRecord };
}

/** Returns the live link of a token, or null. The visitor is not known yet, so the query covers all accounts. */
export function findPortalLink(token: string, now: Date = agreedDate()): Promise<PortalLinkRecord | null> {
  return PortalLink.findOne({ hash: hashToken(token), expires_at: { $gt: now } })
    .setOptions(acrossAccounts)
    .lean<PortalLinkRecord>();
}

/** Counts a browser that the link lets in. @returns false when it has let in BROWSERS_MAX, or has expired. */
export async function countBrowser(
  { _id, account_id }: PortalLinkRecord,
  session: Session,
  now: Date = agreedDate(),
): Promise<boolean> {
  const open = { _id, account_id, browsers: { $lt: BROWSERS_MAX }, expires_at: { $gt: now } };
  const { modifiedCount } = await PortalLink.updateOne(open, { $inc: { browsers: 1 } }, { session });
  return modifiedCount === 1;
}

// The commands about API keys.
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { instantOf } from '#libs/day.ts';
import {
  ApiKey,
  type ApiKeyRecord,
  endApiKey,
  endReplaced,
  issueApiKey,
  type NewApiKey,
  SCOPES,
} from '#libs/models/accounts/api-key.ts';
import { untilForgotten } from '#libs/models/accounts/key-cache.ts';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import { inTransaction, type Session } from '#libs/mongo/connection.ts';
import { requireAccount } from './accounts.ts';
import { recorded } from './audited.ts';
import { CommandError } from './connection.ts';
import { requireAll, requireName } from './texts.ts';

const DAYS_FORM = /^(\d{1,4})d$/;
const DAY_MS = 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;

export async function createKey(options: { account: string; name: string; scopes: string; expires?: string }) {
  await requireAccount(options.account);
  const given = requireAll({
    name: () => requireName('--name', options.name),
    scopes: () => scopesOf(options.scopes),
    expiresAt: () => (options.expires === undefined ? undefined : expiryOf(options.expires)),
  });
  const wanted: NewApiKey = { accountId: options.account, ...given };
  const { key, record } = await recorded('key.create', options.account, async () => {
    const issued = await issueApiKey(wanted);
    return { ...issued, detail: `${String(issued.record._id)}: ${wanted.scopes.join(', ')}` };
  });
  const { id, ...rest } = view(record.toObject());
  return { id, key, ...rest };
}

export async function listKeys(options: { account: string }) {
  await requireAccount(options.account);
  const keys = await ApiKey.find({ account_id: options.account }).sort({ _id: 1 }).lean<ApiKeyRecord[]>();
  return keys.map(view);
}

export async function revokeKey(id: string) {
  const key = await requireKey(id);
  const revokedAt = key.revoked_at ?? agreedDate();
  await recorded('key.revoke', String(key._id), async () => {
    await endApiKey(key, { revoked_at: revokedAt });
    return key.revoked_at ? { detail: 'It was revoked already' } : {};
  });
  await untilForgotten();
  return view({ ...key, revoked_at: revokedAt });
}

/** Creates a key with the same name, scopes and expiry. The old one ends at once or after `overlapHours`. */
export async function rotateKey(id: string, options: { overlapHours: number }) {
  const old = await requireKey(id);
  const { key, record, endsAt } = await recorded('key.rotate', String(old._id), async () => {
    const replaced = await inTransaction((session) => replaceKey(id, options.overlapHours, session));
    return {
      ...replaced,
      detail: `${String(replaced.record._id)}; the old one ends at ${replaced.endsAt.toISOString()}`,
    };
  });
  await untilForgotten();
  const { id: newId, ...rest } = view(record.toObject());
  return { id: newId, key, ...rest, replaces: id, old_key_ends_at: endsAt.toISOString() };
}

async function replaceKey(id: string, overlapHours: number, session: Session) {
  const old = await requireKey(id, session);
  const now = agreedDate();
  if (old.replaced_at)
    throw new CommandError(`Key ${id} was replaced already; rotate its successor or create a new one`);
  if (old.revoked_at) throw new CommandError(`Key ${id} is revoked; create a new one`);
  if (old.expires_at && old.expires_at <= now) throw new CommandError(`Key ${id} has expired; create a new one`);
  const endsAt = await endReplaced(old, { now, end: new Date(now.getTime() + overlapHours * HOUR_MS) }, session);
  const { name, scopes, account_id, expires_at } = old;
  const like = { accountId: String(account_id), name, scopes, expiresAt: expires_at ?? undefined, replaces: old };
  return { ...(await issueApiKey(like, session)), endsAt };
}

async function requireKey(id: string, session?: Session): Promise<ApiKeyRecord> {
  // The operator names a key, not an account.
  const options = { ...acrossAccounts, ...(session ? { session } : {}) };
  const key = isId(id) ? await ApiKey.findOne({ _id: id }).setOptions(options).lean<ApiKeyRecord>() : null;
  if (!key) throw new CommandError(`No key has the id ${id}`);
  return key;
}

function scopesOf(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  const unknown = scopes.filter((scope) => scope !== '*' && !(SCOPES as readonly string[]).includes(scope));
  if (unknown.length > 0) {
    throw new CommandError(`Unknown scope ${unknown.join(', ')}. Known are *, ${SCOPES.join(', ')}`);
  }
  return scopes;
}

function expiryOf(text: string): Date {
  const days = DAYS_FORM.exec(text)?.[1];
  const date = days ? new Date(agreedTime() + Number(days) * DAY_MS) : instantOf(text);
  if (!date) {
    throw new CommandError(
      '--expires must be a day (2027-01-31), a timestamp (2027-01-31T12:00:00Z) or a number of days (90d)',
    );
  }
  if (date.getTime() <= agreedTime()) throw new CommandError('--expires must lie in the future');
  return date;
}

function statusOf({ revoked_at, expires_at }: ApiKeyRecord): 'revoked' | 'expired' | 'active' {
  if (revoked_at) return 'revoked';
  return expires_at && expires_at <= agreedDate() ? 'expired' : 'active';
}

function view(key: ApiKeyRecord) {
  return {
    id: String(key._id),
    account_id: String(key.account_id),
    name: key.name,
    start: key.start,
    scopes: key.scopes,
    status: statusOf(key),
    expires_at: key.expires_at?.toISOString(),
    last_used_at: key.last_used_at?.toISOString(),
    revoked_at: key.revoked_at?.toISOString(),
    created_at: key.created_at.toISOString(),
  };
}

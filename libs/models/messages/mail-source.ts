// The mail as it is sent, with all headers and attachments: every attempt sends the same bytes. Kept for a while after it left.
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { Schema } from 'mongoose';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { finishCounter } from '../counter.ts';
import { driverOf, type Owned, recordsOf } from '../records.ts';
import { countStored, quotaStep, sizeOf } from '../stored-bytes.ts';
import { acrossAccounts, type Id, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** The largest mail that is kept and sent, in bytes. A record of MongoDB may have 16 MiB. */
export const MAIL_BYTES_MAX = 15 * 2 ** 20;
/** The mails that one transaction removes. */
const REMOVED_AT_ONCE = 200;
/** The time for which a mail is kept after it was made. Attempts end long before. */
export const MAIL_KEPT_MS = 90 * 24 * 3_600_000;

export interface MailSourceRecord extends Owned {
  /** The id of the message, so that a message has one mail. */
  _id: StoredId;
  client_id: StoredId;
  /** The bytes, deflated. */
  bytes: Buffer;
  size_bytes: number;
  created_at: Date;
  expires_at: Date;
}

const mailSourceSchema = new Schema(
  {
    _id: requiredIdField,
    account_id: requiredIdField,
    client_id: requiredIdField,
    bytes: { type: Buffer, required: true },
    size_bytes: { type: Number, required: true },
    created_at: { type: Date, required: true },
    expires_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'mail_sources' },
);
mailSourceSchema.plugin(tenant);
// The round that removes old mails of all accounts walks this index. The database does not: it would not count the bytes.
mailSourceSchema.index({ expires_at: 1 });
// Anonymising a client removes the mails to it.
mailSourceSchema.index({ account_id: 1, client_id: 1 });

export const MailSource = recordsOf<MailSourceRecord>('MailSource', mailSourceSchema);

const deflated = promisify(deflate);
const inflated = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

/** Returns the record that keeps the mail of a message. @param bytes at most MAIL_BYTES_MAX. */
export async function mailSourceOf(
  message: Pick<MailSourceRecord, '_id' | 'account_id' | 'client_id'>,
  bytes: Buffer,
  now: Date,
): Promise<MailSourceRecord> {
  return {
    _id: message._id,
    account_id: message.account_id,
    client_id: message.client_id,
    bytes: await deflated(bytes),
    size_bytes: bytes.length,
    created_at: now,
    expires_at: new Date(now.getTime() + MAIL_KEPT_MS),
  };
}

/** Keeps the mail of a message that has none, and counts its bytes. @throws a duplicate-key error when it has one. */
export async function insertMailSource(source: MailSourceRecord, session: Session): Promise<void> {
  await driverOf(MailSource).insertOne(source, { session });
  countStored(session, sizeOf(source));
}

/** Returns the mail of a message, or undefined when it was not made yet or is no longer kept. */
export async function findMailSource(accountId: Id, messageId: Id | StoredId): Promise<Buffer | undefined> {
  const _id = typeof messageId === 'string' ? storedId(messageId) : messageId;
  const found = (await driverOf(MailSource).findOne(
    { _id, account_id: storedId(accountId) },
    { promoteBuffers: true },
  )) as MailSourceRecord | null;
  if (!found) return undefined;
  return inflated(found.bytes, { maxOutputLength: found.size_bytes });
}

/** Removes the mails to a client, in transactions of their own: there may be thousands. */
export async function removeMailSourcesOf(accountId: Id, clientId: Id): Promise<void> {
  const own = { account_id: storedId(accountId), client_id: storedId(clientId) } as object;
  for (;;) {
    const found = await driverOf(MailSource)
      .find(own, { projection: { _id: 1 }, limit: REMOVED_AT_ONCE, batchSize: REMOVED_AT_ONCE + 1 })
      .toArray();
    if (found.length === 0) return;
    await removeMailSources(
      accountId,
      found.map(({ _id }) => _id),
    );
  }
}

/** Returns the accounts of mails that are to be removed, with their ids, the oldest first. */
export async function findExpiredMailSources(
  now: Date,
  limit: number,
): Promise<Pick<MailSourceRecord, '_id' | 'account_id'>[]> {
  return MailSource.find({ expires_at: { $lte: now } })
    .setOptions(acrossAccounts)
    .sort({ expires_at: 1 })
    .limit(limit)
    .select({ account_id: 1 })
    .lean<Pick<MailSourceRecord, '_id' | 'account_id'>[]>();
}

/** Removes mails of one account, and frees their bytes. */
export async function removeMailSources(accountId: Id, ids: readonly StoredId[]): Promise<void> {
  const own = { account_id: storedId(accountId), _id: { $in: [...ids] } } as object;
  await inTransaction(async (session) => {
    const sizes = await driverOf(MailSource)
      .aggregate<{ size: number }>([{ $match: own }, { $project: { size: { $bsonSize: '$$ROOT' } } }], { session })
      .toArray();
    await driverOf(MailSource).deleteMany(own, { session });
    for (const { size } of sizes) countStored(session, -size);
    await finishCounter(session, accountId, quotaStep(session, undefined));
  });
}

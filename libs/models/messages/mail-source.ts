// The mail as it is sent, with all headers and attachments: every attempt sends the same bytes. Kept for a while after it left.
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createDeflate, inflate } from 'node:zlib';
import { Schema } from 'mongoose';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { finishCounter } from '../counter.ts';
import { readInTurn } from '../read-in-turn.ts';
import { driverOf, type Owned, recordsOf } from '../records.ts';
import { countStored, quotaStep, sizeOf } from '../stored-bytes.ts';
import { acrossAccounts, type Id, requiredIdField, type StoredId, storedId, tenant } from '../tenant.ts';

/** The largest mail that is kept and sent, in bytes. A record of MongoDB may have 16 MiB. */
export const MAIL_BYTES_MAX = 15 * 2 ** 20;
/** The most bytes of the files in a mail. Encoded in base64, they must leave room for the text. */
export const MAIL_FILES_BYTES_MAX = Math.floor(MAIL_BYTES_MAX * 0.7);
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

const inflated = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

/** A mail that is read piece by piece. */
interface ReadMail {
  size: number;
  read: () => AsyncIterable<Buffer>;
}

/** Returns the record that keeps the mail of a message. @param mail of at most MAIL_BYTES_MAX. */
export async function mailSourceOf(
  message: Pick<MailSourceRecord, '_id' | 'account_id' | 'client_id'>,
  mail: ReadMail,
  now: Date,
): Promise<MailSourceRecord> {
  return {
    _id: message._id,
    account_id: message.account_id,
    client_id: message.client_id,
    bytes: await pipeline(mail.read, createDeflate(), buffer),
    size_bytes: mail.size,
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
  return readInTurn(accountId, async () => {
    const found = (await driverOf(MailSource).findOne(
      { _id, account_id: storedId(accountId) },
      { promoteBuffers: true },
    )) as MailSourceRecord | null;
    return found ? inflated(found.bytes, { maxOutputLength: found.size_bytes }) : undefined;
  });
}

/**
 * Removes the mails to a client. Without a session, each batch is a transaction of its own: there may be thousands. With
 * one, it removes those that were made since.
 */
export async function removeMailSourcesOf(accountId: Id, clientId: Id, session?: Session): Promise<void> {
  const own = { account_id: storedId(accountId), client_id: storedId(clientId) } as object;
  if (session) return removeCounted(own, session);
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
  await inTransaction(async (session) => {
    await removeMailSourcesIn(session, accountId, ids);
    await finishCounter(session, accountId, quotaStep(session, undefined));
  });
}

/** Does the same in a transaction that writes the counter of the account at its end. */
export async function removeMailSourcesIn(session: Session, accountId: Id, ids: readonly StoredId[]): Promise<void> {
  await removeCounted({ account_id: storedId(accountId), _id: { $in: [...ids] } }, session);
}

async function removeCounted(own: object, session: Session): Promise<void> {
  const sizes = await driverOf(MailSource)
    .aggregate<{ size: number }>([{ $match: own }, { $project: { size: { $bsonSize: '$$ROOT' } } }], { session })
    .toArray();
  await driverOf(MailSource).deleteMany(own, { session });
  for (const { size } of sizes) countStored(session, -size);
}

// The counter of an account: one document that every transaction of the account updates, so that they commit one after the other.
import { model, Schema } from 'mongoose';
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { COUNTS_BEGUN, countStages, takeCountChanges } from './record-counts.ts';
import { learnStored } from './stored-bytes.ts';
import { type Id, idField, type StoredId, storedId } from './tenant.ts';

const counterSchema = new Schema(
  {
    /** The account's id: one document per account, so that a number and the time of a change cost one update. */
    _id: idField,
    invoice: { type: Number, required: true, default: 0 },
    quote: { type: Number, required: true, default: 0 },
    payment: { type: Number, required: true, default: 0 },
    credit_note: { type: Number, required: true, default: 0 },
    /** Sequences of one year, such as `invoice_2026`, and the first numbers of sequences that do not begin with 1. */
    sequences: Object,
    firsts: Object,
    /** By sequence of numbers: the latest date on which a document was issued, see document-dates.ts. */
    issued: Object,
    event: { type: Number, required: true, default: 0 },
    /** How many API keys were made: two at once conflict here, so they cannot both be the last one allowed. */
    key: { type: Number, required: true, default: 0 },
    /** How many records there are, see record-counts.ts. */
    counts: Object,
    /** Bytes of records and events, see stored-bytes.ts. */
    stored_bytes: Number,
    /** The latest `updated_at` that was given to a record of the account. */
    changed_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'counters' },
);

export const Counter = model('Counter', counterSchema);

export type Sequence = NumberKind | 'event' | 'key';

/** What one transaction has drawn so far. */
interface Drawn {
  changedAt?: Date;
  /** By sequence, as an update of the counter returned them: nothing else changes them before the transaction ends. */
  issued?: Readonly<Record<string, string>>;
  /** To be written with the next update of the counter. */
  toIssue?: Record<string, string> | undefined;
}

const drawnIn = perTransaction<Drawn>(() => ({}));

/**
 * The `updated_at` of everything the transaction changes. It is drawn under the account's row lock, so it grows in the order of commits:
 * what becomes visible later was changed later than everything that was visible before, whatever the clocks of the gateways say.
 * @param at the time it should be; it is later when the account's last change is not before it.
 */
export async function changeTime(session: Session, account: Id | StoredId, at: Date): Promise<Date> {
  const drawn = drawnIn(session);
  if (!drawn.changedAt) await updateCounter(session, account, at, {});
  return drawn.changedAt ?? at;
}

/** The latest date on which a document of the sequence was issued. */
export async function lastIssued(session: Session, account: Id, sequence: string): Promise<string | undefined> {
  const { issued, toIssue } = drawnIn(session);
  const own = toIssue?.[sequence];
  if (own !== undefined) return own;
  if (issued) return issued[sequence];
  const counter = await Counter.collection.findOne(
    { _id: storedId(account) as never },
    { session, projection: { issued: 1 } },
  );
  return (counter as { issued?: Record<string, string> } | null)?.issued?.[sequence];
}

/** Records that a document was issued on this date, which is the latest of its sequence unless one was later. */
export function recordIssued(session: Session, sequence: string, date: string): void {
  const drawn = drawnIn(session);
  const known = drawn.toIssue?.[sequence];
  if (known === undefined || date > known) drawn.toIssue = { ...drawn.toIssue, [sequence]: date };
}

function takeIssued(session: Session): Record<string, object> {
  const drawn = drawnIn(session);
  const dates = Object.entries(drawn.toIssue ?? {});
  drawn.toIssue = undefined;
  return Object.fromEntries(
    dates.map(([sequence, date]) => [`issued.${sequence}`, { $max: [`$issued.${sequence}`, date] }]),
  );
}

/** Writes what the transaction has counted and no update of the counter has taken along. @param storedBytes see stored-bytes.ts. */
export async function finishCounter(session: Session, accountId: Id, storedBytes: number): Promise<void> {
  const set = {
    ...takeIssued(session),
    ...(storedBytes === 0 ? {} : { stored_bytes: { $add: [{ $ifNull: ['$stored_bytes', 0] }, storedBytes] } }),
  };
  const stages = [...(Object.keys(set).length > 0 ? [{ $set: set }] : []), ...countStages(takeCountChanges(session))];
  if (stages.length === 0) return;
  await Counter.collection.updateOne({ _id: storedId(accountId) as never }, stages, { session });
}

/** For a dry run, which must not lock the account's counter: changes have this time. */
export function pretendChangeTime(session: Session, at: Date): void {
  drawnIn(session).changedAt = at;
}

/** @param at see changeTime. @param set expressions by field, computed from the counter as it was. @returns the counter as it is now. */
export async function updateCounter(
  session: Session,
  account: Id | StoredId,
  at: Date | undefined,
  set: Record<string, object>,
) {
  const drawn = drawnIn(session);
  const isTimed = at !== undefined && drawn.changedAt === undefined;
  // A missing time is no number to add to, and is left out of the maximum.
  const time = isTimed ? { changed_at: { $max: [at, { $add: ['$changed_at', 1] }] } } : {};
  // Straight from the driver: every write of the API goes through here.
  const counter = await Counter.collection.findOneAndUpdate(
    { _id: (typeof account === 'string' ? storedId(account) : account) as never }, // The wrapper's types know no ids but ObjectId.
    [
      {
        $set: {
          ...set,
          ...takeIssued(session),
          ...time,
          counts: COUNTS_BEGUN,
        },
      },
      ...countStages(takeCountChanges(session)),
    ],
    { session, upsert: true, returnDocument: 'after' },
  );
  if (!counter) throw new Error('an upsert returned nothing');
  if (isTimed) drawn.changedAt = counter['changed_at'] as Date;
  drawn.issued = (counter['issued'] as Record<string, string> | undefined) ?? {};
  learnStored(session, counter['stored_bytes']);
  return counter;
}

// The counter of an account: one document that every transaction of the account updates, so that they commit one after the other.
import { model, Schema } from 'mongoose';
import type { Session } from '../mongo/connection.ts';
import { perTransaction } from '../mongo/per-transaction.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { COUNTS_BEGUN, countStages, takeCountChanges } from './record-counts.ts';
import { learnStored, needsSum } from './stored-bytes.ts';
import { type Id, idField, type StoredId, storedId } from './tenant.ts';

const counterSchema = new Schema(
  {
    /** The account's id. One document per account lets a number and the time of a change cost one update. */
    _id: idField,
    invoice: { type: Number, required: true, default: 0 },
    quote: { type: Number, required: true, default: 0 },
    payment: { type: Number, required: true, default: 0 },
    credit_note: { type: Number, required: true, default: 0 },
    /** Sequences of one year, such as `invoice_2026`, and the first numbers of sequences that do not begin with 1. */
    sequences: Object,
    firsts: Object,
    /** The latest date of issue by sequence of numbers, see document-dates.ts. */
    issued: Object,
    event: { type: Number, required: true, default: 0 },
    /**
     * The number of API keys ever made. Two requests at once conflict here, so they cannot both make the last key
     * allowed.
     */
    key: { type: Number, required: true, default: 0 },
    /** The numbers of records, see record-counts.ts. */
    counts: Object,
    /** The bytes of records and events, see stored-bytes.ts. */
    stored_bytes: Number,
    /** The latest `updated_at` that was given to a record of the account. */
    changed_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'counters' },
);

export const Counter = model('Counter', counterSchema);

export type Sequence = NumberKind | 'event' | 'key';

/** The values that one transaction has drawn so far. */
interface Drawn {
  changedAt?: Date;
  /**
   * The dates by sequence, as an update of the counter returned them. No other transaction changes them before this one
   * ends.
   */
  issued?: Readonly<Record<string, string>>;
  /** The dates to write with the next update of the counter. */
  toIssue?: Record<string, string> | undefined;
}

const drawnIn = perTransaction<Drawn>(() => ({}));

/**
 * Draws the `updated_at` of everything that the transaction changes. The row lock of the account makes it grow in the
 * order of commits: a change that becomes visible later has a later time, whatever the clocks of the gateways say.
 * @param at the wanted time. The drawn time is later when the account's last change is not before it.
 */
export async function changeTime(session: Session, account: Id | StoredId, at: Date): Promise<Date> {
  const drawn = drawnIn(session);
  if (!drawn.changedAt) await updateCounter(session, account, at, {});
  return drawn.changedAt ?? at;
}

/** Returns the bytes of records and events that the account keeps, see stored-bytes.ts. */
export async function storedBytesOf(accountId: Id, session?: Session): Promise<number> {
  const counter = await Counter.collection.findOne(
    { _id: storedId(accountId) as never },
    { projection: { stored_bytes: 1 }, ...(session ? { session } : {}) },
  );
  return Math.max(0, Number(counter?.['stored_bytes'] ?? 0));
}

/** Reads the sum of a transaction that wrote bytes and drew nothing from the counter, so that its quota can be checked. */
export async function learnSum(session: Session, accountId: Id): Promise<void> {
  if (needsSum(session)) learnStored(session, await storedBytesOf(accountId, session));
}

/** Returns the latest date on which a document of the sequence was issued. */
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

/** Records that a document was issued on this date. The sequence keeps its latest date. */
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

/**
 * Writes the counts of the transaction that no update of the counter has written yet.
 * @param storedBytes see stored-bytes.ts.
 */
export async function finishCounter(session: Session, accountId: Id, storedBytes: number): Promise<void> {
  const set = {
    ...takeIssued(session),
    ...(storedBytes === 0 ? {} : { stored_bytes: { $add: [{ $ifNull: ['$stored_bytes', 0] }, storedBytes] } }),
  };
  const stages = [...(Object.keys(set).length > 0 ? [{ $set: set }] : []), ...countStages(takeCountChanges(session))];
  if (stages.length === 0) return;
  await Counter.collection.updateOne({ _id: storedId(accountId) as never }, stages, { session });
}

/** Gives the changes of a dry run their time, because a dry run must not lock the account's counter. */
export function pretendChangeTime(session: Session, at: Date): void {
  drawnIn(session).changedAt = at;
}

/**
 * Updates the counter.
 * @param at see changeTime.
 * @param set expressions by field, computed from the counter before.
 * @returns the changed counter.
 */
export async function updateCounter(
  session: Session,
  account: Id | StoredId,
  at: Date | undefined,
  set: Record<string, object>,
) {
  const drawn = drawnIn(session);
  const isTimed = at !== undefined && drawn.changedAt === undefined;
  // $max ignores a time that is absent.
  const time = isTimed ? { changed_at: { $max: [at, { $add: ['$changed_at', 1] }] } } : {};
  // The driver is faster than mongoose, and every write of the API comes here.
  const counter = await Counter.collection.findOneAndUpdate(
    { _id: (typeof account === 'string' ? storedId(account) : account) as never }, // The types of mongoose know no ids but ObjectId.
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

// The counter of an account: one document that every transaction of the account updates, so that they commit one after the other.
import { model, Schema } from 'mongoose';
import type { Session } from '../mongo/connection.ts';
import type { NumberKind } from './billing/number-kinds.ts';
import { COUNTS_BEGUN, countStages, takeCountChanges } from './record-counts.ts';
import { learnStored } from './stored-bytes.ts';
import { type Id, idField, type StoredId, storedId } from './tenant.ts';

const counterSchema = new Schema(
  {
    /** The account's id: one document per account, so that a number and an event cost one update. */
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

/** What one transaction has drawn so far. A transaction that is tried again has drawn nothing. */
interface Drawn {
  changedAt?: Date;
  /** Sequences of events that come later in the transaction. */
  reserved?: { first: number; count: number } | undefined;
  toReserve?: number;
  /** By sequence, as an update of the counter returned them: nothing else changes them before the transaction ends. */
  issued?: Readonly<Record<string, string>>;
  /** To be written with the next update of the counter. */
  toIssue?: Record<string, string> | undefined;
}

const drawnBy = new WeakMap<object, Drawn>();

function drawnIn(session: Session): Drawn {
  // The driver makes a new one for every attempt, and leaves it out of its types.
  const { transaction } = session as unknown as { transaction: object };
  const drawn = drawnBy.get(transaction) ?? {};
  drawnBy.set(transaction, drawn);
  return drawn;
}

/**
 * The `updated_at` of everything the transaction changes. It is drawn under the account's row lock, so it grows in the order of commits:
 * what becomes visible later was changed later than everything that was visible before, whatever the clocks of the gateways say.
 * @param at the time it should be; it is later when the account's last change is not before it.
 */
export async function changeTime(session: Session, account: Id | StoredId, at: Date): Promise<Date> {
  const drawn = drawnIn(session);
  if (!drawn.changedAt) await raise(session, account, { names: [], by: 1, at });
  return drawn.changedAt ?? at;
}

/** Lets the next update of the counter also reserve event sequences. Call `giveBack` at the end. */
export function reserveEvents(session: Session, count = 1): void {
  drawnIn(session).toReserve = count;
}

/** Takes back the sequences that no event has used. */
export async function giveBack(session: Session, accountId: Id): Promise<void> {
  const { count } = takeReserved(session, Number.MAX_SAFE_INTEGER);
  if (count === 0) return;
  await Counter.collection.updateOne({ _id: storedId(accountId) as never }, { $inc: { event: -count } }, { session });
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

/** Sequences that were drawn ahead for events, at most so many of them. They are the account's latest: no other transaction draws meanwhile. */
export function takeReserved(session: Session, most: number): { first: number; count: number } {
  const drawn = drawnIn(session);
  const { first, count } = drawn.reserved ?? { first: 0, count: 0 };
  const taken = Math.min(count, most);
  drawn.reserved = count > taken ? { first: first + taken, count: count - taken } : undefined;
  return { first, count: taken };
}

/** @param at also draws the time of the change, unless the transaction has one. */
export async function raise<Name extends Sequence>(
  session: Session,
  account: Id | StoredId,
  { names, by, at }: { names: readonly Name[]; by: number; at?: Date | undefined },
): Promise<Record<Name, number>> {
  const counter = await updateCounter(session, account, at, increments(names, by));
  return Object.fromEntries(names.map((name) => [name, counter[name]])) as Record<Name, number>;
}

function increments(names: readonly Sequence[], by: number): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $add: [{ $ifNull: [`$${name}`, 0] }, by] }]));
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
  const isReserving = at !== undefined && !drawn.reserved && !('event' in set);
  const ahead = isReserving ? (drawn.toReserve ?? 0) : 0;
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
          ...(ahead > 0 ? increments(['event'], ahead) : {}),
          ...time,
          counts: COUNTS_BEGUN,
        },
      },
      ...countStages(takeCountChanges(session)),
    ],
    { session, upsert: true, returnDocument: 'after' },
  );
  if (!counter) throw new Error('an upsert returned nothing');
  if (ahead > 0) drawn.reserved = { first: counter['event'] - ahead + 1, count: ahead };
  if (isTimed) drawn.changedAt = counter['changed_at'] as Date;
  drawn.issued = (counter['issued'] as Record<string, string> | undefined) ?? {};
  learnStored(session, counter['stored_bytes']);
  return counter;
}

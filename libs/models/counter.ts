// The sequences of an account and the time of its last change, drawn inside the transaction that uses them: a failure leaves no hole.
import { model, Schema } from 'mongoose';
import type { Session } from '../mongo/connection.ts';
import { learnStored } from './stored-bytes.ts';
import { type Id, idField, type StoredId, storedId } from './tenant.ts';

const counterSchema = new Schema(
  {
    /** The account's id: one document per account, so that a number and an event cost one update. */
    _id: idField,
    invoice: { type: Number, required: true, default: 0 },
    quote: { type: Number, required: true, default: 0 },
    payment: { type: Number, required: true, default: 0 },
    /** Sequences of one year, such as `invoice_2026`, and the first numbers of sequences that do not begin with 1. */
    sequences: Object,
    firsts: Object,
    /** By sequence of numbers: the latest date on which a document was issued, see document-dates.ts. */
    issued: Object,
    event: { type: Number, required: true, default: 0 },
    /** How many API keys were made: two at once conflict here, so they cannot both be the last one allowed. */
    key: { type: Number, required: true, default: 0 },
    /** Bytes of records and events, see stored-bytes.ts. */
    stored_bytes: Number,
    /** The latest `updated_at` that was given to a record of the account. */
    changed_at: Date,
  },
  { versionKey: false, strict: 'throw', collection: 'counters' },
);

export const Counter = model('Counter', counterSchema);

export type Sequence = 'invoice' | 'quote' | 'payment' | 'event' | 'key';

/** What one transaction has drawn so far. A transaction that is tried again has drawn nothing. */
interface Drawn {
  changedAt?: Date;
  /** A sequence of an event that comes later in the transaction. */
  event?: number | undefined;
  mayReserve?: boolean;
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
  if (drawn.changedAt) return drawn.changedAt;
  const names: Sequence[] = drawn.mayReserve && drawn.event === undefined ? ['event'] : [];
  const { event } = await raise(session, account, { names, by: 1, at });
  if (names.length > 0) drawn.event = event;
  return drawn.changedAt ?? at;
}

/** Lets `changeTime` draw the sequence of the event that follows in the same update. `giveBack` must end the work. */
export function reserveEvents(session: Session): void {
  drawnIn(session).mayReserve = true;
}

/** Takes back the sequence that no event has used. */
export async function giveBack(session: Session, accountId: Id): Promise<void> {
  const drawn = drawnIn(session);
  if (drawn.event === undefined) return;
  drawn.event = undefined;
  await Counter.collection.updateOne({ _id: storedId(accountId) as never }, { $inc: { event: -1 } }, { session });
}

/** Adds to the bytes that the account keeps, see stored-bytes.ts. */
export async function addStoredBytes(session: Session, accountId: Id, by: number): Promise<void> {
  await Counter.collection.updateOne(
    { _id: storedId(accountId) as never },
    { $inc: { stored_bytes: by } },
    { session },
  );
}

/** For a dry run, which must not lock the account's counter: changes have this time. */
export function pretendChangeTime(session: Session, at: Date): void {
  drawnIn(session).changedAt = at;
}

/**
 * Draws the next number of each named sequence of the account.
 * Two transactions that draw for one account conflict, and the second waits for the first: numbers follow the order of commits.
 * @param at see changeTime: of a record that is made next. Drawn in the same update.
 */
export async function drawNext<Name extends Sequence>(
  session: Session,
  accountId: Id,
  names: readonly Name[],
  at?: Date,
): Promise<Record<Name, number>> {
  const reserved = takeReserved(session, names);
  const left = names.filter((name) => reserved === undefined || name !== 'event');
  const drawn = left.length > 0 ? await raise(session, accountId, { names: left, by: 1, at }) : {};
  return { ...drawn, ...(reserved === undefined ? {} : { event: reserved }) } as Record<Name, number>;
}

/**
 * Draws the next number of a sequence of documents and, with `withEvent`, the sequence of the event that follows, in one update.
 * @param sequence see sequenceOf in number-format.ts. @param start its first number. @param at see changeTime.
 */
export async function drawInSequence(
  session: Session,
  accountId: Id,
  { sequence, start, withEvent, at }: { sequence: string; start: number; withEvent: boolean; at: Date },
): Promise<{ number: number; event: number | undefined }> {
  const reserved = withEvent ? takeReserved(session, ['event']) : undefined;
  const path = sequencePath(sequence);
  const last = { $ifNull: [`$${path}`, 0] };
  const isBegun = { $gt: [last, 0] };
  const counter = await update(session, accountId, at, {
    [path]: { $cond: [isBegun, { $add: [last, 1] }, start] },
    ...(start > 1
      ? { [`firsts.${sequence}`]: { $ifNull: [`$firsts.${sequence}`, { $cond: [isBegun, 1, start] }] } }
      : {}),
    ...(withEvent && reserved === undefined ? sumsOf(['event'], 1) : {}),
  });
  const number = path === sequence ? counter[sequence] : counter['sequences'][sequence];
  return { number, event: withEvent ? (reserved ?? counter['event']) : undefined };
}

/** A sequence over all years is a field of its own; those of a year are fields of `sequences`. */
function sequencePath(sequence: string): string {
  return sequence.includes('_') ? `sequences.${sequence}` : sequence;
}

export interface NumberSequence {
  /** Empty for the sequence over all years. */
  period: string;
  first: number;
  last: number;
}

/** All sequences of a kind of document that have begun, by period. */
export async function sequencesOf(
  session: Session,
  accountId: Id,
  kind: 'invoice' | 'payment' | 'quote',
): Promise<NumberSequence[]> {
  const counter = await Counter.collection.findOne({ _id: storedId(accountId) as never }, { session });
  if (!counter) return [];
  const { sequences = {}, firsts = {} } = counter as {
    sequences?: Record<string, number>;
    firsts?: Record<string, number>;
  };
  const ofAllYears = Number(counter[kind] ?? 0);
  return Object.entries({ ...(ofAllYears > 0 ? { [kind]: ofAllYears } : {}), ...sequences })
    .filter(([name]) => name === kind || name.startsWith(`${kind}_`))
    .map(([name, last]) => ({ period: name.slice(kind.length + 1), first: firsts[name] ?? 1, last }))
    .toSorted((one, other) => (one.period < other.period ? -1 : 1));
}

/** Draws as many numbers of one sequence at a time. @returns the first of them. */
export async function drawMany(session: Session, accountId: Id, name: Sequence, count: number): Promise<number> {
  const reserved = takeReserved(session, [name]);
  // No other transaction draws between the two: the row is locked until this one ends.
  const by = reserved === undefined ? count : count - 1;
  if (by === 0 && reserved !== undefined) return reserved;
  const last = (await raise(session, accountId, { names: [name], by }))[name];
  return last - count + 1;
}

function takeReserved(session: Session, names: readonly Sequence[]): number | undefined {
  if (!names.includes('event')) return undefined;
  const drawn = drawnIn(session);
  const { event } = drawn;
  drawn.event = undefined;
  return event;
}

/** The latest number of a sequence, as the transaction sees it; 0 when none was drawn. */
export async function lastDrawn(session: Session, accountId: Id, name: Sequence): Promise<number> {
  const counter = await Counter.collection.findOne(
    { _id: storedId(accountId) as never },
    { session, projection: { [name]: 1 } },
  );
  return (counter as Partial<Record<Sequence, number>> | null)?.[name] ?? 0;
}

/** @param at also draws the time of the change, unless the transaction has one. */
async function raise<Name extends Sequence>(
  session: Session,
  account: Id | StoredId,
  { names, by, at }: { names: readonly Name[]; by: number; at?: Date | undefined },
): Promise<Record<Name, number>> {
  const counter = await update(session, account, at, sumsOf(names, by));
  return Object.fromEntries(names.map((name) => [name, counter[name]])) as Record<Name, number>;
}

function sumsOf(names: readonly Sequence[], by: number): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $add: [{ $ifNull: [`$${name}`, 0] }, by] }]));
}

/** @param set expressions by field, computed from the counter as it was. @returns the counter as it is now. */
async function update(session: Session, account: Id | StoredId, at: Date | undefined, set: Record<string, object>) {
  const drawn = drawnIn(session);
  const isTimed = at !== undefined && drawn.changedAt === undefined;
  // A missing time is no number to add to, and is left out of the maximum.
  const time = isTimed ? { changed_at: { $max: [at, { $add: ['$changed_at', 1] }] } } : {};
  // Straight from the driver: every write of the API goes through here.
  const counter = await Counter.collection.findOneAndUpdate(
    { _id: (typeof account === 'string' ? storedId(account) : account) as never }, // The wrapper's types know no ids but ObjectId.
    [{ $set: { ...set, ...time } }],
    { session, upsert: true, returnDocument: 'after' },
  );
  if (!counter) throw new Error('an upsert returned nothing');
  if (isTimed) drawn.changedAt = counter['changed_at'] as Date;
  learnStored(session, counter['stored_bytes']);
  return counter;
}

// The sequences of an account, drawn inside the transaction that uses the number: a failure leaves no hole.
import { model, Schema } from 'mongoose';
import type { Session } from '../mongo.ts';
import { driverOf } from './records.ts';
import { type Id, idField, storedId } from './tenant.ts';

const counterSchema = new Schema(
  {
    /** The account's id: one document per account, so that a number and an event cost one update. */
    _id: idField,
    invoice: { type: Number, required: true, default: 0 },
    quote: { type: Number, required: true, default: 0 },
    /** By sequence of numbers: the latest date on which a document was issued, see document-dates.ts. */
    issued: Object,
    event: { type: Number, required: true, default: 0 },
    /** How many API keys were made: two at once conflict here, so they cannot both be the last one allowed. */
    key: { type: Number, required: true, default: 0 },
  },
  { versionKey: false, strict: 'throw', collection: 'counters' },
);

export const Counter = model('Counter', counterSchema);

export type Sequence = 'invoice' | 'quote' | 'event' | 'key';

/**
 * Draws the next number of each named sequence of the account.
 * Two transactions that draw for one account conflict, and the second waits for the first: numbers follow the order of commits.
 */
export async function drawNext<Name extends Sequence>(
  session: Session,
  accountId: Id,
  names: readonly Name[],
): Promise<Record<Name, number>> {
  return raise(session, accountId, names, 1);
}

/** Draws as many numbers of one sequence at a time. @returns the first of them. */
export async function drawMany(session: Session, accountId: Id, name: Sequence, count: number): Promise<number> {
  return (await raise(session, accountId, [name], count))[name] - count + 1;
}

/** The latest number of a sequence, as the transaction sees it; 0 when none was drawn. */
export async function lastDrawn(session: Session, accountId: Id, name: Sequence): Promise<number> {
  const counter = await driverOf(Counter).findOne({ _id: storedId(accountId) }, { session, projection: { [name]: 1 } });
  return (counter as Partial<Record<Sequence, number>> | null)?.[name] ?? 0;
}

async function raise<Name extends Sequence>(session: Session, accountId: Id, names: readonly Name[], by: number) {
  // Straight from the driver: every write of the API goes through here.
  const counter = await Counter.collection.findOneAndUpdate(
    { _id: storedId(accountId) as never }, // The wrapper's types know no ids but ObjectId.
    { $inc: Object.fromEntries(names.map((name) => [name, by])) },
    { session, upsert: true, returnDocument: 'after' },
  );
  if (!counter) throw new Error('an upsert returned nothing');
  return Object.fromEntries(names.map((name) => [name, counter[name]])) as Record<Name, number>;
}

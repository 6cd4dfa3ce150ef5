// The sequences of an account. The transaction that uses a number draws it, so a failure leaves no hole.
import type { Session } from '../mongo/connection.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { Counter, type Sequence, updateCounter } from './counter.ts';
import { type Id, storedId } from './tenant.ts';

/**
 * Draws the next number of a sequence of the account. Two transactions that draw for one account conflict, and the
 * second waits for the first, so numbers follow the order of commits.
 */
export function drawNext(session: Session, accountId: Id, name: Sequence): Promise<number> {
  return drawMany(session, accountId, name, 1);
}

/**
 * Draws the next number of a sequence of documents.
 * @param sequence see sequenceOf in number-format.ts.
 * @param start its first number.
 * @param at see changeTime.
 * @param by the step, more than 1 only in a sequence that has begun.
 */
export async function drawInSequence(
  session: Session,
  accountId: Id,
  { sequence, start, at, by = 1 }: { sequence: string; start: number; at: Date; by?: number },
): Promise<number> {
  const path = sequencePath(sequence);
  const last = { $ifNull: [`$${path}`, 0] };
  const isBegun = { $gt: [last, 0] };
  const counter = await updateCounter(session, accountId, at, {
    [path]: { $cond: [isBegun, { $add: [last, by] }, start] },
    ...(start > 1
      ? { [`firsts.${sequence}`]: { $ifNull: [`$firsts.${sequence}`, { $cond: [isBegun, 1, start] }] } }
      : {}),
  });
  return path === sequence ? counter[sequence] : counter['sequences'][sequence];
}

const OF_A_YEAR = /_\d{4}$/;

/**
 * Returns the path of a sequence in the counter. A sequence over all years is a field of its own; those of a year are
 * in `sequences`.
 */
function sequencePath(sequence: string): string {
  return OF_A_YEAR.test(sequence) ? `sequences.${sequence}` : sequence;
}

export interface NumberSequence {
  /** The year of the sequence. Empty for the sequence over all years. */
  period: string;
  first: number;
  last: number;
}

/** Returns all sequences of a kind of document that have begun, by period. */
export async function sequencesOf(session: Session, accountId: Id, kind: NumberKind): Promise<NumberSequence[]> {
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

/** Draws `count` numbers of one sequence at once. @returns the first of them. */
export async function drawMany(session: Session, accountId: Id, name: Sequence, count: number): Promise<number> {
  const counter = await updateCounter(session, accountId, undefined, {
    [name]: { $add: [{ $ifNull: [`$${name}`, 0] }, count] },
  });
  return counter[name] - count + 1;
}

/** Returns the latest number of a sequence as the transaction sees it. 0 when none was drawn. */
export async function lastDrawn(session: Session, accountId: Id, name: Sequence): Promise<number> {
  const counter = await Counter.collection.findOne(
    { _id: storedId(accountId) as never },
    { session, projection: { [name]: 1 } },
  );
  return (counter as Partial<Record<Sequence, number>> | null)?.[name] ?? 0;
}

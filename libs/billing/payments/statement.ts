// Computes the statement of account of a client: what it owed before a period, every movement in it with the balance that it
// left, and what it owes at the end. The balance of a day is what is due less the credit, as as-of.ts has it.
import { setImmediate } from 'node:timers/promises';
import { sumBy } from 'es-toolkit/math/sumBy';
import { addDays } from '../../day.ts';
import { appError } from '../../errors.ts';
import type { Id } from '../../models/tenant.ts';
import type { StatementKind } from '../../rules/money/statement-kinds.ts';
import {
  type Ageing,
  type Balances,
  balancesAsOf,
  type DatedCredit,
  type DatedInvoice,
  type DatedMovements,
  type DatedPart,
  type DatedWriteOff,
  dueBefore,
  restsAsOf,
} from './as-of.ts';

interface StatementDocument {
  type: 'invoice' | 'payment' | 'credit_note';
  id: Id;
  number: string;
}

interface StatementRow {
  /** `YYYY-MM-DD`. */
  date: string;
  kind: StatementKind;
  document: StatementDocument;
  /** The reference that the client knows the movement by. */
  text: string | undefined;
  /** The change of the balance in the smallest unit. Positive for a debit: the client owes more. */
  amount: number;
  /** The balance after it. */
  balance: number;
}

/** The statement in one currency. Amounts are in the smallest unit. A negative balance is credit of the client. */
export interface CurrencyStatement {
  currency: string;
  opening: number;
  debits: number;
  credits: number;
  closing: number;
  /** The parts of the closing balance: what is due, by its age, less the credit. */
  due: number;
  overdue: number;
  ageing: Ageing;
  credit: number;
  rows: StatementRow[];
}

/** The first and the last day, `YYYY-MM-DD`. */
export interface StatementPeriod {
  from: string;
  to: string;
}

/** Returns the name of a statement, which its file has without its end. */
export function statementName({ from, to }: StatementPeriod): string {
  return `statement-${from}-${to}`;
}

type Movement = Omit<StatementRow, 'balance'> & { currency: string };

/** The most rows of all currencies. */
export const STATEMENT_ROWS_MAX = 5_000;

/** The most allocations that are gone through, for all days on which something changed on a cancelled invoice. */
const STEPS_MAX = 20_000_000;

/**
 * Returns the statements in the order of currencies, without those in which nothing moved and nothing was open. They add
 * up: the opening balance and the rows give the closing balance.
 * @throws AppError 422 when the period has more than STATEMENT_ROWS_MAX rows.
 */
export async function statementsOf(movements: DatedMovements, period: StatementPeriod): Promise<CurrencyStatement[]> {
  const { from, to } = period;
  const kept = await keptOnCancelled(movements, period);
  const rows = [
    ...movements.invoices.flatMap((invoice) => rowsOfInvoice(invoice, period, kept.get(invoice.id))),
    ...movements.credits.flatMap((credit) => rowsOfCredit(credit, period)),
  ];
  if (rows.length > STATEMENT_ROWS_MAX) throw appError('statement_too_long', { limit: STATEMENT_ROWS_MAX });
  const rowsIn = Map.groupBy(rows.toSorted(inOrder), ({ currency }) => currency);
  const opening = byCurrency(balancesAsOf(movements, addDays(from, -1)));
  const closing = byCurrency(balancesAsOf(movements, to));
  const currencies = new Set([...opening.keys(), ...rowsIn.keys(), ...closing.keys()]);
  return [...currencies]
    .toSorted()
    .map((currency) => statementIn(currency, rowsIn.get(currency) ?? [], opening.get(currency), closing.get(currency)));
}

function statementIn(
  currency: string,
  movements: readonly Movement[],
  before: Balances | undefined,
  after: Balances | undefined,
): CurrencyStatement {
  const opening = balanceOf(before);
  let balance = opening;
  const rows = movements.map(({ currency: _currency, ...row }) => {
    balance += row.amount;
    return { ...row, balance };
  });
  const nothing = { not_due: 0, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 };
  const { due = 0, overdue = 0, ageing = nothing, credit = 0 } = after ?? {};
  const debits = sumBy(rows, ({ amount }) => Math.max(0, amount));
  const credits = sumBy(rows, ({ amount }) => Math.max(0, -amount));
  return { currency, opening, debits, credits, closing: due - credit, due, overdue, ageing, credit, rows };
}

function balanceOf(balances: Balances | undefined): number {
  return balances ? balances.due - balances.credit : 0;
}

function byCurrency(balances: readonly Balances[]): Map<string, Balances> {
  return new Map(balances.map((one) => [one.currency, one]));
}

/** Orders by day, and those of a day by when their document was made. The sort is stable. */
function inOrder(one: Movement, other: Movement): number {
  if (one.date !== other.date) return one.date < other.date ? -1 : 1;
  return one.document.id === other.document.id ? 0 : one.document.id < other.document.id ? -1 : 1;
}

/** A change of what an invoice or a credit counts from a day on. */
interface Step {
  day: string;
  kind: StatementKind;
  text?: string | undefined;
  /** Added to the sum of the record. */
  sum?: number;
  /** Taken off the sum: written off of an invoice, refunded of a credit. */
  off?: number;
  /** Ends the record. */
  isEnd?: true;
}

interface Steps extends Pick<Movement, 'document' | 'currency'> {
  steps: readonly Step[];
  /** 1 for an invoice, -1 for a credit. */
  sign: 1 | -1;
  /** The amount that still counts on a day after the end. */
  afterEnd?: (day: string) => number;
}

/**
 * Takes the steps in their order, and returns a row for each in the period whose amount changed. From any day to another
 * the rows add up to the difference of what the record counts on them.
 */
function rowsOf({ steps, sign, afterEnd = () => 0, ...row }: Steps, { from, to }: StatementPeriod): Movement[] {
  const state = { sum: 0, off: 0, isEnded: false };
  const countedOn = (day: string) => (state.isEnded ? afterEnd(day) : sign * Math.max(0, state.sum - state.off));
  const ordered = steps.toSorted((one, other) => (one.day === other.day ? 0 : one.day < other.day ? -1 : 1));
  const rows: Movement[] = [];
  let before: number | undefined;
  for (const { day, kind, text, sum = 0, off = 0, isEnd = false } of ordered) {
    if (day > to) break;
    if (day >= from) before ??= countedOn(addDays(from, -1));
    state.sum += sum;
    state.off += off;
    state.isEnded ||= isEnd;
    if (before === undefined) continue;
    const after = countedOn(day);
    // A document of 0 is shown, too.
    if (after !== before || kind === 'invoice' || kind === 'credit_note') {
      rows.push({ ...row, date: day, kind, text, amount: after - before });
    }
    before = after;
  }
  return rows;
}

/** The amounts that allocations keep on a cancelled invoice, by day. */
type Kept = ReadonlyMap<string, number>;

/**
 * Returns the rows of an invoice. It counts with its total less what is written off. Once it is cancelled, it counts with
 * the allocations that stay on it, because they use up as much credit.
 * @param kept on each day on which something changed since it was cancelled. Absent where nothing stays on it.
 */
function rowsOfInvoice(invoice: DatedInvoice, period: StatementPeriod, kept: Kept = new Map()): Movement[] {
  const { id, number, currency, issued_on, writtenOff, total, reference } = invoice;
  const end = cancellationOf(invoice);
  const steps: Step[] = [
    ...[...kept.keys()].filter((day) => end !== undefined && day > end).map((day): Step => ({ day, kind: 'release' })),
    { day: issued_on, kind: 'invoice', text: reference, sum: total },
    ...writtenOff.flatMap((one): Step[] => {
      const { taken, reversed } = writeOffDays(invoice, one);
      const kind = one.isDiscount ? 'discount' : 'write_off';
      const { amount } = one;
      return [
        { day: taken, kind, off: amount },
        ...reversed.map((day): Step => ({ day, kind: `${kind}_reversal`, off: -amount })),
      ];
    }),
    ...(end === undefined ? [] : [{ day: end, kind: 'cancellation', isEnd: true } as const]),
  ];
  const document = { type: 'invoice', id, number } as const;
  return rowsOf({ document, currency, steps, sign: 1, afterEnd: (day) => kept.get(day) ?? 0 }, period);
}

/** Returns the day of the cancellation. Nothing of an invoice counts before it was issued. */
function cancellationOf({ cancelled_on, issued_on }: DatedInvoice): string | undefined {
  return cancelled_on === undefined ? undefined : latest(cancelled_on, issued_on);
}

function writeOffDays({ issued_on }: DatedInvoice, { from, until }: DatedWriteOff) {
  const taken = latest(from, issued_on);
  return { taken, reversed: until === undefined ? [] : [latest(until, taken)] };
}

/** Returns the rows of a payment or a credit note. The client owes less by it, and more again by what is refunded or voided. */
function rowsOfCredit(credit: DatedCredit, period: StatementPeriod): Movement[] {
  const { id, currency, amount, date, ended_on, refunded, reference, source } = credit;
  const steps: Step[] = [
    { day: date, kind: source.payment ? 'payment' : 'credit_note', text: reference, sum: amount },
    ...refunded.map((one): Step => {
      return { day: latest(one.from, date), kind: 'refund', text: one.reference, off: one.amount };
    }),
    ...(ended_on === undefined ? [] : [{ day: latest(ended_on, date), kind: 'void', isEnd: true } as const]),
  ];
  const document: StatementDocument = source.payment
    ? { type: 'payment', id, number: source.payment.payment_number }
    : { type: 'credit_note', id, number: source.credit_note?.credit_note_number ?? '' };
  return rowsOf({ document, currency, steps, sign: -1 }, period);
}

/**
 * Returns what allocations keep on each cancelled invoice, on the days around the period and on those in it on which
 * something changed. How much of an allocation counts depends on all others, so each day is computed as a whole.
 */
async function keptOnCancelled(movements: DatedMovements, period: StatementPeriod): Promise<Map<Id, Kept>> {
  const partsOf = Map.groupBy(movements.parts, ({ invoice }) => invoice);
  const watched = movements.invoices.flatMap((invoice) => {
    const days = changesOf(invoice, partsOf.get(invoice.id) ?? [], period);
    return days.map((day) => ({ invoice, day }));
  });
  const byDay = Map.groupBy(watched, ({ day }) => day);
  if (byDay.size * movements.parts.length > STEPS_MAX) {
    throw appError('statement_too_long', { limit: STATEMENT_ROWS_MAX });
  }
  const kept = new Map<Id, Map<string, number>>();
  for (const [day, invoices] of byDay) {
    const { due } = restsAsOf(movements, day);
    for (const { invoice } of invoices) {
      const ofInvoice = kept.get(invoice.id) ?? new Map<string, number>();
      kept.set(invoice.id, ofInvoice.set(day, dueBefore(invoice, day) - (due.get(invoice.id) ?? 0)));
    }
    // Other requests get their turn.
    await setImmediate();
  }
  return kept;
}

/** Returns the days since its cancellation on which the kept amount has to be known: none without a cancellation or allocations. */
function changesOf(invoice: DatedInvoice, parts: readonly DatedPart[], { from, to }: StatementPeriod): string[] {
  const since = cancellationOf(invoice);
  if (since === undefined || parts.length === 0) return [];
  const before = addDays(from, -1);
  const moved = parts.flatMap((part) => [part.from, part.until, ...part.taken.map((one) => one.from)]);
  const writtenOff = invoice.writtenOff.flatMap((one) => {
    const { taken, reversed } = writeOffDays(invoice, one);
    return [taken, ...reversed];
  });
  const days = [before, since, to, ...moved, ...writtenOff].filter((day) => day !== undefined);
  return [...new Set(days)].filter((day) => day >= since && day >= before && day <= to);
}

function latest(one: string, other: string): string {
  return one > other ? one : other;
}

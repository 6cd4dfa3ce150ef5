// Computes what a client owed and had as credit at the end of a past day, from dated amounts only. The result does not
// depend on the day of the request.
import { sumBy } from 'es-toolkit/math/sumBy';
import { addDays } from '../../day.ts';
import type { Id } from '../../models/tenant.ts';

/**
 * An amount that counts from its day until the day on which it was reversed. Days are `YYYY-MM-DD`, amounts in the
 * smallest unit.
 */
export interface DatedAmount {
  amount: number;
  from: string;
  until?: string | undefined;
}

/** A write-off. */
export interface DatedWriteOff extends DatedAmount {
  /** True for the discount of a payment that came early. */
  isDiscount: boolean;
}

/** A refund. */
export interface DatedRefund extends DatedAmount {
  /** The reference of the transfer. */
  reference?: string | undefined;
}

/** An invoice that was issued. */
export interface DatedInvoice {
  id: Id;
  number: string;
  currency: string;
  /** The client's number of its order. */
  reference?: string | undefined;
  total: number;
  issued_on: string;
  /** The present due date, because earlier ones are not kept. */
  due_date: string;
  cancelled_on?: string | undefined;
  writtenOff: readonly DatedWriteOff[];
}

/** A payment or a credit note. */
export interface DatedCredit {
  id: Id;
  currency: string;
  amount: number;
  date: string;
  /** The day on which it was voided. */
  ended_on?: string | undefined;
  refunded: readonly DatedRefund[];
  /** The reference of a payment, or the number of the invoice that a credit note corrects. */
  reference?: string | undefined;
  /** The record itself, for readers of the balance. */
  source: CreditSource;
}

/** An allocation of a payment or a credit note to an invoice. */
export interface DatedPart extends DatedAmount {
  invoice: Id;
  source: Id;
  /** The amounts that refunds of the invoice took back. */
  taken: readonly DatedAmount[];
}

export interface DatedMovements {
  invoices: readonly DatedInvoice[];
  credits: readonly DatedCredit[];
  /** The allocations in the order in which they were booked. */
  parts: readonly DatedPart[];
}

/** The payment or the credit note. One of the two is null. */
export interface CreditSource {
  payment: { id: Id; payment_number: string } | null;
  credit_note: { id: Id; credit_note_number: string } | null;
}

/** The due amounts by the days that they are late. The fields add up to the due total. */
export interface Ageing {
  not_due: number;
  d1_30: number;
  d31_60: number;
  d61_90: number;
  d91_plus: number;
}

export interface Balances {
  currency: string;
  due: number;
  overdue: number;
  ageing: Ageing;
  credit: number;
  /** The number of payments and credit notes with something left. */
  credit_source_count: number;
  /** The first CREDIT_SOURCES_MAX of them. */
  credit_sources: (CreditSource & { date: string; amount: number })[];
}

/** The most sources of credit that a balance names for each currency. */
export const CREDIT_SOURCES_MAX = 100;

const LATE = [
  ['d1_30', 30],
  ['d31_60', 60],
  ['d61_90', 90],
] as const;

/** The sums by currency. */
export class BalanceSums {
  readonly #sums = new Map<string, Balances>();

  /** Adds a due amount. Only the day decides if it is late, because a status that was set by hand moves no money. */
  owe(currency: string, age: keyof Ageing, due: number) {
    if (due === 0) return;
    const balance = this.#of(currency);
    balance.due += due;
    if (age !== 'not_due') balance.overdue += due;
    balance.ageing[age] += due;
  }

  /** Adds the credit of several sources. @param sources those of them that may be named. */
  have(
    currency: string,
    { amount, count, sources }: { amount: number; count: number; sources: Balances['credit_sources'] },
  ) {
    if (amount === 0) return;
    const balance = this.#of(currency);
    balance.credit += amount;
    balance.credit_source_count += count;
    balance.credit_sources.push(...sources.slice(0, CREDIT_SOURCES_MAX - balance.credit_sources.length));
  }

  /** Returns the balances in the order of currencies, without those in which nothing is open. */
  all(): Balances[] {
    return [...this.#sums.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1));
  }

  #of(currency: string): Balances {
    const ageing = { not_due: 0, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 };
    const credit = { credit: 0, credit_source_count: 0, credit_sources: [] };
    const found = this.#sums.get(currency) ?? { currency, due: 0, overdue: 0, ageing, ...credit };
    this.#sums.set(currency, found);
    return found;
  }
}

/**
 * Returns the balances in the order of currencies, without those in which nothing was open. A movement may be booked
 * with a day in the past, beside others of that day. So each allocation counts as far as its invoice was still due and
 * its source still had credit: nothing is ever below 0.
 */
export function balancesAsOf(movements: DatedMovements, day: string): Balances[] {
  const { invoices, credits } = movements;
  const { due, left } = restsAsOf(movements, day);
  const sums = new BalanceSums();
  for (const invoice of invoices) {
    if (isCancelled(invoice, day)) continue;
    const { id, currency, due_date } = invoice;
    sums.owe(currency, ageOf(due_date, day), due.get(id) ?? 0);
  }
  for (const { id, currency, source, date } of credits) {
    const amount = left.get(id) ?? 0;
    sums.have(currency, { amount, count: 1, sources: [{ ...source, date, amount }] });
  }
  return sums.all();
}

/** Returns what the allocations left of each invoice and of each credit, by their ids. A cancelled invoice counts as if it was due. */
export function restsAsOf({ invoices, credits, parts }: DatedMovements, day: string) {
  const due = new Map(invoices.map((invoice) => [invoice.id, dueBefore(invoice, day)]));
  const left = new Map(credits.map((credit) => [credit.id, creditBefore(credit, day)]));
  for (const part of parts) {
    const [owed, had] = [due.get(part.invoice) ?? 0, left.get(part.source) ?? 0];
    const amount = Math.min(partAsOf(part, day), owed, had);
    due.set(part.invoice, owed - amount);
    left.set(part.source, had - amount);
  }
  return { due, left };
}

/** Returns what was due without allocations. A cancelled invoice counts, because its credit note stays on it. */
export function dueBefore({ total, issued_on, writtenOff }: DatedInvoice, day: string): number {
  return has({ from: issued_on }, day) ? Math.max(0, total - sumAsOf(writtenOff, day)) : 0;
}

function isCancelled({ cancelled_on }: DatedInvoice, day: string): boolean {
  return cancelled_on !== undefined && cancelled_on <= day;
}

/** Returns the credit without its allocations. */
function creditBefore({ amount, date, ended_on, refunded }: DatedCredit, day: string): number {
  return has({ from: date, until: ended_on }, day) ? Math.max(0, amount - sumAsOf(refunded, day)) : 0;
}

function partAsOf(part: DatedPart, day: string): number {
  return has(part, day) ? Math.max(0, part.amount - sumAsOf(part.taken, day)) : 0;
}

/** Returns the column of the ageing for an invoice with this due date. */
export function ageOf(due_date: string, day: string): keyof Ageing {
  return firstDaysOf(day).find(([, first]) => due_date >= first)?.[0] ?? 'd91_plus';
}

/** Returns the first due date in each column of the ageing but the last, latest first. */
export function firstDaysOf(day: string): [keyof Ageing, string][] {
  return [['not_due', day], ...LATE.map(([age, days]): [keyof Ageing, string] => [age, addDays(day, -days)])];
}

function sumAsOf(amounts: readonly DatedAmount[], day: string): number {
  return sumBy(amounts, (one) => (has(one, day) ? one.amount : 0));
}

function has({ from, until }: Pick<DatedAmount, 'from' | 'until'>, day: string): boolean {
  return from <= day && (until === undefined || until > day);
}

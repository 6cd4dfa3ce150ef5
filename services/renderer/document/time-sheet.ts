// The time sheet of an invoice: a table with a sum for each line and one for all.
import Big from 'big.js';
import type { PrintableTimeEntry, PrintableTimeLine } from '#libs/jobs/printable-document.ts';
import type { DocumentLocale, Money } from './document-locale.ts';

export interface TimeSheet {
  /** False when no hours were rounded. Then one column of hours is enough. */
  hasBilled: boolean;
  /** False when the lines of the invoice were edited, so that it has other sums. */
  hasAmounts: boolean;
  columns: number;
  lines: {
    description: string;
    place: string | undefined;
    rate: Money | undefined;
    entries: SheetEntry[];
    hours: string;
    billed: string;
    amount: Money | undefined;
  }[];
  /** The sum of all lines. Undefined when there is only one. */
  total: { hours: string; billed: string; amount: Money | undefined } | undefined;
}

interface SheetEntry {
  day: string;
  place: string | undefined;
  description: string | undefined;
  hours: string;
  billed: string;
  /** True for a line so high that it may break over pages. */
  isTall: boolean;
}

/** The letters of a description from which a line counts as tall: a quarter of a page. */
const TALL_LETTERS = 600;
const TALL_LINES = 13;

/** Returns the time sheet, or undefined without time. */
export function timeSheet(
  given: readonly PrintableTimeLine[] | undefined,
  hyphenated: (text: string) => string,
  { shortDay, hours, money }: DocumentLocale,
): TimeSheet | undefined {
  if (!given || given.length === 0) return undefined;
  const decimals = Math.max(...given.flatMap(writtenHours).map(decimalsOf));
  const written = (value: string) => hours(new Big(value), decimals);
  const entryView = ({ date, place, description, ...entry }: PrintableTimeEntry): SheetEntry => ({
    day: shortDay(date),
    place: place && hyphenated(place),
    description: description && hyphenated(description),
    hours: written(entry.hours),
    billed: entry.billed === undefined ? '' : written(entry.billed),
    isTall: (description ?? '').length > TALL_LETTERS || (description ?? '').split('\n').length > TALL_LINES,
  });
  const hasBilled = given.some(({ hours: tracked, billed }) => tracked !== billed);
  const hasAmounts = given.every(({ amount }) => amount !== undefined);
  return {
    hasBilled,
    hasAmounts,
    columns: 3 + [hasBilled, hasAmounts].filter(Boolean).length,
    lines: given.map(({ description, place, rate, amount, entries, ...line }) => ({
      description: hyphenated(description),
      place: place && hyphenated(place),
      rate: rate === undefined ? undefined : money(new Big(rate)),
      entries: entries.map(entryView),
      hours: written(line.hours),
      billed: written(line.billed),
      amount: amount === undefined ? undefined : money(new Big(amount)),
    })),
    total: given.length > 1 ? totalOf(given, { written, money, hasAmounts }) : undefined,
  };
}

function totalOf(
  given: readonly PrintableTimeLine[],
  {
    written,
    money,
    hasAmounts,
  }: { written: (value: string) => string; hasAmounts: boolean } & Pick<DocumentLocale, 'money'>,
) {
  const sum = (values: (string | number)[]) => values.reduce((total, value) => total.plus(value), new Big(0));
  return {
    hours: written(sum(given.map((line) => line.hours)).toFixed()),
    billed: written(sum(given.map((line) => line.billed)).toFixed()),
    amount: hasAmounts ? money(sum(given.map(({ amount }) => amount ?? 0))) : undefined,
  };
}

function writtenHours({ hours, billed, entries }: PrintableTimeLine): string[] {
  return [hours, billed, ...entries.flatMap((entry) => [entry.hours, entry.billed ?? ''])];
}

function decimalsOf(hours: string): number {
  return hours.split('.')[1]?.length ?? 0;
}

// The form of an account's document numbers, and the sequence that a document draws its number from.
import type { NumberKind } from './number-kinds.ts';

export interface NumberFormat {
  /** The text before the digits. `{year}` and `{month}` stand for those of the document's date. */
  prefix: string;
  /** The minimum number of digits. Shorter numbers are filled up with zeros. */
  padding: number;
  /** The first number of a sequence. */
  start: number;
  /** `yearly` gives every year a sequence of its own. */
  restart: 'never' | 'yearly';
}

export type NumberFormats = Partial<Record<NumberKind, NumberFormat>>;

/** The formats of the specification. */
const DEFAULT_NUMBER_FORMATS: Readonly<Record<NumberKind, NumberFormat>> = {
  credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
  invoice: { prefix: 'INV-', padding: 4, start: 1, restart: 'never' },
  payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
  quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
};

/** Returns the number format of the specification. */
export function standardFormat(kind: NumberKind): NumberFormat {
  return DEFAULT_NUMBER_FORMATS[kind];
}

/** Returns the number format of a kind of document. @param formats the account's settings, if it has any. */
export function numberFormat(formats: NumberFormats | null | undefined, kind: NumberKind): NumberFormat {
  return formats?.[kind] ?? standardFormat(kind);
}

/**
 * Returns the year whose sequence numbers a document of `day` (`YYYY-MM-DD`), or '' when one sequence serves all years.
 */
export function numberPeriod({ restart }: NumberFormat, day: string): string {
  return restart === 'yearly' ? day.slice(0, 4) : '';
}

/** Returns the name of a sequence of the account: `invoice`, or `invoice_2026`. */
export function sequenceOf(kind: NumberKind, period: string): string {
  return period === '' ? kind : `${kind}_${period}`;
}

/**
 * Writes a number: 7 on 2026-03-05 with the prefix `{year}/{month}-` → `2026/03-0007`. A number with more digits than
 * `padding` is longer.
 */
export function formattedNumber({ prefix, padding }: NumberFormat, number: number, day: string): string {
  const before = prefix.replaceAll('{year}', day.slice(0, 4)).replaceAll('{month}', day.slice(5, 7));
  return before + String(number).padStart(padding, '0');
}

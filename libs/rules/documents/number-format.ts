// How an account writes the numbers of its documents, and which sequence a document draws from.
import type { NumberKind } from './number-kinds.ts';

export interface NumberFormat {
  /** What stands before the digits; `{year}` and `{month}` are those of the document's date. */
  prefix: string;
  /** Digits at least, filled up with zeros. */
  padding: number;
  /** The first number of a sequence. */
  start: number;
  /** Whether every year has a sequence of its own. */
  restart: 'never' | 'yearly';
}

export type NumberFormats = Partial<Record<NumberKind, NumberFormat>>;

/** The specification's. */
const DEFAULT_NUMBER_FORMATS: Readonly<Record<NumberKind, NumberFormat>> = {
  credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
  invoice: { prefix: 'INV-', padding: 4, start: 1, restart: 'never' },
  payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
  quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
};

/** @param formats what the account has set, if it ever has. */
export function numberFormat(formats: NumberFormats | null | undefined, kind: NumberKind): NumberFormat {
  return formats?.[kind] ?? DEFAULT_NUMBER_FORMATS[kind];
}

/** The year that the sequence of a document of `day` (`YYYY-MM-DD`) belongs to; empty when there is one sequence for all years. */
export function periodOf({ restart }: NumberFormat, day: string): string {
  return restart === 'yearly' ? day.slice(0, 4) : '';
}

/** Names a sequence of the account: `invoice`, or `invoice_2026`. */
export function sequenceOf(kind: NumberKind, period: string): string {
  return period === '' ? kind : `${kind}_${period}`;
}

/** 7 on 2026-03-05 with the prefix `{year}/{month}-` → `2026/03-0007`; numbers of more digits are simply longer. */
export function formattedNumber({ prefix, padding }: NumberFormat, number: number, day: string): string {
  const before = prefix.replaceAll('{year}', day.slice(0, 4)).replaceAll('{month}', day.slice(5, 7));
  return before + String(number).padStart(padding, '0');
}

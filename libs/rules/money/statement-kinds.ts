// The kinds of movements in a statement of account.

/** A `release` returns what was put on an invoice that is cancelled by now. */
export const STATEMENT_KINDS = [
  'invoice',
  'cancellation',
  'release',
  'discount',
  'discount_reversal',
  'write_off',
  'write_off_reversal',
  'payment',
  'void',
  'credit_note',
  'refund',
] as const;
export type StatementKind = (typeof STATEMENT_KINDS)[number];

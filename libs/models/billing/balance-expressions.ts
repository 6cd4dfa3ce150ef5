// The sums of an invoice in queries: as expressions that compute what the functions of rules/money/balance.ts do, and as
// projections of what these functions read.
import type { Balance } from '../../rules/money/balance.ts';

/** The total of an invoice or a credit note, see totalOf. */
export const TOTAL = { $add: ['$amount', '$tax_amount', { $ifNull: ['$rounding_amount', 0] }] };

/** The amount that credit notes took off. */
export const CREDITED = { $ifNull: ['$amount_credited', 0] };

/** The due amount of an invoice, see dueOf. */
export const DUE = {
  $subtract: [TOTAL, { $add: ['$amount_paid', CREDITED, { $ifNull: ['$amount_written_off', 0] }] }],
};

/** The projection of a record for totalOf. */
export const TOTAL_FIELDS = { amount: 1, tax_amount: 1, rounding_amount: 1 } as const;

/** The projection of an invoice for dueOf. */
export const DUE_FIELDS = {
  ...TOTAL_FIELDS,
  amount_paid: 1,
  amount_credited: 1,
  amount_written_off: 1,
} as const satisfies Record<keyof Balance, 1>;

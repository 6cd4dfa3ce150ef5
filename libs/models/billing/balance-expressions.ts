// The sums of an invoice as expressions of an aggregation, computed as the functions of rules/money/balance.ts do.

/** The total of an invoice or a credit note, see totalOf. */
export const TOTAL = { $add: ['$amount', '$tax_amount', { $ifNull: ['$rounding_amount', 0] }] };

/** The amount that credit notes took off. */
export const CREDITED = { $ifNull: ['$amount_credited', 0] };

/** The due amount of an invoice, see dueOf. */
export const DUE = {
  $subtract: [TOTAL, { $add: ['$amount_paid', CREDITED, { $ifNull: ['$amount_written_off', 0] }] }],
};

// The reasons for crediting an issued invoice.

export const CREDIT_REASONS = ['cancellation', 'correction', 'return', 'goodwill'] as const;

export type CreditReason = (typeof CREDIT_REASONS)[number];

/**
 * Reasons for which a full credit makes time and quote billable again. Work behind a discount or a return is not billed
 * a second time.
 */
export const REVERSING: readonly CreditReason[] = ['cancellation', 'correction'];

/** The ways to settle a credit that exceeds what was due: keep it for later invoices, or refund it. */
export const CREDIT_SETTLEMENTS = ['credit', 'refund'] as const;

export type CreditSettlement = (typeof CREDIT_SETTLEMENTS)[number];

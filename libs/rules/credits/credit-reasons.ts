// Why an issued invoice is credited.

export const CREDIT_REASONS = ['cancellation', 'correction', 'return', 'goodwill'] as const;

export type CreditReason = (typeof CREDIT_REASONS)[number];

/** Reasons for which a full credit makes time and quote billable again. What was given up or brought back is not billed a second time. */
export const REVERSING: readonly CreditReason[] = ['cancellation', 'correction'];

/** What becomes of a credit beyond what was due: it stays for later invoices, or the money goes back. */
export const SETTLEMENTS = ['credit', 'refund'] as const;

export type Settlement = (typeof SETTLEMENTS)[number];

// The methods of payments and refunds.

export const PAYMENT_METHODS = ['bank_transfer', 'card', 'cash', 'cheque', 'direct_debit', 'wallet', 'other'] as const;

export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

// The kinds of documents that have numbers, each with a sequence of its own.

export const NUMBER_KINDS = ['credit_note', 'invoice', 'payment', 'quote'] as const;

export type NumberKind = (typeof NUMBER_KINDS)[number];

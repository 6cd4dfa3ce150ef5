// The terms of a link to a document: the acts that it allows, and how long it is valid.

/** The records that a link can be about. */
export const LINK_SUBJECTS = ['invoice', 'quote', 'client'] as const;
export type LinkSubject = (typeof LINK_SUBJECTS)[number];

/** The acts that a reader may do. Accepting includes declining. */
export const LINK_ACTS = ['accept', 'pay', 'promise', 'ask'] as const;
export type LinkAct = (typeof LINK_ACTS)[number];

/** The acts that make sense for each subject. A client's link opens invoices and quotes. */
export const ACTS_OF: Readonly<Record<LinkSubject, readonly LinkAct[]>> = {
  invoice: ['pay', 'promise', 'ask'],
  quote: ['accept', 'ask'],
  client: LINK_ACTS,
};

export interface LinkTerms {
  allow: readonly LinkAct[];
  /** True when the page shows the hours behind each line. */
  show_time: boolean;
  /** True when the page of a client's link also shows the statement of account. */
  show_statement?: boolean | undefined;
  /** The end that its maker chose. Absent for the standard life, see standardEnd. */
  expires_at?: Date | undefined;
}

/** The months that a link is valid after its document is settled: auditors of a year look at it in the next one. */
const MONTHS_AFTER = 13;

/** Returns the end of a link without an end of its own, at the end of a day. @param settledAt when nothing more was due, or could be accepted. */
export function standardEnd(settledAt: Date): Date {
  const end = new Date(settledAt);
  end.setUTCMonth(end.getUTCMonth() + MONTHS_AFTER);
  end.setUTCHours(24, 0, 0, 0);
  return end;
}

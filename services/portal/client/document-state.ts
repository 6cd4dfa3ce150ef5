// The state of a document in one word, and the sum that its page shows first.
import { effectiveQuoteStatus } from '#libs/models/billing/quote.ts';
import type { Tone } from '#libs/pages/parts.ts';
import { effectiveInvoiceStatus } from '#libs/rules/documents/invoice-states.ts';
import { dueOf, isWrittenOff, totalOf } from '#libs/rules/money/balance.ts';
import type { DocumentSubject } from './visit.ts';
import type { PageWords } from './words.ts';

export interface DocumentState {
  name: keyof PageWords['states'];
  tone: Tone;
  /** The amount due, or the total where nothing is due, in the smallest unit. */
  sum: number;
  /** True when the sum is to be paid. */
  isDue: boolean;
  /** The last day to pay or to accept. Absent when neither is possible. */
  until?: string;
}

/** Returns the state of a document. @param today the calendar day of the account. */
export function stateOf(subject: DocumentSubject, today: string): DocumentState {
  if (subject.type === 'quote') {
    const { record } = subject;
    const status = effectiveQuoteStatus(record, today);
    const open = { name: 'to_accept', tone: 'warn', until: record.expires_at } as const;
    const settled = {
      Accepted: { name: 'accepted', tone: 'good' },
      Declined: { name: 'declined', tone: 'quiet' },
      Expired: { name: 'expired', tone: 'quiet' },
      Draft: open,
      Sent: open,
    } as const;
    return { ...settled[status], sum: totalOf(record), isDue: false };
  }
  const { record } = subject;
  const status = effectiveInvoiceStatus(record, today);
  if (isWrittenOff(record)) return { name: 'written_off', tone: 'quiet', sum: totalOf(record), isDue: false };
  if (status === 'Paid') return { name: 'paid', tone: 'good', sum: totalOf(record), isDue: false };
  if (status === 'Cancelled') return { name: 'cancelled', tone: 'quiet', sum: totalOf(record), isDue: false };
  const sum = dueOf(record);
  if (sum <= 0) return { name: 'paid', tone: 'good', sum: totalOf(record), isDue: false };
  const due = { sum, isDue: true, until: record.due_date };
  if (status === 'Overdue') return { name: 'overdue', tone: 'bad', ...due };
  return record.amount_paid > 0
    ? { name: 'partly_paid', tone: 'warn', ...due }
    : { name: 'open', tone: 'warn', ...due };
}

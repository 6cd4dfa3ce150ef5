// Every kind of follow-up on one screen: its meaning, the records that its ids name, and what ends it.
import type { Scope } from '../../models/accounts/api-key.ts';
import type { Forgotten, Look } from './forgotten.ts';
import { caughtUpDrafts, DRAFT_DAYS, staleInvoiceDrafts, staleQuoteDrafts } from './forgotten-drafts.ts';
import { bouncedAddresses, unmailedInvoices, unmailedQuotes } from './forgotten-mail.ts';
import { unansweredQuestions } from './forgotten-questions.ts';
import { EXPIRING_DAYS, expiringQuotes, unbilledQuotes } from './forgotten-quotes.ts';
import {
  brokenPromises,
  unallocatedCreditNotes,
  unallocatedPayments,
  unremindedInvoices,
} from './forgotten-receivables.ts';
import { failedRecurringInvoices, pausedRecurringInvoices } from './forgotten-recurring.ts';
import { timeWithoutRate, UNBILLED_DAYS, unbilledTime } from './forgotten-time.ts';

interface FollowUp {
  /** The meaning, for the reference. */
  means: string;
  /** The day that `oldest` is. */
  oldest: string;
  /** The segment of the path that the ids belong to: `/api/v1/<resource>/{id}`. */
  resource: string;
  /** The operations that end it, the usual one first. */
  operations: readonly string[];
  /** Scopes without which a key does not see it: those of everything that it tells. */
  scopes: readonly Scope[];
  find(look: Look): Promise<Forgotten>;
}

const TIME = ['time-entries:read'] as const;

/** In the order in which the report has them. */
export const FOLLOW_UPS = {
  unbilled_time: {
    means: `time of more than ${UNBILLED_DAYS} days ago that no invoice bills, worth what an invoice by task would have`,
    oldest: 'its date',
    resource: 'time-entries',
    operations: ['createInvoiceFromTime', 'settleTimeEntries'],
    scopes: TIME,
    find: unbilledTime,
  },
  time_without_rate: {
    means: 'unbilled time for which no rate is set',
    oldest: 'its date',
    resource: 'time-entries',
    operations: ['updateTimeEntry', 'updateProject', 'updateClient', 'settleTimeEntries'],
    scopes: TIME,
    find: timeWithoutRate,
  },
  unbilled_quotes: {
    means: 'accepted quotes of which a part or all is not invoiced; the amount is what is left to bill',
    oldest: 'the day of acceptance',
    resource: 'quotes',
    operations: ['convertQuote', 'updateQuote'],
    scopes: ['quotes:read'],
    find: unbilledQuotes,
  },
  expiring_quotes: {
    means: `sent quotes that expire within ${EXPIRING_DAYS} days`,
    oldest: 'the last day on which it is valid',
    resource: 'quotes',
    operations: ['updateQuote', 'sendQuote'],
    scopes: ['quotes:read'],
    find: expiringQuotes,
  },
  stale_invoice_drafts: {
    means: `drafts of invoices without a change for ${DRAFT_DAYS} days`,
    oldest: 'the day of the last change',
    resource: 'invoices',
    operations: ['sendInvoice', 'updateInvoice', 'deleteInvoice'],
    scopes: ['invoices:read'],
    find: staleInvoiceDrafts,
  },
  stale_quote_drafts: {
    means: `drafts of quotes without a change for ${DRAFT_DAYS} days`,
    oldest: 'the day of the last change',
    resource: 'quotes',
    operations: ['sendQuote', 'updateQuote', 'deleteQuote'],
    scopes: ['quotes:read'],
    find: staleQuoteDrafts,
  },
  unmailed_invoices: {
    means:
      'unpaid invoices of which no mail was accepted: their mail failed or came back, or there was none although the account mails its invoices',
    oldest: 'the issue date',
    resource: 'invoices',
    operations: ['sendInvoice'],
    scopes: ['invoices:read', 'messages:read'],
    find: unmailedInvoices,
  },
  unmailed_quotes: {
    means: 'sent quotes of which no mail was accepted, as for invoices',
    oldest: 'the issue date',
    resource: 'quotes',
    operations: ['sendQuote'],
    scopes: ['quotes:read', 'messages:read'],
    find: unmailedQuotes,
  },
  bounced_addresses: {
    means: 'clients whose address is not mailed any more, because mail to it came back',
    oldest: 'the day on which it came back',
    resource: 'clients',
    operations: ['updateClient', 'deleteSuppression'],
    scopes: ['clients:read', 'messages:read'],
    find: bouncedAddresses,
  },
  unreminded_invoices: {
    means:
      'overdue invoices of which no reminder went out. Left out are those whose reminders are off, paused or resting, or whose first step is still to come',
    oldest: 'the due date',
    resource: 'invoices',
    operations: ['remindInvoice', 'payInvoice', 'writeOffInvoice'],
    scopes: ['invoices:read', 'messages:read'],
    find: unremindedInvoices,
  },
  broken_promises: {
    means: 'unpaid invoices whose client promised a day that has passed',
    oldest: 'the promised day',
    resource: 'invoices',
    operations: ['payInvoice', 'remindInvoice', 'deletePromises'],
    scopes: ['invoices:read'],
    find: brokenPromises,
  },
  unanswered_questions: {
    means: 'questions of clients that are open',
    oldest: 'the day on which it was asked',
    resource: 'questions',
    operations: ['answerQuestion', 'closeQuestion'],
    scopes: ['messages:read'],
    find: unansweredQuestions,
  },
  unallocated_payments: {
    means: 'payments with credit that pays no invoice',
    oldest: 'the date of the payment',
    resource: 'payments',
    operations: ['allocatePayment', 'refundPayment'],
    scopes: ['payments:read'],
    find: unallocatedPayments,
  },
  unallocated_credit_notes: {
    means: 'credit notes with credit that pays no invoice',
    oldest: 'the issue date',
    resource: 'credit-notes',
    operations: ['allocateCreditNote', 'refundCreditNote'],
    scopes: ['credit-notes:read'],
    find: unallocatedCreditNotes,
  },
  paused_recurring_invoices: {
    means: 'recurring invoices that are paused',
    oldest: 'the day of the last change',
    resource: 'recurring-invoices',
    operations: ['resumeRecurringInvoice', 'endRecurringInvoice'],
    scopes: ['recurring-invoices:read'],
    find: pausedRecurringInvoices,
  },
  failed_recurring_invoices: {
    means: 'recurring invoices whose due invoice could not be made',
    oldest: 'the day on which it was due',
    resource: 'recurring-invoices',
    operations: ['updateRecurringInvoice', 'skipOccurrence', 'runRecurringInvoice'],
    scopes: ['recurring-invoices:read'],
    find: failedRecurringInvoices,
  },
  caught_up_invoices: {
    means: 'drafts that a recurring invoice made for occurrences that were missed',
    oldest: 'the day on which it was made',
    resource: 'invoices',
    operations: ['sendInvoice', 'updateInvoice', 'deleteInvoice'],
    scopes: ['invoices:read'],
    find: caughtUpDrafts,
  },
} as const satisfies Record<string, FollowUp>;

export type FollowUpKind = keyof typeof FOLLOW_UPS;

export const FOLLOW_UP_KINDS = Object.keys(FOLLOW_UPS) as FollowUpKind[];

/** Returns the row of a kind, whatever the kind. */
export function followUp(kind: FollowUpKind): FollowUp {
  return FOLLOW_UPS[kind];
}

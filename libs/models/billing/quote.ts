// A quote: an offer of an account to a client, with the last day on which it is valid.

import { totalOf } from '../../rules/money/balance.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { type Acceptance, isChangedSince } from '../../rules/quotes/acceptance.ts';
import { agreedSum, leftToBill } from '../../rules/quotes/quote-parts.ts';
import { taxesView } from '../../rules/taxes/document-taxes.ts';
import type { ClientDetails } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf } from '../records.ts';
import { countedByStatusAndMonth, type StatusFilter, withSent } from '../status-filter.ts';
import { embeddedProject, type ProjectDetails } from '../time/project.ts';
import { documentDatesView } from './document-dates.ts';
import { documentDeliveryView } from './document-delivery.ts';
import { chargesView, type DocumentRecord, documentFields } from './document-fields.ts';
import { printedNumber } from './number-ledger.ts';
import { shownClient } from './parties.ts';
import { billedSum, type QuoteInvoice, quoteInvoiceView } from './quote-invoices.ts';

export const QUOTE_STATUSES = ['Draft', 'Sent', 'Accepted', 'Declined', 'Expired'] as const;

export type QuoteStatus = (typeof QUOTE_STATUSES)[number];

/** The client's refusal of a quote, on its page. */
interface Decline {
  at: Date;
  /** The reason in the client's words. */
  reason?: string | undefined;
}

/** A stored quote. Amounts are in the currency's smallest unit. */
export interface QuoteRecord extends DocumentRecord {
  /** The status that was set. Readers see `effectiveQuoteStatus`. */
  status: QuoteStatus;
  /** `YYYY-MM-DD`, the last day it is valid. */
  expires_at: string;
  /**
   * The discounts for early payment of its invoices; none for an empty list. Absent in quotes of earlier releases, whose
   * invoices have those of the client or the account.
   */
  early_payment_discounts?: EarlyPaymentDiscount[] | undefined;
  /** The number of the client's order. Its invoices have it; the quote does not print it. */
  order_reference?: string | undefined;
  /** Absent when it was never accepted. */
  acceptance?: Acceptance | undefined;
  /** Absent unless the client declined it on its page, and it has no other status since. */
  decline?: Decline | undefined;
  /** The time at which the first invoice was made from it. */
  converted_at?: Date | undefined;
  /** See lockOwn. */
  lock_version?: number;
}

export const quoteListing: ListingOf<QuoteRecord, 'created_at' | 'updated_at' | 'expires_at' | 'issue_date'> = {
  filters: ['client_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at', expires_at: 'expires_at', issue_date: 'issue_date' },
  unique: ['number_text'],
  standard: '-created_at',
  ranges: ['issue_date', 'expires_at'],
  // The issuer may contain an inlined logo.
  omitted: ['parties.issuer'],
};

const quoteSchema = recordSchema<QuoteRecord>(
  'quotes',
  {
    ...documentFields,
    status: { type: String, enum: QUOTE_STATUSES, required: true },
    expires_at: { type: String, required: true },
    early_payment_discounts: { type: [Object], default: undefined },
    order_reference: String,
    acceptance: Object,
    decline: { type: { _id: false, at: Date, reason: String }, default: undefined },
    converted_at: Date,
    lock_version: Number,
  },
  quoteListing,
);
// Deleting a project looks here for its quotes.
quoteSchema.index({ account_id: 1, project_id: 1 });
// The scheduler looks for quotes of all accounts here.
quoteSchema.index({ expires_on: 1 }, { sparse: true });

export const Quote = recordsOf<QuoteRecord>('Quote', quoteSchema, countedByStatusAndMonth<QuoteRecord>('expires_at'));

/**
 * Returns the status on the calendar day `today` of the account. A sent quote has expired from the day after its last
 * day.
 */
export function effectiveQuoteStatus(
  { status, expires_at }: Pick<QuoteRecord, 'status' | 'expires_at'>,
  today: string,
): QuoteStatus {
  return status === 'Sent' && expires_at < today ? 'Expired' : status;
}

/** Returns the filter of quotes whose status is one of `statuses` on the day `today`. */
export function quotesWithStatus(statuses: readonly QuoteStatus[], today: string): StatusFilter {
  return withSent({ statuses, expired: 'Expired', field: 'expires_at', today });
}

/** Returns the quote in the form of the API. @param status as it was set, or as it is today. */
export function quoteView(
  quote: QuoteRecord,
  {
    client,
    project,
    status,
    invoices = [],
  }: {
    client: ClientDetails | undefined;
    project: ProjectDetails | undefined;
    status: QuoteStatus;
    /** The invoices, see invoicesOfQuotes. */
    invoices?: readonly QuoteInvoice[] | undefined;
  },
) {
  const { currency, amount, tax_amount, acceptance } = quote;
  const total = fromMinor(amount + tax_amount, currency);
  return {
    id: String(quote._id),
    quote_number: quote.number === 0 ? null : printedNumber('quote', quote),
    amount: fromMinor(amount, currency),
    currency,
    status,
    expires_at: quote.expires_at,
    due_date: null, // The specification's example of a list has this field.
    ...documentDatesView(quote),
    tax_rate: quote.tax_rate,
    description: quote.description,
    notes: quote.notes ?? null,
    terms: quote.terms ?? null,
    line_items: quote.line_items,
    client: shownClient(quote.parties, client),
    project: project ? embeddedProject(project) : null,
    invoices: invoices.map(quoteInvoiceView),
    left_to_bill: fromMinor(
      leftToBill(
        agreedSum(quote),
        invoices.map((one) => ({ amount: billedSum(one) })),
      ),
      currency,
    ),
    converted_at: quote.converted_at?.toISOString() ?? null,
    acceptance: acceptance
      ? {
          by: acceptance.by,
          at: acceptance.at.toISOString(),
          withdrawn_at: acceptance.withdrawn_at?.toISOString() ?? null,
          changed: isChangedSince(quote),
        }
      : null,
    subtotal: fromMinor(quote.subtotal ?? amount, currency),
    ...chargesView(quote),
    tax_amount: fromMinor(tax_amount, currency),
    taxes: taxesView(quote),
    prices_include_tax: quote.prices_include_tax ?? false,
    total,
    rounding_amount: fromMinor(quote.rounding_amount ?? 0, currency),
    // Nothing is paid on a quote, so all of it would be due.
    amount_paid: 0,
    amount_due: fromMinor(totalOf(quote), currency),
    created_at: quote.created_at.toISOString(),
    updated_at: quote.updated_at.toISOString(),
    delivery: documentDeliveryView(quote),
    decline: quote.decline ? { at: quote.decline.at.toISOString(), reason: quote.decline.reason ?? null } : null,
    early_payment_discounts: quote.early_payment_discounts?.length ? quote.early_payment_discounts : null,
    order_reference: quote.order_reference ?? null,
  };
}

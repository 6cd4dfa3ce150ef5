// What a language has to say so that documents can be written in it.
import type { CreditReason } from '#libs/rules/credits/credit-reasons.ts';
import type { PaymentMethod } from '#libs/rules/money/payment-methods.ts';
import type { QuotePart } from '#libs/rules/quotes/quote-parts.ts';

/** What differs between an invoice and a quote. */
export interface KindLabels {
  heading: string;
  to: string;
  date: string;
  /** What the second date means. */
  until: string;
  /** Stands after the sum in the headline: `due 21 December 2026`. */
  onDay: (day: string) => string;
}

export interface SharedLabels {
  /** Headings of an invoice that bills a part of a quote. */
  parts: Record<Exclude<QuotePart, 'full'>, string>;
  from: string;
  poNumber: string;
  /** What the client wants to read on its invoices. */
  buyerReference: string;
  contract: string;
  /** The day, or the first and last day, on which the work was done. */
  serviceDate: string;
  servicePeriod: string;
  description: string;
  qty: string;
  rate: string;
  amount: string;
  subtotal: string;
  discount: string;
  /** The difference between the lines and a quoted amount. */
  adjustment: string;
  /** What is left to be taxed when the subtotal is not. */
  taxable: string;
  /** @param rate with its sign, such as `20%`. */
  tax: (rate: string) => string;
  taxes: TaxLabels;
  /** What Intl has no words for. */
  units: Record<'piece' | 'lump_sum', string>;
  shipping: string;
  total: string;
  paid: string;
  /** What credit notes took off. */
  credited: string;
  /** What is not asked for any more. */
  writtenOff: string;
  amountDue: string;
  /** Stand after the sum in the headline, instead of a day. */
  settled: Record<'paid' | 'cancelled' | 'written_off', string>;
  /** Of a number of which only the owner knows what it is. */
  taxId: (id: string) => string;
  vatId: (id: string) => string;
  /** Of a tax office. */
  taxNumber: (id: string) => string;
  /** Of a register of companies that has no name here, see REGISTER_NAMES. */
  registerNumber: (id: string) => string;
  bankDetails: string;
  notes: string;
  terms: string;
  acceptedBy: string;
  signature: string;
  name: string;
  signedOn: string;
  /** Marks an invoice or quote that is not issued. */
  draft: string;
  /** Marks a document of a test account. */
  testMark: string;
}

/** What a document says where its prices include tax, or its lines have several rates. */
interface TaxLabels {
  /** The subtotal of prices that include tax. */
  net: string;
  /** Stands between a rate and what is taxed at it: `Tax (7%) on €100.00`. */
  base: string;
  included: string;
  /** Head of the column with the rate of each line. */
  column: string;
}

/** What only a receipt says. */
export interface ReceiptLabels {
  heading: string;
  to: string;
  /** The account, which an invoice calls `from`: on a receipt that is the client. */
  from: string;
  date: string;
  /** What was paid: `Invoice INV-0042`. */
  invoice: (number: string) => string;
  /** The part that is on no invoice. */
  credit: string;
  refunded: string;
  received: string;
  method: string;
  reference: string;
  voided: string;
  methods: Record<PaymentMethod, string>;
}

/** What only a credit note says. */
export interface CreditNoteLabels {
  heading: string;
  to: string;
  date: string;
  /** Before the number and the day of the invoice that it corrects. */
  invoice: string;
  invoiceDate: string;
  reason: string;
  reasons: Record<CreditReason, string>;
  /** Of a credit without lines. */
  line: (number: string) => string;
  /** Of its sum: what the client need not pay any more. */
  applied: string;
}

/** The hours behind an invoice. */
export interface TimeLabels {
  heading: string;
  date: string;
  /** What was done: project, task and description. */
  work: string;
  /** As they were tracked. */
  hours: string;
  /** After rounding. */
  billed: string;
  /** Of a line, beside its name. */
  rate: string;
  /** Of all lines. */
  sum: string;
  /** Below the total of the invoice: where its hours are. */
  seeSheet: string;
}

/** Everything in one language. */
export interface Language extends SharedLabels {
  invoice: KindLabels;
  quote: KindLabels;
  receipt: ReceiptLabels;
  creditNote: CreditNoteLabels;
  time: TimeLabels;
}

// The words that a language needs so that documents can be written in it.
import type { CreditReason } from '../../rules/credits/credit-reasons.ts';
import type { PaymentMethod } from '../../rules/money/payment-methods.ts';
import type { QuotePart } from '../../rules/quotes/quote-parts.ts';

/** The labels that differ between an invoice and a quote. */
export interface KindLabels {
  heading: string;
  to: string;
  date: string;
  /** The label of the second date. */
  until: string;
  /** The phrase after the sum in the headline: `due 21 December 2026`. */
  onDay: (day: string) => string;
}

export interface SharedLabels {
  /** The headings of an invoice that bills a part of a quote. */
  parts: Record<Exclude<QuotePart, 'full'>, string>;
  from: string;
  /** The label of the number of the invoice that this one takes the place of. */
  corrects: string;
  poNumber: string;
  /** The label of the client's own reference on its invoices. */
  buyerReference: string;
  contract: string;
  /** The labels of the day, or the first and last day, of the work. */
  serviceDate: string;
  servicePeriod: string;
  description: string;
  qty: string;
  rate: string;
  amount: string;
  subtotal: string;
  discount: string;
  /** The label of the difference between the lines and a quoted amount. */
  adjustment: string;
  /** The label of the amount that is taxed when the subtotal is not. */
  taxable: string;
  /** The label of a tax. @param rate with its sign, such as `20%`. */
  tax: (rate: string) => string;
  taxes: TaxLabels;
  /** Units that Intl has no words for. */
  units: Record<'piece' | 'lump_sum', string>;
  shipping: string;
  /** The label of the amount that rounds the total. */
  rounding: string;
  total: string;
  paid: string;
  /** The label of the amount that credit notes took off. */
  credited: string;
  /** The label of the amount that was written off. */
  writtenOff: string;
  /** The label of the amount that early payment took off. */
  discounted: string;
  /** A sentence about a discount for early payment. */
  earlyPayment: (percent: string, day: string, amount: string) => string;
  /** A sentence about a discount that the invoice of a quote will have. */
  earlyPaymentOffer: (percent: string, days: string) => string;
  amountDue: string;
  /** Phrases after the sum in the headline, instead of a day. */
  settled: Record<'paid' | 'cancelled' | 'written_off', string>;
  /** The label of a tax number whose kind only its owner knows. */
  taxId: (id: string) => string;
  vatId: (id: string) => string;
  /** The label of a number of a tax office. */
  taxNumber: (id: string) => string;
  /** The label of a number of a register that has no name here, see REGISTER_NAMES. */
  registerNumber: (id: string) => string;
  bankDetails: string;
  /** The caption of a code that a banking app scans. */
  scanToPay: string;
  notes: string;
  terms: string;
  acceptedBy: string;
  signature: string;
  name: string;
  signedOn: string;
  /** The page with the client's acceptance of a quote: its heading, and the labels of what names its evidence. */
  acceptance: Record<'heading' | 'quoteHash' | 'key', string>;
  /** The mark of an invoice or quote that is not issued. */
  draft: string;
  /** The mark of a document of a test account. */
  testMark: string;
}

/** The labels of taxes, where prices include tax or the lines have several rates. */
interface TaxLabels {
  /** The label of the subtotal of prices that include tax. */
  net: string;
  /** The word between a rate and the amount that it taxes: `Tax (7%) on €100.00`. */
  base: string;
  included: string;
  /** The head of the column with the rate of each line. */
  column: string;
}

/** The labels that only a receipt has. */
export interface ReceiptLabels {
  heading: string;
  to: string;
  /** The label of the account. An invoice calls it `from`, which on a receipt is the client. */
  from: string;
  date: string;
  /** The label of a paid invoice: `Invoice INV-0042`. */
  invoice: (number: string) => string;
  /** The label of the amount that no invoice has. */
  credit: string;
  refunded: string;
  received: string;
  method: string;
  reference: string;
  voided: string;
  methods: Record<PaymentMethod, string>;
}

/** The labels that only a credit note has. */
export interface CreditNoteLabels {
  heading: string;
  to: string;
  date: string;
  /** The label before the number and the day of the invoice that it corrects. */
  invoice: string;
  invoiceDate: string;
  reason: string;
  reasons: Record<CreditReason, string>;
  /** The description of the one line of a credit without lines. */
  line: (number: string) => string;
  /** The label of the amount that the client need not pay any more. */
  applied: string;
}

/** The labels of the time sheet. */
export interface TimeLabels {
  heading: string;
  date: string;
  /** The head of the column with project, task and description. */
  work: string;
  /** The head of the column with the tracked hours. */
  hours: string;
  /** The head of the column with the hours after rounding. */
  billed: string;
  /** The label of the rate of a line, beside its name. */
  rate: string;
  /** The label of the sum of all lines. */
  sum: string;
  /** The link below the total of the invoice to the page on which its hours begin. */
  seeSheet: (page: number) => string;
}

/** All words in one language. */
export interface Language extends SharedLabels {
  invoice: KindLabels;
  quote: KindLabels;
  receipt: ReceiptLabels;
  creditNote: CreditNoteLabels;
  time: TimeLabels;
}

// The document that the renderer prints: the input of the PDF tool, and fields that only stored records have.
import Joi from 'joi';
import { CREDIT_REASONS, type CreditReason } from '../rules/credits/credit-reasons.ts';
import { AMOUNT_MAX, isCurrency } from '../rules/money/money.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../rules/money/payment-methods.ts';
import { STATEMENT_KINDS, type StatementKind } from '../rules/money/statement-kinds.ts';
import type { SwissBill, SwissParty } from '../rules/paying/swiss-bill.ts';
import { QUOTE_PARTS, type QuotePart } from '../rules/quotes/quote-parts.ts';
import { TAX_CATEGORIES, type TaxCategory } from '../rules/taxes/tax-groups.ts';
import { type PdfDocument, type PdfLine, pdfDocument } from './pdf-document.ts';

export interface PrintableLine extends PdfLine {
  /** The percentage that is taken off this line. */
  discount?: string;
  /** The unit of the quantity, see units.ts. */
  unit?: string;
  /** The tax rate in percent, where lines have several. */
  taxRate?: number;
  /** The amount that the record has for the line, rounded to the currency. */
  amount?: number;
}

/** The tax of one rate and category. */
export interface PrintableTax {
  /** A percentage. */
  rate: number;
  /** The account's reason for charging no tax. Without one the document prints a text in its own language. */
  note?: string;
  category?: TaxCategory;
  taxable: number;
  tax: number;
}

/** The parts of a receipt beyond the sum. Its lines are the invoices that were paid. */
export interface Receipt {
  method: PaymentMethod;
  reference?: string;
  /** The amount that no invoice has. */
  credit?: number;
  refunded?: number;
  /** True when the payment was entered by mistake. */
  isVoided?: boolean;
}

/** The parts of a credit note beyond its lines. Amounts of the document are negative, these three are not. */
interface PrintableCredit {
  /** The number of the invoice that it corrects. */
  invoice: string;
  /** The day `YYYY-MM-DD` on which that invoice was issued. */
  issuedOn: string;
  reason: CreditReason;
  /** The amount that it took off what was due. */
  applied?: number;
  /** The amount that stayed for later invoices. */
  credit?: number;
  refunded?: number;
}

/** An entry of the time sheet behind a line. Hours are plain decimals. */
export interface PrintableTimeEntry {
  /** `YYYY-MM-DD`. */
  date: string;
  /** Project and task, where they differ between the entries of a line. */
  place?: string;
  description?: string;
  hours: string;
  /** The rounded hours. Absent where entries are not rounded one by one. */
  billed?: string;
}

/** A line of the invoice with its time sheet. */
export interface PrintableTimeLine {
  description: string;
  /** Project and task of all its entries, where the description does not name them. */
  place?: string;
  hours: string;
  billed: string;
  /** Absent, like `amount`, when the lines of the invoice were edited by hand: the invoice then has other sums. */
  rate?: string;
  amount?: number;
  entries: PrintableTimeEntry[];
}

/** The client's acceptance of a quote on its page, as the evidence has it. */
export interface PrintableAcceptance {
  /** The name that was typed. */
  name: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** The time zone in which the time is printed. */
  timeZone: string;
  orderNumber?: string;
  /** The SHA-256 of the quote as it was shown, in hex. */
  quoteHash: string;
  /** The key that signed the evidence. */
  keyId: string;
  /** The signature that was drawn, a PNG as a data URI. */
  drawn?: string;
}

/** A row of a statement of account. */
export interface PrintableMovement {
  /** `YYYY-MM-DD`. */
  date: string;
  kind: StatementKind;
  /** The number of the document that moved. */
  number: string;
  text?: string;
  /** The change of the balance. Positive for a debit: the client owes more. */
  amount: number;
  balance: number;
}

/** The statement of account in one currency. A negative balance is credit of the client. */
export interface PrintableCurrencyStatement {
  currency: string;
  opening: number;
  debits: number;
  credits: number;
  closing: number;
  /** The parts of the closing balance: what is due, by the days that it is late, less the credit. */
  due: number;
  ageing: Record<(typeof AGES)[number], number>;
  credit: number;
  rows: PrintableMovement[];
}

/** A statement of account. Its document has no lines and no total: each currency has its own. */
export interface PrintableStatement {
  /** The first and the last day, `YYYY-MM-DD`. */
  from: string;
  to: string;
  statements: PrintableCurrencyStatement[];
}

const AGES = ['not_due', 'd1_30', 'd31_60', 'd61_90', 'd91_plus'] as const;

interface EarlyPayment {
  /** `YYYY-MM-DD`. */
  until: string;
  percent: number;
  amount: number;
}

/** A discount that the invoice of a quote will have: until so many days after it. */
interface EarlyPaymentOffer {
  days: number;
  percent: number;
}

/**
 * A document to print. The gateway makes it from a record. If it is input of the PDF tool, it has no `locale`, and of
 * these fields only `isTest`.
 */
export interface PrintableDocument extends PdfDocument {
  lineItems: PrintableLine[];
  /** True for a document of a test account, which says so on every page. */
  isTest?: boolean;
  /** A BCP 47 tag: the language of the labels, and the form of numbers, dates and amounts. */
  locale?: string;
  /** An ISO 4217 code. It is always there with `locale`, and printed instead of `currencySymbol`. */
  currency?: string;
  /** The page size. Where absent, the locale decides. */
  pageSize?: PageSize;
  /** True for a tagged PDF, whose structure screen readers use. */
  accessible?: boolean;
  /**
   * The time of creation in the file, in milliseconds since the epoch. It comes from the record, so that the same
   * content gives the same bytes.
   */
  madeAt?: number;
  /** A receipt for a payment. `amount` is the amount received. */
  receipt?: Receipt;
  /** A credit note. */
  creditNote?: PrintableCredit;
  /** A statement of account. `amount` and the sums beside it are 0 and not printed. */
  statement?: PrintableStatement;
  /** The part of its quote that an invoice bills. The heading shows it. */
  part?: QuotePart;
  /** A mark beside the number. */
  mark?: 'draft' | 'paid' | 'cancelled' | 'written_off';
  /** A subject line above the lines. */
  subject?: string;
  /** The day of the work, or its first and last day, `YYYY-MM-DD`. */
  serviceDate?: string;
  servicePeriod?: { from: string; to: string };
  /**
   * The difference between `amount` before tax and `subtotal`, the sum of the lines. A quoted amount may differ from
   * them.
   */
  adjustment?: number;
  /**
   * The amount before tax of a record with a discount or shipping. Then shipping is taxed, and `subtotal` has the
   * prices of the lines.
   */
  net?: number;
  taxAmount?: number;
  /** The taxes, where there are several rates or a reason for no tax. */
  taxes?: PrintableTax[];
  /** True when the sums of the lines contain the tax. `subtotal` does not. */
  pricesIncludeTax?: boolean;
  amountPaid?: number;
  amountCredited?: number;
  amountWrittenOff?: number;
  /** The part of the total that early payment took off. */
  amountDiscounted?: number;
  /** The discounts for early payment: the last day, the percentage, and the amount that is then to pay. */
  earlyPayment?: EarlyPayment[];
  earlyPaymentOffers?: EarlyPaymentOffer[];
  /** The number of the invoice that this one takes the place of. */
  corrects?: string;
  amountDue?: number;
  clientAddress?: string;
  clientTaxId?: string;
  clientVatId?: string;
  /** A register number: with the register's name, or a number alone. */
  clientLegalId?: string;
  partnerAddress?: string;
  partnerTaxId?: string;
  /** The foot prints this field and the next five. */
  partnerVatId?: string;
  partnerTaxNumber?: string;
  partnerLegalId?: string;
  /** The legal name, where it differs from the name above. */
  partnerLegalName?: string;
  legalNote?: string;
  bankDetails?: string;
  /** The text of the code that a banking app scans, see ways-to-pay.ts. */
  transferCode?: string;
  /** Links to pages that take the payment. */
  payLinks?: { label: string; url: string }[];
  /** The payment part at the foot of the last page, see swiss-bill.ts. */
  swissBill?: SwissBill;
  partnerPhone?: string;
  /** References that the client wants to read. */
  buyerReference?: string;
  contractReference?: string;
  /** The time sheet, on pages of its own after the document. */
  time?: PrintableTimeLine[];
  /** The acceptance, on a page of its own after a quote. */
  acceptance?: PrintableAcceptance;
}

export const PAGE_SIZES = ['a4', 'letter'] as const;

export type PageSize = (typeof PAGE_SIZES)[number];

const DECIMAL = /^-?\d+(\.\d+)?$/;
const DECIMAL_LONGEST = 40;
/** Accounts accept 100 characters, earlier versions accepted 2,000, and the canonical form can be a little longer. */
const LOCALE_LONGEST = 2_100;
/** A drawn signature of 100 KiB as a data URI. */
const DRAWN_LONGEST = 140_000;
const LONGEST = { line: 2_000, text: 20_000, unit: 20 } as const;
/** Twice the largest amount: a total may contain tax, and be counted in a currency without decimals. */
const LARGEST = Math.max(2 * AMOUNT_MAX, Number.MAX_SAFE_INTEGER);

// The gateway validated records when they were written. These are bounds for the renderer, not rules for callers.
const words = (longest: number) => Joi.string().max(longest).allow('');
const percentage = () => Joi.number().min(0).max(100);
const money = () => Joi.number().min(-LARGEST).max(LARGEST);
const calendarDay = () => Joi.string().pattern(/^\d{4}-\d{2}-\d{2}$/);
const decimal = () => Joi.string().max(DECIMAL_LONGEST).pattern(DECIMAL);

const line = Joi.object<PrintableLine>({
  // A record without lines has its description as its one line.
  description: words(LONGEST.text),
  qty: decimal(),
  rate: decimal(),
  discount: decimal(),
  unit: words(LONGEST.unit),
  taxRate: percentage(),
  amount: money(),
});

const hours = () => decimal().required();
const timeLine = Joi.object<PrintableTimeLine>({
  description: words(LONGEST.line).required(),
  place: words(LONGEST.text),
  hours: hours(),
  billed: hours(),
  rate: decimal(),
  amount: money(),
  entries: Joi.array()
    .required()
    .items(
      Joi.object<PrintableTimeEntry>({
        date: calendarDay().required(),
        place: words(LONGEST.text),
        description: words(LONGEST.text),
        hours: hours(),
        billed: decimal(),
      }),
    ),
});

const currencyStatement = Joi.object<PrintableCurrencyStatement>({
  currency: Joi.string().required().custom(knownCurrency),
  opening: money().required(),
  debits: money().required(),
  credits: money().required(),
  closing: money().required(),
  due: money().required(),
  ageing: Joi.object(Object.fromEntries(AGES.map((age) => [age, money().required()]))).required(),
  credit: money().required(),
  rows: Joi.array()
    .required()
    .items(
      Joi.object<PrintableMovement>({
        date: calendarDay().required(),
        kind: Joi.string()
          .valid(...STATEMENT_KINDS)
          .required(),
        number: words(LONGEST.line).required(),
        text: words(LONGEST.line),
        amount: money().required(),
        balance: money().required(),
      }),
    ),
});

const swissParty = () =>
  Joi.object<SwissParty>({
    name: words(LONGEST.line).required(),
    line1: words(LONGEST.line),
    postal_code: words(LONGEST.line).required(),
    city: words(LONGEST.line).required(),
    country: words(LONGEST.line).required(),
  });

/** Returns the schema of the kind that the document claims to be: input of the tool, or made from a record. */
export function shapeOf({ locale }: { locale?: unknown }): Joi.ObjectSchema<PrintableDocument> {
  return locale === undefined ? ofTool : ofRecord;
}

const ofTool = (pdfDocument as Joi.ObjectSchema<PrintableDocument>).keys({ isTest: Joi.boolean() });

const ofRecord: Joi.ObjectSchema<PrintableDocument> = ofTool.keys({
  locale: Joi.string().max(LOCALE_LONGEST).required(),
  currency: Joi.string().required().custom(knownCurrency),
  pageSize: Joi.string().valid(...PAGE_SIZES),
  accessible: Joi.boolean(),
  madeAt: Joi.number().integer().min(0),
  part: Joi.string().valid(...QUOTE_PARTS),
  mark: Joi.string().valid('draft', 'paid', 'cancelled', 'written_off'),
  subject: words(LONGEST.text),
  amount: money().required(),
  subtotal: money().required(),
  discountAmount: money(),
  shippingAmount: money(),
  net: money(),
  serviceDate: calendarDay(),
  servicePeriod: Joi.object({ from: calendarDay().required(), to: calendarDay().required() }),
  adjustment: money(),
  taxAmount: money().required(),
  roundingAmount: money(),
  taxes: Joi.array().items(
    Joi.object<PrintableTax>({
      rate: percentage().required(),
      category: Joi.string().valid(...TAX_CATEGORIES),
      note: words(LONGEST.line),
      taxable: money().required(),
      tax: money().required(),
    }),
  ),
  pricesIncludeTax: Joi.boolean(),
  amountPaid: money(),
  amountCredited: money(),
  amountWrittenOff: money(),
  amountDiscounted: money(),
  earlyPayment: Joi.array().items(
    Joi.object<EarlyPayment>({
      until: calendarDay().required(),
      percent: percentage().required(),
      amount: money().required(),
    }),
  ),
  corrects: words(LONGEST.line),
  earlyPaymentOffers: Joi.array().items(
    Joi.object<EarlyPaymentOffer>({
      days: Joi.number().integer().min(0).required(),
      percent: percentage().required(),
    }),
  ),
  creditNote: Joi.object<PrintableCredit>({
    invoice: words(LONGEST.line).required(),
    issuedOn: calendarDay().required(),
    reason: Joi.string()
      .valid(...CREDIT_REASONS)
      .required(),
    applied: money(),
    credit: money(),
    refunded: money(),
  }),
  receipt: Joi.object<Receipt>({
    method: Joi.string()
      .valid(...PAYMENT_METHODS)
      .required(),
    reference: words(LONGEST.line),
    credit: money(),
    refunded: money(),
    isVoided: Joi.boolean(),
  }),
  statement: Joi.object<PrintableStatement>({
    from: calendarDay().required(),
    to: calendarDay().required(),
    statements: Joi.array().items(currencyStatement).required(),
  }),
  amountDue: money(),
  lineItems: Joi.array().items(line).required(),
  clientAddress: words(LONGEST.text),
  clientTaxId: words(LONGEST.line),
  clientVatId: words(LONGEST.line),
  clientLegalId: words(LONGEST.line),
  partnerEmail: words(LONGEST.line),
  partnerAddress: words(LONGEST.text),
  partnerTaxId: words(LONGEST.line),
  partnerVatId: words(LONGEST.line),
  partnerTaxNumber: words(LONGEST.line),
  partnerLegalId: words(LONGEST.line),
  partnerLegalName: words(LONGEST.line),
  partnerPhone: words(LONGEST.line),
  legalNote: words(LONGEST.text),
  buyerReference: words(LONGEST.line),
  contractReference: words(LONGEST.line),
  bankDetails: words(LONGEST.text),
  transferCode: words(LONGEST.line),
  payLinks: Joi.array().items(
    Joi.object({
      label: words(LONGEST.line).required(),
      url: Joi.string()
        .max(LONGEST.text)
        .pattern(/^https:/)
        .required(),
    }),
  ),
  swissBill: Joi.object<SwissBill>({
    iban: words(LONGEST.line).required(),
    creditor: swissParty().required(),
    amount: money().required(),
    currency: Joi.string().valid('CHF', 'EUR').required(),
    debtor: swissParty(),
    reference: words(LONGEST.line),
    message: words(LONGEST.line).required(),
  }),
  time: Joi.array().items(timeLine),
  acceptance: Joi.object<PrintableAcceptance>({
    name: words(LONGEST.line).required(),
    at: Joi.number().integer().min(0).required(),
    timeZone: words(LONGEST.line).required(),
    orderNumber: words(LONGEST.line),
    quoteHash: words(LONGEST.line).required(),
    keyId: words(LONGEST.line).required(),
    drawn: Joi.string()
      .max(DRAWN_LONGEST)
      .pattern(/^data:image\/png;base64,/),
  }),
});

function knownCurrency(code: string, { error }: Joi.CustomHelpers) {
  return isCurrency(code) ? code : error('any.invalid');
}

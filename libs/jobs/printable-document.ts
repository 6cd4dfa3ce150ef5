// A document as the renderer prints it: the input of the PDF tool, and fields that only stored records have.
import Joi from 'joi';
import { CREDIT_REASONS, type CreditReason } from '../rules/credits/credit-reasons.ts';
import { AMOUNT_MAX, isCurrency } from '../rules/money/money.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '../rules/money/payment-methods.ts';
import { QUOTE_PARTS, type QuotePart } from '../rules/quotes/quote-parts.ts';
import { TAX_CATEGORIES, type TaxCategory } from '../rules/taxes/tax-groups.ts';
import { type PdfDocument, type PdfLine, pdfDocument } from './pdf-document.ts';

export interface PrintableLine extends PdfLine {
  /** Percentage taken off this line. */
  discount?: string;
  /** Of the quantity, see units.ts. */
  unit?: string;
  /** Percentage, where lines have several. */
  taxRate?: number;
  /** As the record counts it, rounded to the currency. */
  amount?: number;
}

/** The tax of one rate and category. */
export interface PrintableTax {
  /** Percentage. */
  rate: number;
  /** As the account says why there is no tax; otherwise it is said in the language of the document. */
  note?: string;
  category?: TaxCategory;
  taxable: number;
  tax: number;
}

/** What a receipt says beyond the sum: its lines are the invoices that were paid. */
export interface Receipt {
  method: PaymentMethod;
  reference?: string;
  /** What is on no invoice. */
  credit?: number;
  refunded?: number;
  /** The payment was entered by mistake. */
  isVoided?: boolean;
}

/** What a credit note says beyond its lines. Its amounts are negative, these three are not. */
interface PrintableCredit {
  /** The number of the invoice that it corrects. */
  invoice: string;
  /** `YYYY-MM-DD`: when that was issued. */
  issuedOn: string;
  reason: CreditReason;
  /** What it took off what was due. */
  applied?: number;
  /** What stayed for later invoices. */
  credit?: number;
  refunded?: number;
}

/** An entry of the time behind a line. Hours are plain decimals. */
export interface PrintableTimeEntry {
  /** `YYYY-MM-DD`. */
  date: string;
  /** Project and task, where they differ between the entries of a line. */
  place?: string;
  description?: string;
  hours: string;
  /** After rounding; absent where entries are not rounded one by one. */
  billed?: string;
}

/** A line of the invoice with the time behind it. */
export interface PrintableTimeLine {
  description: string;
  /** Project and task of all its entries, where the description does not say them. */
  place?: string;
  hours: string;
  billed: string;
  /** As the next absent when the lines of the invoice were edited by hand: then it has other sums. */
  rate?: string;
  amount?: number;
  entries: PrintableTimeEntry[];
}

/** Made by the gateway from a record, or input of the PDF tool: then it has no `locale` and of these fields only `isTest`. */
export interface PrintableDocument extends PdfDocument {
  lineItems: PrintableLine[];
  /** Of a test account: the document says so on every page. */
  isTest?: boolean;
  /** BCP 47: the language of the labels and the form of numbers, dates and amounts. */
  locale?: string;
  /** ISO 4217; always there with `locale`, and printed instead of `currencySymbol`. */
  currency?: string;
  /** By locale when absent. */
  pageSize?: PageSize;
  /** Structure for screen readers. */
  accessible?: boolean;
  /** Milliseconds since the epoch that the file says it was made at, so that the same content gives the same bytes. */
  madeAt?: number;
  /** A receipt for a payment; `amount` is what was received. */
  receipt?: Receipt;
  /** A credit note. */
  creditNote?: PrintableCredit;
  /** Of an invoice: the part of its quote that it bills, which its heading says. */
  part?: QuotePart;
  /** Printed beside the number. */
  mark?: 'draft' | 'paid' | 'cancelled' | 'written_off';
  /** Printed above the lines. */
  subject?: string;
  /** `YYYY-MM-DD`: when the work was done, one day or a first and a last one. */
  serviceDate?: string;
  servicePeriod?: { from: string; to: string };
  /** What `amount` before tax has beyond `subtotal`, the sum of the lines: a quoted amount may differ from them. */
  adjustment?: number;
  /** Of a record with a discount or shipping: what is left before tax. Then shipping is taxed, and `subtotal` is as lines are priced. */
  net?: number;
  taxAmount?: number;
  /** Where there are several, or no tax for a reason. */
  taxes?: PrintableTax[];
  /** The sums of the lines contain the tax; `subtotal` does not. */
  pricesIncludeTax?: boolean;
  amountPaid?: number;
  amountCredited?: number;
  amountWrittenOff?: number;
  amountDue?: number;
  clientAddress?: string;
  clientTaxId?: string;
  clientVatId?: string;
  /** A register number: with the register's name, or a number alone. */
  clientLegalId?: string;
  partnerAddress?: string;
  partnerTaxId?: string;
  /** Printed in the foot, as are the next five. */
  partnerVatId?: string;
  partnerTaxNumber?: string;
  partnerLegalId?: string;
  /** Where it is not the name above. */
  partnerLegalName?: string;
  legalNote?: string;
  bankDetails?: string;
  partnerPhone?: string;
  /** What the client wants to read. */
  buyerReference?: string;
  contractReference?: string;
  /** Printed on pages of its own after the document. */
  time?: PrintableTimeLine[];
}

export const PAGE_SIZES = ['a4', 'letter'] as const;

export type PageSize = (typeof PAGE_SIZES)[number];

const DECIMAL = /^-?\d+(\.\d+)?$/;
const DECIMAL_LONGEST = 40;
/** Accounts accept 100 characters, earlier versions accepted 2,000, and the canonical form can be a little longer. */
const LOCALE_LONGEST = 2_100;
const LONGEST = { line: 2_000, text: 20_000, unit: 20 } as const;
/** Twice the largest amount: it may carry its tax, and be counted in a currency without decimals. */
const LARGEST = Math.max(2 * AMOUNT_MAX, Number.MAX_SAFE_INTEGER);

// Records were validated when they were written: these are bounds for the renderer, not rules for callers.
const words = (longest: number) => Joi.string().max(longest).allow('');
const percentage = () => Joi.number().min(0).max(100);
const money = () => Joi.number().min(-LARGEST).max(LARGEST);
const calendarDay = () => Joi.string().pattern(/^\d{4}-\d{2}-\d{2}$/);
const decimal = () => Joi.string().max(DECIMAL_LONGEST).pattern(DECIMAL);

const line = Joi.object<PrintableLine>({
  // Without lines, the description of the record is the one line.
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

/** @returns the schema by the kind that the document claims to be. */
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
  time: Joi.array().items(timeLine),
});

function knownCurrency(code: string, { error }: Joi.CustomHelpers) {
  return isCurrency(code) ? code : error('any.invalid');
}

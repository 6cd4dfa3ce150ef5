// The input of the PDF tool, validated by the gateway and again by the renderer.
import Joi from 'joi';
import { isDay } from '../day.ts';
import { isDataUri, isWebUrl } from '../outbound/url-form.ts';
import { isPrintable } from '../printable.ts';

export interface PdfLine {
  id?: string;
  description?: string;
  qty?: string | number;
  rate?: string | number;
}

/**
 * The body of `POST /api/tools/generate-pdf` after validation, with defaults filled in. The specification defines it.
 */
export interface PdfDocument {
  title: 'Invoice' | 'Quote';
  number: string;
  /** `YYYY-MM-DD`. The same holds for dueDate and expiryDate. */
  date: string;
  clientName: string;
  clientEmail: string;
  partnerName: string;
  partnerEmail: string;
  /** The total as printed. */
  amount: number;
  lineItems: PdfLine[];
  dueDate?: string;
  expiryDate?: string;
  clientCompany?: string;
  partnerCompany?: string;
  logoUrl?: string;
  subtotal?: number;
  taxRate: number;
  currencySymbol: string;
  notes?: string;
  terms?: string;
  poNumber?: string;
  discountAmount?: number;
  shippingAmount?: number;
  /** The amount that rounds the total. `amount` contains it. */
  roundingAmount?: number;
  fontStyle: 'elegant' | 'modern' | 'classic';
  textScale: number;
  showBanner: boolean;
  layoutType: 'standard' | 'overlay';
  bannerUrl?: string;
  brandColor?: string;
  isQuote: boolean;
  quoteIntro?: string;
  bodyMarkdown?: string;
  requiresSignature: boolean;
  paymentDueDays?: number;
}

/** Enough for a logo of two megabytes as a data URI, and all texts at their longest. */
export const PDF_BODY_BYTES_MAX = 3 * 1024 * 1024;

const LINES_MAX = 500;
const LONGEST = { line: 2_000, text: 20_000, markdown: 100_000, symbol: 12 } as const;
/** A larger amount is a mistake and fits in no column. */
const LARGEST = 1e12;
const LONGEST_TERM_DAYS = 3_650;

const DECIMAL = /^-?\d{1,12}(\.\d{1,10})?$/;
const COLOUR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

const messages = {
  'string.day': '{{#label}} must be a calendar day written YYYY-MM-DD',
  'string.printable': '{{#label}} must not hold control characters or broken Unicode',
  'string.image': '{{#label}} must be an http or https URL or a base64 data URI',
  'string.colour': '{{#label}} must be a hex colour such as #1a2b3c',
  'string.pattern.base': '{{#label}} must be a plain decimal such as 1.50',
  'alternatives.types': '{{#label}} must be a plain decimal such as 1.50',
  'alternatives.match': '{{#label}} must be a plain decimal such as 1.50',
};

const words = (longest: number) => Joi.string().max(longest).custom(printable);
/** Makes a field optional. null and '' mean that it is absent, because many programs send every field they know. */
const optional = <Shape extends Joi.Schema>(shape: Shape): Shape => shape.empty(Joi.valid('', null)) as Shape;
const day = () => Joi.string().custom(calendarDay).example('2026-11-21');
const money = () => Joi.number().min(-LARGEST).max(LARGEST);
const decimal = () => Joi.alternatives().try(money(), Joi.string().pattern(DECIMAL)).match('any');
const image = () => Joi.string().custom(imageSource);

const line = Joi.object<PdfLine>({
  id: optional(words(LONGEST.line)),
  description: optional(words(LONGEST.line)),
  qty: optional(decimal()),
  rate: optional(decimal()),
}).meta({ schema: 'PdfLineItem' });

/** The schema of the body. Use it with `convert: false`: "12" is not an amount, and "false" is not a boolean. */
export const pdfDocument = Joi.object<PdfDocument, true>({
  title: Joi.string().valid('Invoice', 'Quote').required(),
  number: words(LONGEST.line).required(),
  date: day().required(),
  clientName: words(LONGEST.line).required(),
  clientEmail: words(LONGEST.line).required(),
  partnerName: words(LONGEST.line).required(),
  partnerEmail: words(LONGEST.line).required(),
  amount: money().required(),
  lineItems: Joi.array().items(line).max(LINES_MAX).required(),
  dueDate: optional(day()),
  expiryDate: optional(day()),
  clientCompany: optional(words(LONGEST.line)),
  partnerCompany: optional(words(LONGEST.line)),
  logoUrl: optional(image()),
  subtotal: optional(money()),
  taxRate: optional(Joi.number().min(0).max(100)).default(20),
  currencySymbol: optional(words(LONGEST.symbol)).default('$'),
  notes: optional(words(LONGEST.text)),
  terms: optional(words(LONGEST.text)),
  poNumber: optional(words(LONGEST.line)),
  discountAmount: optional(money()),
  shippingAmount: optional(money()),
  roundingAmount: optional(money()).description('Rounds the total, which contains it: a row of its own before it'),
  fontStyle: optional(Joi.string().valid('elegant', 'modern', 'classic')).default('elegant'),
  textScale: optional(Joi.number().min(0.8).max(1.2)).default(1),
  showBanner: optional(Joi.boolean()).default(true),
  layoutType: optional(Joi.string().valid('standard', 'overlay')).default('standard'),
  bannerUrl: optional(image()),
  brandColor: optional(Joi.string().custom(colour)).example('#2f4a43'),
  // A quote has the labels of a quote unless the caller sets this field.
  isQuote: optional(Joi.boolean()).default((document: PdfDocument) => document.title === 'Quote'),
  quoteIntro: optional(words(LONGEST.text)),
  bodyMarkdown: optional(words(LONGEST.markdown)),
  requiresSignature: optional(Joi.boolean()).default(false),
  paymentDueDays: optional(Joi.number().integer().min(0).max(LONGEST_TERM_DAYS)),
}).messages(messages);

function printable(value: string, { error }: Joi.CustomHelpers) {
  return isPrintable(value) ? value : error('string.printable');
}

function calendarDay(value: string, { error }: Joi.CustomHelpers) {
  return isDay(value) ? value : error('string.day');
}

function colour(value: string, { error }: Joi.CustomHelpers) {
  // The colour becomes part of the style sheet of the document, so nothing else may pass.
  return COLOUR.test(value) ? value : error('string.colour');
}

// This checks the form only. The outbound guard in the renderer decides if the address may be called.
function imageSource(value: string, { error }: Joi.CustomHelpers) {
  return isDataUri(value) || isWebUrl(value) ? value : error('string.image');
}

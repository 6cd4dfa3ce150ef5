// Input of quotes.

import { mapValues } from 'es-toolkit/object/mapValues';
import Joi from 'joi';
import type { Conversion } from '#libs/billing/quotes/convert-quote.ts';
import { dayIn } from '#libs/day.ts';
import type { ProblemCode } from '#libs/errors.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { clientCurrency, currency, day, text, uuid } from '#libs/input/kinds.ts';
import {
  QUOTE_STATUSES,
  Quote,
  type QuoteRecord,
  type QuoteStatus,
  quoteListing,
  quotesWithStatus,
} from '#libs/models/billing/quote.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { CHARGES } from '#libs/rules/documents/document-charges.ts';
import type { EarlyPaymentDiscount } from '#libs/rules/money/early-payment.ts';
import { QUOTE_PARTS } from '#libs/rules/quotes/quote-parts.ts';
import { earlyPaymentInput } from '../fields/billing-input.ts';
import { type DatesInput, datesInput } from '../fields/dates-input.ts';
import { documentFilters } from '../fields/document-filters.ts';
import { byStatuses } from '../fields/list-filters.ts';
import {
  amount,
  type ChargesInput,
  chargesInput,
  chargesOfMadeLines,
  type LineInput,
  lineItems,
  newTaxRate,
  percentage,
  pricesIncludeTax,
} from '../fields/money-input.ts';
import { number } from '../fields/number-input.ts';
import { type ReferencesInput, referencesInput } from '../fields/references-input.ts';
import { type TextsInput, textsInput } from '../fields/texts-input.ts';
import { listOf } from '../http/list.ts';

/** The part of an invoice's references that its quote has already. */
type OrderInput = Pick<ReferencesInput, 'order_reference'>;

const orderInput = {
  order_reference: referencesInput.order_reference.description(
    "The client's order: not printed on the quote, but on the invoices that are made of it from now on",
  ),
};

export interface NewQuote extends DatesInput, ChargesInput, TextsInput, OrderInput {
  client_id: Id;
  amount: number;
  project_id?: Id | null;
  expires_at?: string | null;
  description?: string | null;
  currency?: string;
  tax_rate?: number;
  prices_include_tax?: boolean;
  status: 'Draft' | 'Sent';
  line_items?: LineInput[] | null;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
}

export interface QuoteChanges extends DatesInput, ChargesInput, TextsInput, OrderInput {
  status?: QuoteStatus;
  description?: string | null;
  expires_at?: string | null;
  amount?: number;
  currency?: string | null;
  tax_rate?: number | null;
  prices_include_tax?: boolean | null;
  line_items?: LineInput[] | null;
  client_id?: Id;
  project_id?: Id | null;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
}

/** A change in which values have replaced null. */
export type GivenChanges = Omit<QuoteChanges, 'expires_at'> & { expires_at?: string };

export const newQuote = Joi.object<NewQuote, true>({
  client_id: uuid().required(),
  amount: amount()
    .required()
    .description('Before tax. With `prices_include_tax` the sum of the lines, or what is left of it before tax'),
  project_id: uuid().allow(null),
  expires_at: day().allow(null).description('The last day it can be accepted. 30 days after today unless given'),
  description: text().allow(null, ''),
  currency: clientCurrency(),
  tax_rate: newTaxRate(),
  prices_include_tax: pricesIncludeTax(),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  ...datesInput,
  ...chargesInput,
  ...textsInput,
  line_items: lineItems(),
  early_payment_discounts: earlyPaymentInput().description(
    'Of the invoices that are made of it: discounts for early payment, printed on the quote, too; those of the client or the account unless given, none for an empty list',
  ),
  ...orderInput,
}).example({
  client_id: exampleId.clients,
  amount: 1140,
  currency: 'EUR',
  tax_rate: 19,
  description: 'Drawings of the mill',
});

export const quoteChanges = Joi.object<QuoteChanges, true>({
  status: Joi.string().valid(...QUOTE_STATUSES),
  description: text().allow(null, ''),
  expires_at: day(),
  amount: amount().description('With `line_items`, their sum; alone it stands beside the lines that are there'),
  currency: currency(),
  tax_rate: percentage(),
  prices_include_tax: pricesIncludeTax(),
  line_items: lineItems().description('While not Accepted. Without `amount` their sum becomes the amount'),
  ...datesInput,
  ...chargesInput,
  ...textsInput,
  client_id: uuid().description('While Draft; the project must be of the same client'),
  project_id: uuid().allow(null).description('While not Accepted'),
  early_payment_discounts: earlyPaymentInput().description(
    'Discounts for early payment of the invoices that are made of it from now on; none for null',
  ),
  ...orderInput,
}).example({ description: 'Drawings of the mill and its wheel' });

export type ConversionInput = Omit<Conversion, 'charges' | 'texts'> & ChargesInput & TextsInput;

export const conversion = Joi.object<ConversionInput>({
  part: Joi.string()
    .valid(...QUOTE_PARTS)
    .default('full')
    .description('`final` bills what `deposit` and `progress` have left'),
  percent: number().greater(0).max(100).description('Of the quoted amount; for `deposit` and `progress`'),
  amount: amount().description(
    'For `deposit` and `progress`, in place of `percent`: before tax, or with it where prices include it',
  ),
  due_date: day().description("Today and the client's `payment_days` unless given, else the account's"),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  description: text().allow('').description("The quote's unless given"),
  accept: Joi.boolean().default(false).description('Accepts the quote on behalf of the client'),
  accept_changes: Joi.boolean().default(false).description('Although the quote was changed after it was accepted'),
  ...ofQuote(chargesOfMadeLines, "For `full`, in place of the quote's. "),
  ...ofQuote(textsInput, "The quote's unless given. "),
})
  .custom(shareOfPart)
  .custom(chargesOfWhole)
  .example({ part: 'deposit', percent: 30, accept: true });

/** Says of each field where its value comes from. */
function ofQuote<Fields extends Record<string, Joi.Schema>>(fields: Fields, source: string): Fields {
  return mapValues(fields, (field) => field.description(source + (field.$_getFlag('description') ?? ''))) as Fields;
}

/** Parts add up to the quote, with its discount and its shipping. */
function chargesOfWhole(body: ConversionInput, helpers: Joi.CustomHelpers) {
  const given = CHARGES.filter((name) => body[name] !== undefined && body[name] !== null);
  if (body.part === 'full' || given.length === 0) return body;
  const params = { fields: given, part: body.part };
  const text = `${given.join(', ')} must not be given for ${body.part}: its price is that of the quote`;
  return refuse(helpers, 'lines_not_allowed', text, params);
}

/** A part has a share of its own, the whole and the rest have none. */
function shareOfPart(body: ConversionInput, helpers: Joi.CustomHelpers) {
  const shares = [body.percent, body.amount].filter((share) => share !== undefined && share !== null).length;
  const isPart = body.part === 'deposit' || body.part === 'progress';
  const { part } = body;
  const wrong = (code: ProblemCode, text: string) => refuse(helpers, code, `${text} for ${part}`, { part });
  if (isPart && shares === 0) return wrong('share_required', 'percent or amount is required');
  if (isPart && shares === 2) return wrong('one_share', 'percent and amount must not both be given');
  return !isPart && shares > 0 ? wrong('share_not_allowed', 'percent and amount are not allowed') : body;
}

export const quoteList = listOf<QuoteRecord>(
  Quote,
  quoteListing,
  {
    ...documentFilters('list'),
    status: byStatuses(QUOTE_STATUSES, (statuses, { caller }) =>
      quotesWithStatus(statuses, dayIn(caller.account.time_zone)),
    ),
  },
  ['client_id', 'status', 'number', 'q', 'issue_date_from', 'issue_date_to', 'expires_at_from', 'expires_at_to'],
);

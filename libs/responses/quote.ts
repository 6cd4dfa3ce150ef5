// Response shapes of quotes.
import Joi from 'joi';
import type { quoteView } from '../models/billing/quote.ts';
import { QUOTE_STATUSES } from '../models/billing/quote.ts';
import { QUOTE_PARTS } from '../rules/quotes/quote-parts.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  datesResponse,
  deliveryResponse,
  earlyPaymentResponse,
  embeddedClient,
  embeddedProject,
  exampleClient,
  exampleTime,
  id,
  lineItemsResponse,
  moneyResponse,
  number,
  orNull,
  roundingAmount,
  textsResponse,
  timestamp,
  words,
} from './response-fields.ts';

export const quoteResponse = Joi.object<ReturnType<typeof quoteView>, true>({
  id: id(),
  quote_number: orNull(Joi.string()).description('Null in a dry run, which draws none'),
  ...moneyResponse,
  status: Joi.string()
    .valid(...QUOTE_STATUSES)
    .required(),
  expires_at: calendarDay(),
  ...datesResponse,
  due_date: orNull(Joi.string()).description('Always null: a quote is not due'),
  description: orNull(Joi.string()),
  ...textsResponse,
  line_items: lineItemsResponse(),
  client: embeddedClient(),
  project: embeddedProject(),
  invoices: Joi.array()
    .required()
    .items(
      Joi.object({
        id: id(),
        invoice_number: orNull(Joi.string()),
        part: Joi.string()
          .valid(...QUOTE_PARTS)
          .required(),
        amount: number().description('Before tax'),
        corrected: number().description(
          'Before tax: credited with reason `cancellation` or `correction`, and left to bill again. Other credits lower the price',
        ),
        status: words(),
      }).meta({ schema: 'QuoteInvoice' }),
    )
    .description('That bill it, without those that were cancelled'),
  left_to_bill: number().description('Of `amount`; of `total` where prices include tax'),
  converted_at: orNull(Joi.string().isoDate()).description('When the first invoice was made of it'),
  acceptance: orNull(
    Joi.object({
      by: Joi.string().valid('owner', 'client').required(),
      at: timestamp(),
      withdrawn_at: orNull(Joi.string().isoDate()),
      changed: Joi.boolean().required().description('The quote is not what was accepted any more'),
    }).meta({ schema: 'Acceptance' }),
  ),
  created_at: timestamp(),
  updated_at: timestamp(),
  rounding_amount: roundingAmount(),
  delivery: deliveryResponse(),
  decline: orNull(
    Joi.object({ at: timestamp(), reason: orNull(Joi.string()).description("In the client's words") }).meta({
      schema: 'QuoteDecline',
    }),
  ).description('Set when the client declined it on its page'),
  early_payment_discounts: earlyPaymentResponse(),
  order_reference: orNull(Joi.string()).description(
    "The number of the client's order, which invoices of it get; that of its acceptance where you gave none",
  ),
})
  .id('Quote')
  .example({
    id: exampleId.quotes,
    quote_number: 'QUO-0017',
    amount: 1140,
    currency: 'EUR',
    tax_rate: 19,
    subtotal: 1140,
    discount_amount: 0,
    discount_percent: null,
    shipping_amount: 0,
    shipping_tax_rate: null,
    shipping_tax_category: null,
    tax_amount: 216.6,
    taxes: [{ rate: 19, category: 'S', taxable: 1140, tax: 216.6, note: null }],
    prices_include_tax: false,
    total: 1356.6,
    rounding_amount: 0,
    amount_paid: 0,
    amount_due: 1356.6,
    invoices: [],
    left_to_bill: 1140,
    converted_at: null,
    acceptance: null,
    status: 'Sent',
    expires_at: '2026-12-02',
    issue_date: '2026-11-02',
    service_date: null,
    service_period: { from: '2026-10-01', to: '2026-10-31' },
    due_date: null,
    description: 'Drawings of the mill',
    notes: null,
    terms: null,
    line_items: null,
    client: exampleClient,
    project: null,
    created_at: exampleTime,
    updated_at: exampleTime,
    early_payment_discounts: [{ days: 14, percent: 2 }],
    delivery: null,
    decline: null,
    order_reference: '4500012345',
  });

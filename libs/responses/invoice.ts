// Response shapes of invoices.
import Joi from 'joi';
import type { invoiceView } from '../models/billing/invoice.ts';
import { INVOICE_STATUSES } from '../rules/documents/invoice-states.ts';
import { QUOTE_PARTS } from '../rules/quotes/quote-parts.ts';
import { REST_REASONS } from '../rules/reminders/reminder-rest.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  datesResponse,
  deliveryResponse,
  earlyPaymentResponse,
  embeddedClient,
  embeddedProject,
  exampleClient,
  exampleProject,
  exampleTime,
  id,
  lineItemsResponse,
  moneyResponse,
  number,
  orNull,
  referencesResponse,
  reminderRuleResponse,
  roundingAmount,
  textsResponse,
  timestamp,
} from './response-fields.ts';

export const invoiceResponse = Joi.object<ReturnType<typeof invoiceView>, true>({
  id: id(),
  invoice_number: orNull(Joi.string()).description('Null in a dry run, which draws none'),
  ...moneyResponse,
  amount_credited: number().description('How far credit notes have reduced the amount due'),
  total_credited: number().description(
    'Total of its credit notes; exceeds `amount_credited` if the invoice was paid before it was credited',
  ),
  amount_written_off: number().description('What is not asked for any more'),
  status: Joi.string()
    .valid(...INVOICE_STATUSES)
    .required(),
  due_date: calendarDay(),
  paid_on: orNull(Joi.string()).description('Of a paid invoice: the day on which the last of what settles it came'),
  cancelled_on: orNull(Joi.string()).description('Of a cancelled invoice'),
  ...datesResponse,
  description: orNull(Joi.string()),
  ...textsResponse,
  ...referencesResponse,
  line_items: lineItemsResponse(),
  client: embeddedClient(),
  project: embeddedProject(),
  quote: orNull(
    Joi.object({ id: id(), quote_number: orNull(Joi.string()) }).meta({ schema: 'QuoteSummary' }),
  ).description('The quote it bills'),
  quote_part: orNull(Joi.string().valid(...QUOTE_PARTS)),
  fixed_part: orNull(
    Joi.object({
      project_id: id(),
      amount: number(),
      corrected: number().description('Credited with reason `cancellation` or `correction`, and left to bill again'),
    }).meta({ schema: 'FixedPart' }),
  ).description('What it bills of the fixed amount of a project, before tax'),
  recurring: orNull(
    Joi.object({ id: id(), occurrence: number(), period_from: calendarDay(), period_to: calendarDay() }).meta({
      schema: 'InvoiceRecurrence',
    }),
  ).description('The recurring invoice that made it'),
  created_at: timestamp(),
  updated_at: timestamp(),
  rounding_amount: roundingAmount(),
  early_payment_discounts: earlyPaymentResponse(),
  amount_discounted: number().description('What early payment took off; part of `amount_written_off`'),
  delivery: deliveryResponse(),
  reminder_rest: orNull(
    Joi.object({
      resumes_on: calendarDay().description('The first day on which reminders may go out again'),
      because: Joi.string()
        .valid(...REST_REASONS)
        .required()
        .description('What the reminders wait for'),
    }).meta({ schema: 'ReminderRest' }),
  ).description('Set while the client has promised a day of payment, or has asked a question that is open'),
  corrects: orNull(id()).description('The id of the invoice that it takes the place of'),
  corrects_number: orNull(Joi.string()).description('The number of that invoice'),
  reminders: reminderRuleResponse(),
})
  .id('Invoice')
  .example({
    id: exampleId.invoices,
    invoice_number: 'INV-0042',
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
    early_payment_discounts: [{ days: 14, percent: 2 }],
    amount_discounted: 0,
    amount_paid: 0,
    amount_credited: 0,
    total_credited: 0,
    amount_written_off: 0,
    amount_due: 1356.6,
    status: 'Sent',
    due_date: '2026-12-02',
    paid_on: null,
    cancelled_on: null,
    issue_date: '2026-11-02',
    service_date: null,
    service_period: { from: '2026-10-01', to: '2026-10-31' },
    description: null,
    notes: null,
    terms: null,
    buyer_reference: null,
    order_reference: '4500012345',
    contract_reference: null,
    line_items: [{ description: 'Drawings', qty: '12', rate: '95', discount: '0' }],
    client: exampleClient,
    project: exampleProject,
    quote: null,
    quote_part: null,
    fixed_part: null,
    recurring: null,
    created_at: exampleTime,
    updated_at: exampleTime,
    delivery: null,
    corrects: null,
    corrects_number: null,
    reminder_rest: null,
    reminders: null,
  });

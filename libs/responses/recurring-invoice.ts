// Response shapes of recurring invoices.
import Joi from 'joi';
import { FEE_PERIODS, RECURRING_STATUSES, type recurringInvoiceView } from '../models/billing/recurring-invoice.ts';
import { SCHEDULE_UNITS } from '../rules/time/recurrence.ts';
import { TIME_GROUPS } from '../rules/time/time-lines.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  chargesResponse,
  currency,
  earlyPaymentResponse,
  embeddedClient,
  embeddedInvoice,
  embeddedProject,
  errorParams,
  exampleClient,
  exampleTime,
  id,
  lineItemsResponse,
  number,
  orNull,
  roundingResponse,
  textsResponse,
  timestamp,
  words,
} from './response-fields.ts';

const runError = Joi.object({
  message: words(),
  at: timestamp(),
  code: orNull(Joi.string()).description('The code of the error, see the guide on errors'),
  params: errorParams('The values in the text of the error'),
  problems: Joi.array()
    .items(
      Joi.object({
        field: words().description('The field of the recurring invoice or of its work'),
        code: words().description('The code of the problem, see the guide on errors'),
        message: words(),
        params: Joi.object().unknown().required().description('The values in `message`'),
      }).meta({ schema: 'RunProblem' }),
    )
    .required()
    .description('Each problem of a field; empty for any other error'),
}).meta({ schema: 'RunError' });

const ids = () => orNull(Joi.array().items(id()));

const schedule = Joi.object({
  every: number(),
  unit: Joi.string()
    .valid(...SCHEDULE_UNITS)
    .required(),
  start_on: calendarDay(),
  day: orNull(Joi.number()),
  end_on: orNull(Joi.string()),
  count: orNull(Joi.number()),
}).meta({ schema: 'Schedule' });

const includedTime = Joi.object({
  project_ids: ids(),
  task_ids: ids(),
  group_by: Joi.string()
    .valid(...TIME_GROUPS)
    .required(),
  rounding: roundingResponse(),
  missing_rate: Joi.string().valid('refuse', 'skip', 'zero').required(),
  line_text: orNull(Joi.string()),
  include_expenses: Joi.boolean().required(),
  included_hours: orNull(Joi.number()),
  members: orNull(Joi.array().items(words())),
}).meta({ schema: 'IncludedTime' });

export const recurringInvoiceResponse = Joi.object<ReturnType<typeof recurringInvoiceView>, true>({
  id: id(),
  client: embeddedClient(),
  project: embeddedProject(),
  currency: currency(),
  tax_rate: orNull(Joi.number()).description("Null is the client's or the account's on the day of each invoice"),
  prices_include_tax: Joi.boolean().required(),
  description: orNull(Joi.string()),
  ...textsResponse,
  ...chargesResponse,
  line_items: lineItemsResponse(),
  schedule: schedule.required(),
  fee_period: Joi.string()
    .valid(...FEE_PERIODS)
    .required(),
  due_days: orNull(Joi.number()),
  create_as: Joi.string().valid('Draft', 'Sent').required(),
  include_time: orNull(includedTime),
  status: Joi.string()
    .valid(...RECURRING_STATUSES)
    .required(),
  next_on: orNull(Joi.string()).description('The day of the next invoice; null when there is none to come'),
  upcoming: Joi.array().items(calendarDay()).required().description('The next twelve days, as the schedule has them'),
  occurrences_made: number().description('Invoices that were made'),
  last_invoice: orNull(embeddedInvoice()).description('Null when there is none, or its draft was deleted'),
  last_error: orNull(runError).description(
    'Why the invoice that is due could not be made; it is tried again every day',
  ),
  created_at: timestamp(),
  updated_at: timestamp(),
  early_payment_discounts: earlyPaymentResponse().description(
    'Discounts for early payment of its invoices: null is those of the client or the account, an empty list is none',
  ),
})
  .id('RecurringInvoice')
  .example({
    id: exampleId['recurring-invoices'],
    client: exampleClient,
    project: null,
    currency: 'EUR',
    tax_rate: null,
    prices_include_tax: false,
    description: null,
    notes: null,
    terms: null,
    discount_amount: 0,
    discount_percent: null,
    shipping_amount: 0,
    shipping_tax_rate: null,
    shipping_tax_category: null,
    line_items: [{ description: 'Support in {month} {year}', qty: '1', rate: '450', discount: '0' }],
    schedule: { every: 1, unit: 'month', start_on: '2026-09-30', day: 31, end_on: null, count: 4 },
    fee_period: 'in_advance',
    due_days: null,
    create_as: 'Draft',
    include_time: null,
    status: 'Active',
    next_on: '2026-11-30',
    upcoming: ['2026-11-30', '2026-12-31'],
    occurrences_made: 2,
    last_invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    last_error: null,
    early_payment_discounts: null,
    created_at: exampleTime,
    updated_at: exampleTime,
  });

export const occurrenceResponse = Joi.object({
  id: id(),
  occurrence: number().description('From 1'),
  due_on: calendarDay(),
  period_from: calendarDay(),
  period_to: calendarDay(),
  invoice: orNull(embeddedInvoice()).description('Null when there was nothing to bill, or its draft was deleted'),
  created_at: timestamp(),
})
  .id('Occurrence')
  .example({
    id: '019a1f00-0000-7000-8000-0000000aec19',
    occurrence: 2,
    due_on: '2026-10-31',
    period_from: '2026-10-31',
    period_to: '2026-11-29',
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    created_at: exampleTime,
  });

// Input of recurring invoices.

import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { clientCurrency, day, text, uuid } from '#libs/input/kinds.ts';
import {
  FEE_PERIODS,
  type FeePeriod,
  type IncludedTime,
  RECURRING_STATUSES,
  RecurringInvoice,
  type RecurringInvoiceRecord,
  recurringListing,
} from '#libs/models/billing/recurring-invoice.ts';
import { RecurringRun, type RecurringRunRecord, recurringRunListing } from '#libs/models/billing/recurring-run.ts';
import { oneOf } from '#libs/models/status-filter.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import type { EarlyPaymentDiscount } from '#libs/rules/money/early-payment.ts';
import { SCHEDULE_UNITS, type Schedule } from '#libs/rules/time/recurrence.ts';
import { earlyPaymentInput, paymentDaysInput } from '../fields/billing-input.ts';
import { HOURS_FORMS, hours } from '../fields/hours-input.ts';
import { byStatuses } from '../fields/list-filters.ts';
import {
  type ChargesInput,
  chargesInput,
  type LineInput,
  lineItems,
  percentage,
  pricesIncludeTax,
} from '../fields/money-input.ts';
import { type TextsInput, textsInput } from '../fields/texts-input.ts';
import { includeExpenses, membersInput, namedTimeLineInput, projectsAndTasks } from '../fields/time-input.ts';
import { byId, listOf } from '../http/list.ts';
import { withNulls } from '../http/optional-fields.ts';

/** Three years of months. */
const EVERY_MAX = 36;
const DAY_MAX = 31;
const COUNT_MAX = 10_000;
/** All hours of a month. */
const HOURS_MAX = 744;

export type IncludedTimeInput = Omit<IncludedTime, 'included_hours'> & { included_hours?: number };

interface Content extends ChargesInput, TextsInput {
  project_id?: Id | null;
  currency?: string | null;
  tax_rate?: number | null;
  prices_include_tax?: boolean | null;
  description?: string | null;
  line_items?: LineInput[] | null;
  fee_period?: FeePeriod | null;
  due_days?: number | null;
  create_as?: 'Draft' | 'Sent';
  include_time?: IncludedTimeInput | null;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
}

export interface NewRecurringInvoice extends Content {
  client_id: Id;
  schedule: Schedule;
}

export interface RecurringInvoiceChanges extends Content {
  schedule?: Schedule;
}

const schedule = () =>
  withNulls(
    Joi.object<Schedule>({
      every: Joi.number().integer().min(1).max(EVERY_MAX).default(1).description('Every second month: 2 and `month`'),
      unit: Joi.string()
        .valid(...SCHEDULE_UNITS)
        .required(),
      start_on: day().required().description('No occurrence is before it; those before today are never made'),
      day: Joi.number()
        .integer()
        .min(1)
        .max(DAY_MAX)
        .description(
          'The day of the month. A month that is too short has its last day: 31 is always the last. That of `start_on` unless given',
        ),
      end_on: day().description('No occurrence is after it. Not beside `count`'),
      count: Joi.number().integer().min(1).max(COUNT_MAX).description('How many occurrences there are'),
    }),
  )
    .custom((value: Schedule, helpers) => {
      if (value.unit === 'week' && value.day !== undefined) {
        return refuse(
          helpers,
          'day_of_weeks',
          '{{#label}}.day must not stand beside weeks: they are counted from start_on',
        );
      }
      if (value.end_on !== undefined && value.count !== undefined) {
        return refuse(helpers, 'not_together', '{{#label}}.count must not stand beside end_on', { others: ['end_on'] });
      }
      if (value.end_on !== undefined && value.end_on < value.start_on) {
        return refuse(helpers, 'before_other', '{{#label}}.end_on must not be before start_on', { other: 'start_on' });
      }
      return value;
    })
    .meta({ schema: 'ScheduleInput' });

const includeTime = () =>
  withNulls(
    Joi.object<IncludedTimeInput>({
      ...projectsAndTasks,
      ...namedTimeLineInput,
      include_expenses: includeExpenses(),
      included_hours: hours()
        .min(0)
        .max(HOURS_MAX)
        .description(
          `Hours of each invoice that its \`line_items\` pay for: they are taken off again, in the order of the lines. ${HOURS_FORMS}`,
        ),
      members: membersInput(),
    }),
  )
    .allow(null)
    .description('Takes along the unbilled time of the client until the day before each occurrence')
    .meta({ schema: 'IncludedTimeInput' });

const PLACEHOLDERS = '`{month}`, `{year}`, `{from}`, `{to}` and `{n}`, the number of the occurrence, are filled in';

const feePeriod = () =>
  Joi.string()
    .valid(...FEE_PERIODS)
    .description(
      'Whether the period of each invoice begins on its day (`in_advance`) or ends the day before (`in_arrears`). It cannot change once an occurrence was made',
    );

const content = {
  project_id: uuid().allow(null),
  currency: clientCurrency(),
  tax_rate: percentage()
    .allow(null)
    .description(
      "Per cent. Unless given, what the client's `tax_treatment` says on the day of each invoice, else the account's `default_tax_rate`",
    ),
  prices_include_tax: pricesIncludeTax().allow(null),
  description: text().allow(null, '').description(PLACEHOLDERS),
  notes: textsInput.notes.description(`Printed below the sum. ${PLACEHOLDERS}`),
  terms: textsInput.terms.description(`Printed below the notes. ${PLACEHOLDERS}`),
  ...chargesInput,
  line_items: lineItems().description(`Required without \`include_time\`. In their texts ${PLACEHOLDERS}`),
  fee_period: feePeriod().default('in_advance'),
  due_days: paymentDaysInput().description("Unless given, the client's `payment_days`, else the account's"),
  create_as: Joi.string().valid('Draft', 'Sent').default('Draft'),
  include_time: includeTime(),
  early_payment_discounts: earlyPaymentInput().description(
    'Of each invoice: discounts for early payment. Those of the client or the account unless given, none for an empty list',
  ),
};

export const newRecurringInvoice = Joi.object<NewRecurringInvoice, true>({
  client_id: uuid().required(),
  ...content,
  schedule: schedule().required(),
}).example({
  client_id: exampleId.clients,
  currency: 'EUR',
  line_items: [{ description: 'Support in {month} {year}', quantity: 1, rate: 450 }],
  schedule: { every: 1, unit: 'month', start_on: '2027-01-31' },
  include_time: { group_by: 'task', missing_rate: 'zero', included_hours: 10 },
});

export const recurringInvoiceChanges = Joi.object<RecurringInvoiceChanges, true>({
  ...content,
  fee_period: feePeriod(),
  create_as: Joi.string().valid('Draft', 'Sent'),
  schedule: schedule().description(
    'Replaces the whole schedule. The next occurrence is its first one that is neither before today nor in a period that was billed',
  ),
}).example({ line_items: [{ description: 'Support in {month} {year}', quantity: 1, rate: 480 }] });

export const resuming = Joi.object<{ catch_up: boolean }, true>({
  catch_up: Joi.boolean()
    .default(false)
    .description('Makes up for what was missed during the pause: several occurrences become drafts'),
}).example({});

export interface Running {
  on?: string;
}

export const running = Joi.object<Running, true>({
  on: day().description(
    'The day of the occurrence that is meant: the next one, or one without an invoice because it was left out or its draft was deleted. For any other day nothing is done',
  ),
}).example({});

export const skipping = Joi.object<{ on: string }, true>({
  on: day().required().description('The day of the next occurrence. For any other day nothing is done'),
}).example({ on: '2031-01-31' });

export const recurringInvoiceList = listOf<RecurringInvoiceRecord>(RecurringInvoice, recurringListing, {
  client_id: byId('client_id'),
  status: byStatuses(RECURRING_STATUSES, (statuses) => ({ status: oneOf(statuses) })),
});

export const occurrenceList = listOf<RecurringRunRecord>(RecurringRun, recurringRunListing);

// Response shapes of projects.
import Joi from 'joi';
import { PROJECT_BILLINGS, type projectView } from '../models/time/project.ts';
import {
  currencyCode,
  embeddedClient,
  exampleClient,
  exampleProject,
  exampleRounding,
  exampleTime,
  id,
  memberRatesResponse,
  number,
  orNull,
  roundingResponse,
  timestamp,
  words,
} from './response-fields.ts';

export const projectResponse = Joi.object<ReturnType<typeof projectView>, true>({
  id: id(),
  name: words(),
  status: words().description("One of the account's own statuses, or of the defaults"),
  client: embeddedClient(),
  hourly_rate: orNull(Joi.number()),
  member_rates: memberRatesResponse(),
  rounding: roundingResponse(),
  billing: Joi.string()
    .valid(...PROJECT_BILLINGS)
    .required(),
  currency: orNull(currencyCode()).description('Of its fixed amount'),
  fixed_amount: orNull(Joi.number()).description('Before tax; it counts while `billing` is `fixed`'),
  fixed_billed: orNull(Joi.number()).description('What invoices bill of it'),
  left_to_bill: orNull(Joi.number()).description('What is left of it'),
  budget_hours: orNull(Joi.number()),
  budget_amount: orNull(Joi.number()).description('In the currency of its rates, before tax'),
  budget: orNull(
    Joi.object({
      hours_used: number().description('Of all its time'),
      hours_percent: orNull(Joi.number()),
      amount_used: number().description('Hours × `rate` of its billable time, whatever was billed'),
      amount_percent: orNull(Joi.number()),
      currency: orNull(currencyCode()).description(
        'Of `budget_amount` and `amount_used`: that of the rates when the budget was set. Null where an older version set it',
      ),
    }).meta({ schema: 'ProjectBudget' }),
  ).description(
    'What is used of `budget_hours` and `budget_amount`; null while both are. Percentages are rounded down',
  ),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Project')
  .example({
    ...exampleProject,
    status: 'In Progress',
    client: exampleClient,
    hourly_rate: 95,
    member_rates: [{ member: 'Ada Lovelace', rate: 120 }],
    rounding: exampleRounding,
    billing: 'fixed',
    currency: 'EUR',
    fixed_amount: 12000,
    fixed_billed: 3600,
    left_to_bill: 8400,
    budget_hours: 120,
    budget_amount: null,
    budget: { hours_used: 96.5, hours_percent: 80.41, amount_used: 9167.5, amount_percent: null, currency: 'EUR' },
    created_at: exampleTime,
    updated_at: exampleTime,
  });

// What a caller gets about hour packages.
import Joi from 'joi';
import type { hourDrawdownView } from '#libs/models/time/hour-drawdown.ts';
import { type hourPackageView, PACKAGE_STATUSES } from '#libs/models/time/hour-package.ts';
import { exampleId } from '../fields/example-ids.ts';
import {
  embeddedClient,
  embeddedInvoice,
  embeddedProject,
  exampleClient,
  exampleTime,
  id,
  number,
  orNull,
  timestamp,
} from '../fields/response-fields.ts';

export const hourPackageResponse = Joi.object<ReturnType<typeof hourPackageView>, true>({
  id: id(),
  name: orNull(Joi.string()),
  client: embeddedClient(),
  project: embeddedProject(),
  hours: number(),
  used_hours: number().description('What invoices draw, drafts among them'),
  left_hours: number(),
  amount: orNull(Joi.number()),
  currency: orNull(Joi.string()),
  rate: orNull(Joi.number()).description('`amount` / `hours`'),
  valid_from: orNull(Joi.string()),
  valid_until: orNull(Joi.string()),
  rollover: Joi.boolean().required(),
  low_hours: orNull(Joi.number()).description('Little is left when no more than these are'),
  status: Joi.string()
    .valid(...PACKAGE_STATUSES)
    .required()
    .description("On the account's day"),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('HourPackage')
  .example({
    id: exampleId['hour-packages'],
    name: 'Support 2027',
    client: exampleClient,
    project: null,
    hours: 40,
    used_hours: 12.25,
    left_hours: 27.75,
    amount: 3600,
    currency: 'EUR',
    rate: 90,
    valid_from: '2027-01-01',
    valid_until: '2027-12-31',
    rollover: false,
    low_hours: 5,
    status: 'Active',
    created_at: exampleTime,
    updated_at: exampleTime,
  });

export const drawdownResponse = Joi.object<ReturnType<typeof hourDrawdownView>, true>({
  id: id(),
  invoice: embeddedInvoice().required(),
  hours: number(),
  created_at: timestamp(),
})
  .id('HourDrawdown')
  .example({
    id: '019a1f00-0000-7000-8000-00000000d4a3',
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    hours: 2.25,
    created_at: exampleTime,
  });

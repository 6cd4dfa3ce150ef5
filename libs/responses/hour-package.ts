// Response shapes of hour packages.
import Joi from 'joi';
import type { hourDrawdownView } from '../models/time/hour-drawdown.ts';
import { type hourPackageView, PACKAGE_STATUSES } from '../models/time/hour-package.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  currencyCode,
  embeddedClient,
  embeddedInvoice,
  embeddedProject,
  exampleClient,
  exampleTime,
  id,
  number,
  orNull,
  timestamp,
} from './response-fields.ts';

export const hourPackageResponse = Joi.object<ReturnType<typeof hourPackageView>, true>({
  id: id(),
  name: orNull(Joi.string()),
  client: embeddedClient(),
  project: embeddedProject(),
  hours: number(),
  used_hours: number().description('What invoices draw, drafts among them'),
  left_hours: number(),
  amount: orNull(Joi.number()),
  currency: orNull(currencyCode()),
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

export const clientHoursResponse = Joi.object({
  client: embeddedClient(),
  as_of: calendarDay().description("Today on the account's calendar"),
  left_hours: number().description('Of all packages whose hours can be used today'),
  by_project: Joi.array()
    .items(Joi.object({ project: embeddedProject(), left_hours: number() }).meta({ schema: 'ProjectHours' }))
    .required()
    .description('A project is null for the packages that cover all of them'),
  hour_packages: Joi.array()
    .items(
      Joi.object({
        id: id(),
        name: orNull(Joi.string()),
        project: embeddedProject(),
        left_hours: number(),
        valid_until: orNull(Joi.string()).description('The last day of the work that it covers; null is no end'),
        rollover: Joi.boolean()
          .required()
          .description('Its hours can be used after `valid_until` while a later package is valid'),
      }).meta({ schema: 'ClientHourPackage' }),
    )
    .required()
    .description('In the order in which they are used: the one that ends first before the others'),
})
  .id('ClientHours')
  .example({
    client: exampleClient,
    as_of: '2027-11-21',
    left_hours: 27.75,
    by_project: [{ project: null, left_hours: 27.75 }],
    hour_packages: [
      {
        id: exampleId['hour-packages'],
        name: 'Support 2027',
        project: null,
        left_hours: 27.75,
        valid_until: '2027-12-31',
        rollover: false,
      },
    ],
  });

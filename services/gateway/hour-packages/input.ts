// Input of hour packages.
import Joi from 'joi';
import { currency, day, line, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { HourDrawdown, type HourDrawdownRecord, hourDrawdownListing } from '#libs/models/time/hour-drawdown.ts';
import { HourPackage, type HourPackageRecord, hourPackageListing } from '#libs/models/time/hour-package.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { HOURS_FORMS, hours } from '../fields/hours-input.ts';
import { amount } from '../fields/money-input.ts';
import { byId, listOf } from '../http/list.ts';

/** More than a person works in a life. */
const HOURS_MAX = 1_000_000;
const HOURS_MIN = 0.01;

interface Content {
  name?: string | null;
  amount?: number | null;
  currency?: string | null;
  valid_from?: string | null;
  valid_until?: string | null;
  rollover?: boolean | null;
  low_hours?: number | null;
}

export interface NewHourPackage extends Content {
  client_id: Id;
  project_id?: Id | null;
  hours: number;
}

export interface HourPackageChanges extends Content {
  hours?: number;
}

const hoursOfPackage = () => hours().min(HOURS_MIN).max(HOURS_MAX);

const content = {
  name: line().allow(null, '').description('Printed on the lines that draw from it'),
  amount: amount().allow(null).description('What it costs, before tax. No invoice is made of it'),
  currency: currency().allow(null).description("Of the amount; the client's unless given, else the account's"),
  valid_from: day().allow(null).description('The first day of work that it is for; unbounded unless given'),
  valid_until: day().allow(null).description('The last day of work that it is for; unbounded unless given'),
  low_hours: hours()
    .min(0)
    .max(HOURS_MAX)
    .allow(null)
    .description(
      `\`hour_package.low\` is announced, once, when no more hours than these are left; never unless given. ${HOURS_FORMS}`,
    ),
  rollover: Joi.boolean()
    .allow(null)
    .description('What is left after `valid_until` goes on counting while a later package of the client is valid'),
};

export const newHourPackage = Joi.object<NewHourPackage, true>({
  client_id: uuid().required(),
  project_id: uuid()
    .allow(null)
    .description('For time of this project alone; of all projects of the client unless given'),
  hours: hoursOfPackage().required(),
  ...content,
}).example({ client_id: exampleId.clients, name: 'Support 2027', hours: 40, amount: 3600, currency: 'EUR' });

export const hourPackageChanges = Joi.object<HourPackageChanges, true>({
  hours: hoursOfPackage().description(`Not less than was drawn. ${HOURS_FORMS}`),
  ...content,
}).example({ hours: 50 });

export const hourPackageList = listOf<HourPackageRecord>(HourPackage, hourPackageListing, {
  client_id: byId('client_id'),
  project_id: byId('project_id'),
});

export const drawdownList = listOf<HourDrawdownRecord>(HourDrawdown, hourDrawdownListing);

// How time is billed, as callers set it: rates, rounding, and what new invoices of a client have.
import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { name } from '#libs/input/kinds.ts';
import { EARLY_DISCOUNTS_MAX, type EarlyPaymentDiscount } from '#libs/rules/money/early-payment.ts';
import { AMOUNT_MAX } from '#libs/rules/money/money.ts';
import type { MemberRate } from '#libs/rules/time/hourly-rate.ts';
import {
  ROUNDING_MINUTES,
  ROUNDING_MODES,
  ROUNDING_SCOPES,
  type TimeRounding,
} from '#libs/rules/time/time-rounding.ts';
import { HOURS_FORMS, hours } from './hours-input.ts';
import { number } from './number-input.ts';

const RATE_MAX = 1_000_000_000;
const BUDGET_HOURS_MAX = 1_000_000;
/** A working day. */
const MINIMUM_MAX = 480;
const PAYMENT_DAYS_MAX = 3_650;

export function hourlyRateInput() {
  return number().min(0).max(RATE_MAX).allow(null);
}

const MEMBERS_MAX = 100;
const MEMBER_LONGEST = 200;

/** The name of the person who did the work. Billhook keeps no list of people. */
export const memberInput = () => name().max(MEMBER_LONGEST);

export function memberRatesInput() {
  return Joi.array()
    .items(
      Joi.object<MemberRate, true>({
        member: memberInput().required().description('As the time entries have it'),
        rate: number().min(0).max(RATE_MAX).required(),
      }).meta({ schema: 'MemberRate' }),
    )
    .max(MEMBERS_MAX)
    .unique('member')
    .allow(null)
    .description('Rates of single people; each counts before the `hourly_rate` beside it');
}

/** Above 0: nothing can be used of a budget of nothing. */
export function budgetHoursInput() {
  return hours()
    .greater(0)
    .max(BUDGET_HOURS_MAX)
    .allow(null)
    .description(`Announced when 80 and 100 % of it are used, billable or not. ${HOURS_FORMS}`);
}

/** Returns the shape of a budget in money. budgetHoursInput is its counterpart in hours. */
export function budgetAmountInput() {
  return number()
    .greater(0)
    .max(AMOUNT_MAX)
    .allow(null)
    .description('As `budget_hours`, of hours × `rate` of billable time: in the currency of the rates, before tax');
}

/** The work that a changed rate applies to. */
export interface AppliesRate {
  apply_to?: 'new' | 'unbilled';
}

/** @param rate the name of the field beside it; `member_rates` go with `hourly_rate`. */
export function applyToInput(rate: 'hourly_rate' | 'rate') {
  return Joi.string()
    .valid('new', 'unbilled')
    .description(
      `What a changed \`${rate}\` counts for: new time alone, or unbilled time without a closer rate, too. \`new\` unless given; not stored`,
    );
}

/** `apply_to` says what a change of rates counts for, so a change of none has no use for it. */
export function appliesRate(value: object, { error }: Joi.CustomHelpers) {
  const isChanged = 'hourly_rate' in value || 'member_rates' in value;
  return 'apply_to' in value && !isChanged
    ? error('object.with', {
        main: 'apply_to',
        mainWithLabel: 'apply_to',
        peer: 'hourly_rate',
        peerWithLabel: 'hourly_rate',
      })
    : value;
}

const DISCOUNT_DAYS_MAX = 365;
const PERCENT_MAX = 99.99;
/** Percentages of e-invoices have two decimals. */
const HUNDREDTHS = 2;

export function earlyPaymentInput() {
  return Joi.array()
    .items(
      Joi.object<EarlyPaymentDiscount, true>({
        days: Joi.number()
          .integer()
          .min(0)
          .max(DISCOUNT_DAYS_MAX)
          .required()
          .description('After the issue date; money of the last day is in time'),
        percent: number()
          .positive()
          .max(PERCENT_MAX)
          .custom(hundredths)
          .required()
          .description('Of the total with tax'),
      }).meta({ schema: 'EarlyPaymentDiscountInput' }),
    )
    .max(EARLY_DISCOUNTS_MAX)
    .unique('days')
    .allow(null);
}

function hundredths(percent: number, helpers: Joi.CustomHelpers) {
  return Number(percent.toFixed(HUNDREDTHS)) === percent
    ? percent
    : refuse(helpers, 'percent_too_precise', '{{#label}} must have at most 2 decimals');
}

export function roundingInput() {
  return Joi.object<TimeRounding, true>({
    minutes: Joi.number()
      .integer()
      .valid(...ROUNDING_MINUTES)
      .when('mode', { is: 'none', otherwise: Joi.required() })
      .default(1)
      .description(`The step: ${ROUNDING_MINUTES.join(', ')}; required unless \`mode\` is \`none\``),
    mode: Joi.string()
      .valid(...ROUNDING_MODES)
      .required()
      .description('`none` rounds nothing, whatever a more general rule says'),
    scope: Joi.string()
      .valid(...ROUNDING_SCOPES)
      .default('entry')
      .description('Each entry by itself, the entries of one line and day together, or those of a line'),
    minimum: Joi.number()
      .integer()
      .min(0)
      .max(MINIMUM_MAX)
      .default(0)
      .description('Minutes: what is rounded counts as at least so much'),
  })
    .allow(null)
    .meta({ schema: 'RoundingInput' });
}

export function paymentDaysInput() {
  return Joi.number().integer().min(0).max(PAYMENT_DAYS_MAX).allow(null);
}

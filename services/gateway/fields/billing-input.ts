// How time is billed, as callers set it: rates, rounding, and what new invoices of a client have.
import Joi from 'joi';
import { ROUNDING_MINUTES, ROUNDING_MODES, ROUNDING_SCOPES, type TimeRounding } from '#libs/billing/time-rounding.ts';
import { number } from './number-input.ts';

const RATE_MAX = 1_000_000_000;
/** A working day. */
const MINIMUM_MAX = 480;
const PAYMENT_DAYS_MAX = 3_650;

export function hourlyRateInput() {
  return number().min(0).max(RATE_MAX).allow(null);
}

/** What a changed rate counts for. */
export interface AppliesRate {
  apply_to?: 'new' | 'unbilled';
}

/** @param rate the name of the field beside it. */
export function applyToInput(rate: 'hourly_rate' | 'rate') {
  return Joi.string()
    .valid('new', 'unbilled')
    .description(
      `What a changed \`${rate}\` counts for: new time alone, or unbilled time without a closer rate, too. \`new\` unless given; not stored`,
    );
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

// The first and the last day of a statement of account.
import type Joi from 'joi';
import { dayIn, isDay } from '#libs/day.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { day } from '#libs/input/kinds.ts';
import type { Profile } from '../http/route.ts';

export const periodFields = {
  from: day()
    .required()
    .custom(notAfterTo)
    .description("The first day, on the account's calendar")
    .example('2026-11-01'),
  to: day()
    .required()
    .custom(notAfterToday)
    .description("The last day, not before `from` and not after today on the account's calendar")
    .example('2026-11-21'),
};

function notAfterTo(from: string, helpers: Joi.CustomHelpers) {
  const { to } = helpers.state.ancestors[0] as { to?: string };
  return to !== undefined && isDay(to) && from > to
    ? refuse(helpers, 'after_other', '{{#label}} must not be after {{#params.other}}', { other: besideOf(helpers) })
    : from;
}

/** Returns the place of `to`, which in a body is beside other fields. */
function besideOf({ state }: Joi.CustomHelpers): string {
  return [...(state.path ?? []).slice(0, -1), 'to'].join('.');
}

function notAfterToday(to: string, helpers: Joi.CustomHelpers) {
  const { account } = (helpers.prefs.context ?? {}) as { account?: Profile };
  const latest = dayIn(account?.time_zone ?? 'UTC');
  return to > latest ? refuse(helpers, 'too_late', `{{#label}} must not be after ${latest}`, { latest }) : to;
}

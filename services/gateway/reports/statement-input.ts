// Input of the statement of account.
import Joi from 'joi';
import { dayIn, isDay } from '#libs/day.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { currency, day, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import type { Profile } from '../http/route.ts';

export interface StatementQuery {
  client_id: Id;
  from: string;
  to: string;
  currency?: string;
}

export const statementQuery = Joi.object<StatementQuery, true>({
  client_id: uuid().required().description('The client whose account it is').example(exampleId.clients),
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
  currency: currency().description('This currency alone; every currency of the client unless given'),
});

function notAfterTo(from: string, helpers: Joi.CustomHelpers) {
  const { to } = helpers.state.ancestors[0] as Partial<StatementQuery>;
  return to !== undefined && isDay(to) && from > to
    ? refuse(helpers, 'after_other', '{{#label}} must not be after to', { other: 'to' })
    : from;
}

function notAfterToday(to: string, helpers: Joi.CustomHelpers) {
  const { account } = (helpers.prefs.context ?? {}) as { account?: Profile };
  const latest = dayIn(account?.time_zone ?? 'UTC');
  return to > latest ? refuse(helpers, 'too_late', `{{#label}} must not be after ${latest}`, { latest }) : to;
}

// The dates that a caller may give an invoice or a quote: when it is issued, and when the work was done.

import Joi from 'joi';
import { type DetailsForm, fieldProblem } from '#libs/errors.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { day } from '#libs/input/kinds.ts';
import type { DocumentDates, Period } from '#libs/models/billing/document-dates.ts';

/** Null takes a date back. */
export interface DatesInput {
  issue_date?: string | null;
  service_date?: string | null;
  service_period?: Period | null;
}

const period = () =>
  Joi.object<Period>({ from: day().required(), to: day().required() })
    .custom((value: Period, helpers) =>
      value.to < value.from
        ? refuse(helpers, 'before_other', '{{#label}}.to must not be before {{#label}}.from', { other: 'from' })
        : value,
    )
    .meta({ schema: 'ServicePeriodInput' });

export const datesInput = {
  issue_date: day()
    .allow(null)
    .description('The day of issuing unless given; at most tomorrow, and not before the last one that was issued'),
  service_date: day().allow(null).description('The day of the work; printed. Not beside `service_period`'),
  service_period: period().allow(null).description('The first and the last day of the work; printed'),
};

/** The dates that a body names, as they are stored: setting one of day and period takes the other back. */
export function changedDates(body: DatesInput, details: DetailsForm = 'by-field'): DocumentDates {
  if (body.service_date && body.service_period) {
    throw fieldProblem('service_period', 'not_together', { others: ['service_date'] }, details);
  }
  const { issue_date, service_date, service_period } = body;
  return {
    ...(issue_date === undefined ? {} : { issue_date: issue_date ?? undefined }),
    ...(service_date === undefined ? {} : { service_date: service_date ?? undefined }),
    ...(service_period === undefined ? {} : { service_period: service_period ?? undefined }),
    ...(service_date ? { service_period: undefined } : {}),
    ...(service_period ? { service_date: undefined } : {}),
  };
}

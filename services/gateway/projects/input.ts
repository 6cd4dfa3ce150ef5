// Input of projects.

import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { currency, day, line, name, paragraphs, text, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import {
  PROJECT_BILLINGS,
  Project,
  type ProjectBilling,
  type ProjectRecord,
  projectListing,
  projectsWithStatus,
} from '#libs/models/time/project.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import type { MemberRate } from '#libs/rules/time/hourly-rate.ts';
import type { TimeRounding } from '#libs/rules/time/time-rounding.ts';
import {
  type AppliesRate,
  appliesRate,
  applyToInput,
  budgetAmountInput,
  budgetHoursInput,
  hourlyRateInput,
  memberRatesInput,
  roundingInput,
} from '../fields/billing-input.ts';
import { type DatesInput, datesInput } from '../fields/dates-input.ts';
import {
  amount,
  type ChargesInput,
  chargesOfMadeLines,
  type LineInput,
  lineItems,
  newTaxRate,
  pricesIncludeTax,
} from '../fields/money-input.ts';
import { number } from '../fields/number-input.ts';
import { type TextsInput, textsInput } from '../fields/texts-input.ts';
import { type Asked, byId, listOf } from '../http/list.ts';
import { statusesLike } from './statuses.ts';

export interface NewProject {
  name: string;
  client_id: Id;
  status?: string;
  hourly_rate?: number | null;
  member_rates?: MemberRate[] | null;
  rounding?: TimeRounding | null;
  billing?: ProjectBilling | null;
  fixed_amount?: number | null;
  currency?: string | null;
  budget_hours?: number | null;
  budget_amount?: number | null;
}

export type ProjectChanges = Partial<Omit<NewProject, 'status'>> & AppliesRate & { status?: string | null };

const billing = {
  hourly_rate: hourlyRateInput().description('Of time for which neither entry nor task has one'),
  member_rates: memberRatesInput(),
  rounding: roundingInput().description("Of its time; the client's unless given, else the account's"),
  billing: Joi.string()
    .valid(...PROJECT_BILLINGS)
    .allow(null)
    .description('`fixed`: the fixed amount covers its time. `none`: its time is not billable. `hourly` unless given'),
  fixed_amount: amount()
    .allow(null)
    .description('Before tax, unless its invoices have `prices_include_tax`; required while `billing` is `fixed`'),
  currency: currency().allow(null).description("Of the fixed amount; the client's unless given, else the account's"),
  budget_hours: budgetHoursInput(),
  budget_amount: budgetAmountInput(),
};

// An account chooses its own statuses, so routes.ts checks them.
export const newProject = Joi.object<NewProject, true>({
  name: name().required(),
  client_id: uuid().required(),
  status: line(),
  ...billing,
}).example({ name: 'Difference engine', client_id: exampleId.clients });

export const projectChanges = Joi.object<ProjectChanges, true>({
  name: name(),
  client_id: uuid(),
  status: line(),
  ...billing,
  apply_to: applyToInput('hourly_rate'),
})
  .custom(appliesRate)
  .example({ status: 'Awaiting Approval' });

export interface FixedPartInput extends DatesInput, ChargesInput, TextsInput {
  percent?: number;
  amount?: number;
  line_text?: string;
  extra_lines?: LineInput[];
  due_date?: string;
  tax_rate?: number;
  prices_include_tax?: boolean;
  description?: string;
  status: 'Draft' | 'Sent';
}

/** Input that bills a part of a fixed amount. */
export const fixedPart = Joi.object<FixedPartInput>({
  percent: number()
    .greater(0)
    .max(100)
    .description('Of the fixed amount. All that is left unless this or `amount` is given'),
  amount: amount().description('Before tax, unless `prices_include_tax`; in place of `percent`'),
  line_text: paragraphs().description('Of its line; names the project unless given'),
  extra_lines: lineItems().description('After it'),
  due_date: day().description("Today and the client's `payment_days` unless given, else the account's"),
  tax_rate: newTaxRate(),
  prices_include_tax: pricesIncludeTax().description('The fixed amount and `extra_lines` contain the tax'),
  description: text().allow(''),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  ...datesInput,
  ...chargesOfMadeLines,
  ...textsInput,
})
  .custom((body: FixedPartInput, helpers) => {
    const isBoth = [body.percent, body.amount].every((share) => share !== undefined && share !== null);
    return isBoth
      ? refuse(helpers, 'not_together', 'percent must not stand beside amount', { others: ['amount'] })
      : body;
  })
  .example({ percent: 30, status: 'Sent' });

export const projectList = listOf<ProjectRecord>(
  Project,
  projectListing,
  {
    client_id: byId('client_id'),
    status: {
      input: line().description('Only projects with this status; case does not count'),
      where: async (status: string, { caller }: Asked) =>
        projectsWithStatus(await statusesLike(status, caller.accountId)),
    },
  },
  ['status', 'client_id'],
);

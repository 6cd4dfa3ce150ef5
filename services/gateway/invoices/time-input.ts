// Input of invoices that are made from time.
import Joi from 'joi';
import { BILLED_EXPENSES_MAX } from '#libs/billing/expenses/find-expenses.ts';
import { BILLED_ENTRIES_MAX } from '#libs/billing/work/find-unbilled-time.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { clientCurrency, day, text, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import type { TimeGroup } from '#libs/rules/time/time-lines.ts';
import type { TimeRounding } from '#libs/rules/time/time-rounding.ts';
import { type DatesInput, datesInput } from '../fields/dates-input.ts';
import {
  type ChargesInput,
  chargesOfMadeLines,
  type LineInput,
  lineItems,
  newTaxRate,
  pricesIncludeTax,
} from '../fields/money-input.ts';
import { type TextsInput, textsInput } from '../fields/texts-input.ts';
import { ids, includeExpenses, membersInput, projectsAndTasks, timeLineInput } from '../fields/time-input.ts';

export interface TimeInput {
  time_entry_ids?: Id[];
  include_time: boolean;
  expense_ids?: Id[];
  include_expenses: boolean;
  project_ids?: Id[];
  task_ids?: Id[];
  date_from?: string;
  date_to?: string;
  group_by: TimeGroup;
  rounding?: TimeRounding;
  missing_rate: 'refuse' | 'skip' | 'zero';
  line_text?: string;
  members?: string[];
}

export interface TimeInvoiceInput extends TimeInput, DatesInput, ChargesInput, TextsInput {
  client_id: Id;
  project_id?: Id;
  extra_lines?: LineInput[];
  due_date?: string;
  currency?: string;
  tax_rate?: number;
  prices_include_tax?: boolean;
  description?: string;
  status: 'Draft' | 'Sent';
}

export interface ReleaseInput {
  time_entry_ids?: Id[];
  expense_ids?: Id[];
}

const FILTERS = ['project_ids', 'task_ids', 'date_from', 'date_to', 'members'] as const;

const selection = {
  time_entry_ids: ids(BILLED_ENTRIES_MAX).description(
    `Exactly these; not together with ${FILTERS.map((name) => `\`${name}\``).join(', ')}`,
  ),
  include_time: Joi.boolean().default(true).description('False bills expenses alone'),
  expense_ids: ids(BILLED_EXPENSES_MAX).description('Exactly these; not together with `include_expenses`'),
  include_expenses: includeExpenses(),
  ...projectsAndTasks,
  date_from: day().description('The first day; from the beginning unless given'),
  date_to: day().description("The last day; today on the account's calendar unless given"),
  ...timeLineInput,
};

function eitherIdsOrFilter<Input extends TimeInput>(body: Input, helpers: Joi.CustomHelpers) {
  const besides = (name: string, others: readonly string[], more = '') =>
    refuse(helpers, 'not_together', `${name} must not stand beside ${others.join(', ')}${more}`, { others });
  const given = FILTERS.filter((name) => body[name] !== undefined && body[name] !== null);
  if (body.expense_ids && body.include_expenses) {
    return besides('expense_ids', ['include_expenses']);
  }
  if (body.time_entry_ids && body.include_time === false) {
    return besides('time_entry_ids', ['include_time: false']);
  }
  if (body.time_entry_ids && body.include_expenses) {
    return besides('time_entry_ids', ['include_expenses'], ': name expense_ids');
  }
  if (!body.time_entry_ids || given.length === 0) return body;
  return besides('time_entry_ids', given);
}

export const timeInvoice = Joi.object<TimeInvoiceInput>({
  client_id: uuid().required(),
  ...selection,
  extra_lines: lineItems().description('After the lines of time and expenses'),
  due_date: day().description("Today and the client's `payment_days` unless given, else the account's"),
  currency: clientCurrency(),
  tax_rate: newTaxRate(),
  prices_include_tax: pricesIncludeTax(),
  description: text().allow(''),
  project_id: uuid(),
  status: Joi.string().valid('Draft', 'Sent').default('Draft'),
  ...datesInput,
  service_period: datesInput.service_period.description(
    'Printed. The first and the last day of the work unless this or `service_date` is given',
  ),
  members: membersInput(),
  ...chargesOfMadeLines,
  ...textsInput,
})
  .custom(eitherIdsOrFilter)
  .example({ client_id: exampleId.clients, date_to: '2026-11-30', group_by: 'task', missing_rate: 'zero' });

export const addedTime = Joi.object<TimeInput>({ ...selection, members: membersInput() })
  .custom(eitherIdsOrFilter)
  .example({ time_entry_ids: [exampleId['time-entries']], missing_rate: 'zero' });

export const releasedTime = Joi.object<ReleaseInput, true>({
  time_entry_ids: ids(BILLED_ENTRIES_MAX).description(
    'All time and expenses of the invoice unless this or `expense_ids` is given',
  ),
  expense_ids: ids(BILLED_EXPENSES_MAX),
}).example({});

// How callers choose time to bill, and how it becomes lines.
import Joi from 'joi';
import { paragraphs, uuid } from '#libs/input/kinds.ts';
import { TIME_GROUPS } from '#libs/rules/time/time-lines.ts';
import { memberInput, roundingInput } from './billing-input.ts';

/** Projects, tasks or members that a selection may name. */
const NAMED_MAX = 100;

export const ids = (most: number) => Joi.array().items(uuid()).min(1).max(most);

/** Fields that select projects and tasks. Without them all unbilled time of the client is selected. */
export const projectsAndTasks = {
  project_ids: ids(NAMED_MAX).description('All projects of the client unless given'),
  task_ids: ids(NAMED_MAX).description('All tasks of these projects, and time without a task, unless given'),
};

/** Expenses have no member: those that come along are chosen without it. */
export const membersInput = () =>
  Joi.array()
    .items(memberInput())
    .min(1)
    .max(NAMED_MAX)
    .description(
      "Whose time it is, exactly as the entries have it. Everybody's, and time without a member, unless given",
    );

/** Beside the time that a filter finds. */
export const includeExpenses = () =>
  Joi.boolean()
    .default(false)
    .description('All unbilled expenses of the same projects and days, in the currency of the invoice, one line each');

const groupBy = Joi.string()
  .valid(...TIME_GROUPS)
  .description('What a line is made of. Different rates always make different lines');

export const timeLineInput = {
  group_by: groupBy.default('task'),
  rounding: roundingInput().description("Unless given, the project's rule, else the client's, else the account's"),
  missing_rate: Joi.string()
    .valid('refuse', 'skip', 'zero')
    .default('refuse')
    .description('What becomes of time for which no rate is set: 400, left out, or billed at 0'),
  line_text: paragraphs().description(
    'Of each line, with `{project}`, `{task}`, `{member}`, `{date}`, `{from}`, `{to}`, `{description}` and `{hours}`',
  ),
};

/** The same where it is one of several settings: then its first field has to be there, so that an empty object means nothing by accident. */
export const namedTimeLineInput = { ...timeLineInput, group_by: groupBy.required() };

/** A filter of time by who did it. */
export const byMember = {
  input: memberInput().description('Exactly as it was given'),
  where: (member: string) => ({ member }),
};

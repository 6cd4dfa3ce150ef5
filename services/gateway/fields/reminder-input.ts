// Input of reminders: the steps of an account, and whether a client or an invoice is reminded.
import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { day } from '#libs/input/kinds.ts';
import { CLOCK_TIME } from '#libs/rules/reminders/clock-time.ts';
import {
  REMIND_AT_STANDARD,
  REMINDER_KINDS,
  REMINDER_MODES,
  type ReminderKind,
  type ReminderRule,
  type ReminderStep,
  STEP_DAYS,
  STEPS_MAX,
} from '#libs/rules/reminders/reminder-steps.ts';

interface GivenStep {
  days: number;
  template?: ReminderKind;
}

export function reminderStepsInput() {
  return Joi.array()
    .items(
      Joi.object<GivenStep, true>({
        days: Joi.number()
          .integer()
          .min(STEP_DAYS.min)
          .max(STEP_DAYS.max)
          .required()
          .description('From the due date; below 0 before it'),
        template: Joi.string()
          .valid(...REMINDER_KINDS)
          .description('The words of the mail; those of its place in the list, by days, unless given'),
      }).meta({ schema: 'ReminderStepInput' }),
    )
    .max(STEPS_MAX)
    .unique('days')
    .custom(inOrder)
    .allow(null)
    .description(
      'The reminders that go out by themselves about an invoice of which something is due. None for null or an empty list',
    );
}

function inOrder(given: GivenStep[]): ReminderStep[] | null {
  const steps = given
    .toSorted((one, other) => one.days - other.days)
    .map(({ days, template }, place) => ({ days, template: template ?? (REMINDER_KINDS[place] as ReminderKind) }));
  return steps.length > 0 ? steps : null;
}

export function remindAtInput() {
  return Joi.string()
    .custom((time: string, helpers) =>
      CLOCK_TIME.test(time) ? time : refuse(helpers, 'invalid_time', '{{#label}} must be a time such as 09:00'),
    )
    .allow(null)
    .description(`The time of day at which reminders leave, in \`time_zone\`; ${REMIND_AT_STANDARD} when null`);
}

/** The rule of a client or an invoice, as callers set it. */
export interface RemindersInput {
  reminders?: ReminderRule | null;
}

export function reminderRuleInput() {
  return Joi.object<ReminderRule>({
    mode: Joi.string()
      .valid(...REMINDER_MODES)
      .default('on')
      .description('`off` stops reminders for good'),
    paused_until: day().allow(null).description('Until this day no reminder goes out'),
  })
    .min(1)
    .allow(null)
    .meta({ schema: 'ReminderRuleInput' });
}

/** Returns the rule that a body names, as it is stored. */
export function givenReminders({ reminders }: RemindersInput): { reminders?: ReminderRule | undefined } {
  if (reminders === undefined) return {};
  if (reminders === null) return { reminders: undefined };
  const { mode, paused_until } = reminders;
  return { reminders: { mode, ...(paused_until ? { paused_until } : {}) } };
}

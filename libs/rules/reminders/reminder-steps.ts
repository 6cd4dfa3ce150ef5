// The steps of reminders: which one an invoice is at, when the next look at it is due, and what stops it.
import { addDays, dayIn } from '../../day.ts';
import { momentOf } from './clock-time.ts';
import { isResting, type ReminderRest } from './reminder-rest.ts';

export const REMINDER_KINDS = ['reminder_1', 'reminder_2', 'reminder_3', 'reminder_4', 'reminder_5'] as const;
export type ReminderKind = (typeof REMINDER_KINDS)[number];

/** One reminder of an unpaid invoice. */
export interface ReminderStep {
  /** The days from the due date. Below 0 before it. */
  days: number;
  /** The words of the mail. */
  template: ReminderKind;
}

export const STEPS_MAX = 5;
/** The earliest and the latest step, in days from the due date. */
export const STEP_DAYS = { min: -3, max: 90 } as const;
/** The time of day at which reminders leave, where the account sets none. */
export const REMIND_AT_STANDARD = '09:00';

const HOUR_MS = 3_600_000;
/** The time after a mail about an invoice in which no reminder of it goes out. */
export const QUIET_MS = 48 * HOUR_MS;

export const REMINDER_MODES = ['on', 'off'] as const;

/** How a client or an invoice is reminded. */
export interface ReminderRule {
  mode: (typeof REMINDER_MODES)[number];
  /** `YYYY-MM-DD`: the day on which reminders go on. */
  paused_until?: string | null | undefined;
}

/** Returns the rule in the form of the API. Null where none was set. */
export function reminderRuleView(rule: ReminderRule | null | undefined) {
  return rule ? { mode: rule.mode, paused_until: rule.paused_until ?? null } : null;
}

/** Returns the step that the invoice is at on the day `today`: the latest that has come, whether or not it went out. */
export function currentStep(steps: readonly ReminderStep[], dueDate: string, today: string): ReminderStep | undefined {
  return inOrder(steps).findLast(({ days }) => addDays(dueDate, days) <= today);
}

/** Returns the day of the first step that has not come. */
function nextStepDay(steps: readonly ReminderStep[], dueDate: string, today: string): string | undefined {
  return inOrder(steps)
    .map(({ days }) => addDays(dueDate, days))
    .find((day) => day > today);
}

function inOrder(steps: readonly ReminderStep[]): ReminderStep[] {
  return steps.toSorted((one, other) => one.days - other.days);
}

/** The clock by which an account reminds. */
export interface ReminderClock {
  /** An IANA name. */
  zone: string;
  /** `HH:MM`. */
  time: string;
}

/** Returns the next moment from `at` on at which reminders leave: `at` itself once the time of the day has passed. */
function nextDeparture({ zone, time }: ReminderClock, at: Date): Date {
  const departure = momentOf(zone, dayIn(zone, at), time);
  return departure > at ? departure : at;
}

/** Returns the moment at which reminders leave on the first day after `at`. */
export function nextDaysDeparture({ zone, time }: ReminderClock, at: Date): Date {
  return momentOf(zone, addDays(dayIn(zone, at), 1), time);
}

/** The facts about an invoice and its client that decide on a step. */
export interface ReminderFacts {
  steps: readonly ReminderStep[];
  clock: ReminderClock;
  /** `YYYY-MM-DD`. */
  dueDate: string;
  /** The days of the steps that went out, or are about to. */
  sent: readonly number[];
  /** True while the invoice is issued and something of it is due. */
  isOpen: boolean;
  rules: readonly ReminderRule[];
  /** True of a client whose money is collected: nothing is asked for before the due date. */
  isCollected: boolean;
  /** Until when the client has a promise or a question of it open. */
  reminder_rest?: ReminderRest | undefined;
  /** The end of the time in which the last mail about the invoice forbids a reminder. Absent where there was none. */
  quietUntil?: Date | undefined;
}

export type ReminderStop = 'nothing due' | 'off' | 'paused' | ReminderRest['because'];

/** Returns why no reminder goes out by itself on the day `today`. */
export function stopOf(
  { isOpen, rules, reminder_rest }: Pick<ReminderFacts, 'isOpen' | 'rules' | 'reminder_rest'>,
  today: string,
): ReminderStop | undefined {
  if (!isOpen) return 'nothing due';
  if (rules.some(({ mode }) => mode === 'off')) return 'off';
  if (rules.some(({ paused_until }) => paused_until && today < paused_until)) return 'paused';
  return isResting({ reminder_rest }, today) ? reminder_rest?.because : undefined;
}

/** The outcome of a look at an invoice. */
export interface ReminderDecision {
  /** The step that goes out now. */
  step?: ReminderStep;
  /** The time of the next look. Absent when no step will follow. */
  lookAt?: Date | undefined;
}

/** Decides at `at` whether a reminder goes out, and when the invoice is looked at again. */
export function decideReminder(facts: ReminderFacts, at: Date): ReminderDecision {
  const { steps, clock, dueDate, sent, isCollected, quietUntil } = facts;
  if (!facts.isOpen) return {};
  const today = dayIn(clock.zone, at);
  const nextDay = nextStepDay(steps, dueDate, today);
  const afterwards = nextDay === undefined ? undefined : momentOf(clock.zone, nextDay, clock.time);
  const step = currentStep(steps, dueDate, today);
  const isWanted = step !== undefined && !sent.some((days) => days >= step.days) && !(isCollected && step.days < 0);
  if (!isWanted) return { lookAt: afterwards };
  const departure = nextDeparture(clock, at);
  if (departure > at) return { lookAt: departure };
  // The stop may end at any time, and what ends it leaves no trace on the invoice.
  if (stopOf(facts, today)) return { lookAt: nextDaysDeparture(clock, at) };
  if (quietUntil && quietUntil > at) return { lookAt: nextDeparture(clock, quietUntil) };
  return { step, lookAt: afterwards };
}

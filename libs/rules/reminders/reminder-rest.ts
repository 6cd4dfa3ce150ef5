// How long an invoice is not reminded of, because its client named a day of payment or asked a question.
import { addDays } from '../../day.ts';

/** The reasons for which reminders rest. */
export const REST_REASONS = ['promise', 'question'] as const;

/** The longest rest for a question that is not answered, in days. */
const QUESTION_REST_DAYS = 14;

export interface ReminderRest {
  /** `YYYY-MM-DD` on the account's calendar: the first day on which reminders may go out again. */
  resumes_on: string;
  because: (typeof REST_REASONS)[number];
}

/**
 * Returns the rest that an invoice has, or undefined when nothing of its client is open. Reminders rest until the day
 * after the promised day, and for a question until it is answered or closed, but at most QUESTION_REST_DAYS.
 * @param open.promised_for the day on which the client says that it will pay.
 * @param open.asked_on the day of the oldest open question. A later one does not make the rest longer, or a client that
 * asks again and again would never be reminded.
 */
export function reminderRest({
  promised_for,
  asked_on,
}: {
  promised_for?: string | undefined;
  asked_on?: string | undefined;
}): ReminderRest | undefined {
  const rests: ReminderRest[] = [];
  if (promised_for) rests.push({ resumes_on: addDays(promised_for, 1), because: 'promise' });
  if (asked_on) rests.push({ resumes_on: addDays(asked_on, QUESTION_REST_DAYS), because: 'question' });
  return rests.sort((one, other) => (one.resumes_on < other.resumes_on ? 1 : -1))[0];
}

/** True while no reminder of the invoice may go out. @param today on the account's calendar. */
export function isResting({ reminder_rest }: { reminder_rest?: ReminderRest | undefined }, today: string): boolean {
  return reminder_rest !== undefined && reminder_rest.resumes_on > today;
}

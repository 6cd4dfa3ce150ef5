// The dates of invoices and quotes: the day of issue, and the day or period of the work. All days are `YYYY-MM-DD`.
import { addDays, dayIn } from '../../day.ts';
import { problemOf } from '../../errors.ts';
import type { Session } from '../../mongo/connection.ts';
import type { AccountRecord } from '../accounts/account.ts';
import { lastIssued, recordIssued } from '../counter.ts';
import type { Id } from '../tenant.ts';

export interface Period {
  from: string;
  /** The last day, which is not before `from`. */
  to: string;
}

export interface DocumentDates {
  /** The day of issue. Absent on a draft without one: it gets the day on which it is issued. */
  issue_date?: string | undefined;
  /** The day of the work. A document has at most one of this and `service_period`. */
  service_date?: string | undefined;
  service_period?: Period | undefined;
}

/** The declaration of these fields in a mongoose schema. */
export const documentDateFields = {
  issue_date: String,
  service_date: String,
  service_period: { type: { _id: false, from: String, to: String }, default: undefined },
} as const;

/** Returns the dates in the form of the API. */
export function documentDatesView({ issue_date, service_date, service_period }: DocumentDates) {
  return {
    issue_date: issue_date ?? null,
    service_date: service_date ?? null,
    service_period: service_period ? { from: service_period.from, to: service_period.to } : null,
  };
}

interface Issuing {
  session: Session;
  accountId: Id;
  account: Pick<AccountRecord, 'time_zone' | 'allow_backdating'>;
  /** The sequence of numbers: within it, dates follow each other as numbers do. */
  sequence: string;
}

/** Returns the problem with a given issue date, in words that follow the name of the field, or undefined. */
export async function issueDateProblem(given: string, { session, accountId, account, sequence }: Issuing) {
  const latest = addDays(dayIn(account.time_zone), 1);
  if (given > latest) return problemOf('issue_date', 'too_late', { latest });
  if (account.allow_backdating) return undefined;
  const last = await lastIssued(session, accountId, sequence);
  return last !== undefined && given < last
    ? problemOf('issue_date', 'before_last_issued', { earliest: last })
    : undefined;
}

/**
 * Returns the date of a document that is issued now, and records it as the latest of its sequence.
 * @param given valid, see issueDateProblem.
 */
export async function issueOn(
  given: string | undefined,
  { session, accountId, account, sequence }: Issuing,
): Promise<string> {
  const today = dayIn(account.time_zone);
  const last = given || account.allow_backdating ? undefined : await lastIssued(session, accountId, sequence);
  // The latest document may be dated tomorrow.
  const date = given ?? (last !== undefined && last > today ? last : today);
  recordIssued(session, sequence, date);
  return date;
}

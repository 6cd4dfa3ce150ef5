// When an invoice or a quote was issued, and when the work was done that it is about. All days are `YYYY-MM-DD`.
import { addDays, dayIn } from '../../day.ts';
import type { Session } from '../../mongo/connection.ts';
import type { AccountRecord } from '../accounts/account.ts';
import { lastIssued, recordIssued } from '../counter.ts';
import type { Id } from '../tenant.ts';

export interface Period {
  from: string;
  /** The last day; not before `from`. */
  to: string;
}

export interface DocumentDates {
  /** Absent on a draft that was given none: the day on which it is issued. */
  issue_date?: string | undefined;
  /** One of the two at most. */
  service_date?: string | undefined;
  service_period?: Period | undefined;
}

/** How these are declared in a model. */
export const documentDateFields = {
  issue_date: String,
  service_date: String,
  service_period: { type: { _id: false, from: String, to: String }, default: undefined },
} as const;

/** The dates as the API returns them. */
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
  /** Of numbers: dates follow each other as numbers do. */
  sequence: string;
}

/** What is wrong with a given issue date, in words that follow the name of the field; undefined when it is good. */
export async function issueDateProblem(given: string, { session, accountId, account, sequence }: Issuing) {
  const latest = addDays(dayIn(account.time_zone), 1);
  if (given > latest) return `must not be after ${latest}`;
  if (account.allow_backdating) return undefined;
  const last = await lastIssued(session, accountId, sequence);
  return last !== undefined && given < last ? `must not be before ${last}, when the last one was issued` : undefined;
}

/** The date of a document that is issued now, recorded as the last one of its sequence. @param given must be good, see issueDateProblem. */
export async function issueOn(
  given: string | undefined,
  { session, accountId, account, sequence }: Issuing,
): Promise<string> {
  const today = dayIn(account.time_zone);
  const last = given || account.allow_backdating ? undefined : await lastIssued(session, accountId, sequence);
  // The last one may have been dated tomorrow.
  const date = given ?? (last !== undefined && last > today ? last : today);
  recordIssued(session, sequence, date);
  return date;
}

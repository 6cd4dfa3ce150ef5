// Filters by status. Some statuses depend on the day: a document stored as Sent may read as overdue or expired.
import type { CountedBy } from './record-counts.ts';

type Condition = Readonly<Record<string, unknown>>;

/** The same condition in three forms. */
export interface StatusFilter {
  /** The form for a list. The database would walk each alternative of an `$or`, and sort. */
  walked: Condition;
  /** The form for a count along an index. The database does not answer a `$nor` from an index alone. */
  counted: Condition;
  /** The form for a total from the account's counter. Undefined when its counts do not tell the status. */
  kept?: KeptTotal;
}

/** A total as the sum of some counts, corrected by the records of one month that the counts do not tell apart. */
export interface KeptTotal {
  isCounted: (key: string) => boolean;
  correction?: { by: 1 | -1; records: Condition };
}

/** Returns a filter by equality with one value, or with any of several. */
export function oneOf<Value>(values: readonly Value[]): Value | { $in: Value[] } {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : { $in: [...values] };
}

/** Returns a filter on statuses that no day changes, each of which is a count. */
export function withStatuses(statuses: readonly string[]): StatusFilter {
  const status = oneOf(statuses);
  return { walked: { status }, counted: { status }, kept: { isCounted: (key) => statuses.includes(key) } };
}

interface Sent {
  /** The statuses that the caller asks for. */
  statuses: readonly string[];
  /** The status of records whose day has passed. */
  expired: string;
  /** The stored field with the day. */
  field: string;
  /** The day of the account. */
  today: string;
  /** The condition for records that expire at all. The others stay Sent. */
  canExpire?: { yes: Condition; no: Condition };
}

/** Returns a filter on records that read as one of `statuses` today, where Sent becomes `expired` after its day. */
export function withSent({ statuses, expired, field, today, canExpire }: Sent): StatusFilter {
  const [isSent, isExpired] = [statuses.includes('Sent'), statuses.includes(expired)];
  const status = oneOf(isExpired && !isSent ? [...statuses, 'Sent'] : statuses);
  const isWanted = (key: string) => statuses.includes(key) || (key.startsWith(SENT_IN) && isSent);
  if (isSent === isExpired) return { walked: { status }, counted: { status }, kept: { isCounted: isWanted } };
  const past = { [field]: { $lt: today }, ...canExpire?.yes };
  const open = [{ [field]: { $gte: today } }, ...(canExpire ? [canExpire.no] : [])];
  const sent = (condition: Condition) => ({ status: 'Sent', ...condition });
  const others = statuses.filter((one) => one !== 'Sent').map((one) => ({ status: one }));
  const yes = isSent ? open : [past];
  const month = monthOf(today);
  return {
    walked: { status, $nor: (isSent ? [past] : open).map(sent) },
    counted: { status, $or: [...others, ...yes.map(others.length > 0 ? sent : (condition) => condition)] },
    kept: {
      isCounted: (key) =>
        key.startsWith(SENT_IN) ? key.slice(SENT_IN.length) >= month === isSent : statuses.includes(key),
      correction: {
        by: isSent ? -1 : 1,
        records: { status: 'Sent', [field]: { $gte: month, $lt: today }, ...canExpire?.yes },
      },
    },
  };
}

const SENT_IN = 'Sent ';
/** Days before and after these have one count each, so that absurd days do not make thousands of counts. */
const [FIRST_MONTH, AFTER_MONTHS] = ['2000-01', '2100'] as const;

/** Returns a month that sorts as the days do, and before each of its days. */
function monthOf(day: string): string {
  if (day < FIRST_MONTH) return '';
  return day < AFTER_MONTHS ? day.slice(0, FIRST_MONTH.length) : AFTER_MONTHS;
}

/**
 * Counts by status, and Sent records by the month of their day.
 * @param field the stored day.
 * @param canExpire the records that expire, with the fields and index to tell them by.
 */
export function countedByStatusAndMonth<Stored extends { status: string }>(
  field: keyof Stored & string,
  canExpire: { of: (record: Stored) => boolean } & Pick<CountedBy<Stored>, 'groups' | 'index'> = {
    of: () => true,
    groups: {},
    index: {},
  },
): CountedBy<Stored> {
  return {
    keyOf: (record) =>
      record.status === 'Sent' && canExpire.of(record)
        ? `${SENT_IN}${monthOf(record[field] as string)}`
        : record.status,
    groups: { status: '$status', [field]: { $substrBytes: [`$${field}`, 0, FIRST_MONTH.length] }, ...canExpire.groups },
    index: { account_id: 1, status: 1, [field]: 1, _id: 1, ...canExpire.index },
  };
}

export const COUNTED_BY_STATUS: CountedBy<{ status: string }> = {
  keyOf: ({ status }) => status,
  groups: { status: '$status' },
  index: { account_id: 1, status: 1, _id: 1 },
};

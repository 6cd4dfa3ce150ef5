// Filters by status. The day decides some of them: what is stored as Sent may read as overdue or expired.
import type { CountedBy } from './record-counts.ts';

type Condition = Readonly<Record<string, unknown>>;

/** The same condition in three forms. */
export interface StatusFilter {
  /** For a list. Of an `$or` the database would make one walk for each alternative, and sort. */
  walked: Condition;
  /** For a count along an index. A `$nor` is not looked up in an index alone. */
  counted: Condition;
  /** For a total from the account's counter; undefined when its counts do not tell the status. */
  kept?: KeptTotal;
}

/** A total as the sum of some counts, less or more the records of one month that the counts do not tell apart. */
export interface KeptTotal {
  isCounted: (key: string) => boolean;
  correction?: { by: 1 | -1; records: Condition };
}

/** A filter by equality with one value, or with any of several. */
export function oneOf<Value>(values: readonly Value[]): Value | { $in: Value[] } {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : { $in: [...values] };
}

/** A filter on statuses that no day changes, each of which is a count. */
export function withStatuses(statuses: readonly string[]): StatusFilter {
  const status = oneOf(statuses);
  return { walked: { status }, counted: { status }, kept: { isCounted: (key) => statuses.includes(key) } };
}

interface Sent {
  /** What a caller may ask for. */
  statuses: readonly string[];
  /** The status of those whose day has passed. */
  expired: string;
  /** The stored day. */
  field: string;
  /** Of the account. */
  today: string;
  /** Holds for those that expire at all; the others stay Sent. */
  canExpire?: { yes: Condition; no: Condition };
}

/** A filter on what reads as one of `statuses` today, where Sent becomes `expired` after its day. */
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
/** Days before and after have one count each, so that days which make no sense do not make thousands. */
const [FIRST_MONTH, AFTER_MONTHS] = ['2000-01', '2100'] as const;

/** Sorts as the days do, and before each of its days. */
function monthOf(day: string): string {
  if (day < FIRST_MONTH) return '';
  return day < AFTER_MONTHS ? day.slice(0, FIRST_MONTH.length) : AFTER_MONTHS;
}

/** Counts by status, and what is Sent by the month of its day. @param field the stored day. @param canExpire see CountedBy. */
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

// The records of one kind that an owner may have forgotten, and the bounds within which they are read.
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { OwnReader } from '../../models/own-snapshot.ts';
import type { StoredId } from '../../models/tenant.ts';
import { fromMinor } from '../../rules/money/money.ts';

/** The most records of a kind that are counted. */
export const COUNTED_MAX = 1_000;
/** The most ids of a kind. */
export const IDS_MAX = 100;
/** The most records that are looked at to find those of a kind, where no index tells them apart. */
const READ_MAX = 5_000;
/** The records that are looked at together. */
const BATCH = 500;

/** The account that is looked at, and its calendar day. */
export interface Look {
  reader: OwnReader;
  account: AccountRecord;
  /** `YYYY-MM-DD` on the account's calendar. */
  today: string;
}

interface Money {
  /** In the smallest unit. */
  amount: number;
  currency: string;
}

export interface ForgottenRecord {
  id: StoredId;
  /** `YYYY-MM-DD`: the day since which it waits. */
  day: string;
  /** Absent where the record is worth nothing by itself. */
  money?: Money | undefined;
}

export interface Forgotten {
  /** At most COUNTED_MAX. */
  records: ForgottenRecord[];
  /** True when there are more, or may be. */
  hasMore: boolean;
  /** The sums by currency where records have no money of their own. */
  sums?: ReadonlyMap<string, number> | undefined;
}

export const NOTHING: Forgotten = { records: [], hasMore: false };

/** True when the account has any of these records. */
export async function hasAny({ reader }: Look, records: Parameters<OwnReader['find']>[0]): Promise<boolean> {
  const found = await reader.find(records, {}, { projection: { _id: 1 }, limit: 1, hint: { account_id: 1, _id: 1 } });
  return found.length > 0;
}

/** Options of a query that finds the records of a kind and no others: one more than is counted. */
export const COUNTED = { limit: COUNTED_MAX + 1 } as const;

/** Options of a query whose records `sift` looks at. */
export const SIFTED = { limit: READ_MAX + 1, batchSize: BATCH } as const;

/** Returns what a query with COUNTED found. */
export function counted<Stored>(found: readonly Stored[], recordOf: (one: Stored) => ForgottenRecord): Forgotten {
  return { records: found.slice(0, COUNTED_MAX).map(recordOf), hasMore: found.length > COUNTED_MAX };
}

/**
 * Looks at the records of a query with SIFTED, until enough are found.
 * @param forgottenOf returns those of the kind.
 */
export async function sift<Stored>(
  records: AsyncIterable<Stored>,
  forgottenOf: (batch: Stored[]) => Promise<ForgottenRecord[]>,
): Promise<Forgotten> {
  const found: ForgottenRecord[] = [];
  let batch: Stored[] = [];
  let read = 0;
  // Leaving the loop closes the cursor.
  for await (const record of records) {
    read += 1;
    if (read > READ_MAX) break;
    batch.push(record);
    if (batch.length < BATCH) continue;
    found.push(...(await forgottenOf(batch)));
    batch = [];
    if (found.length > COUNTED_MAX) break;
  }
  if (batch.length > 0) found.push(...(await forgottenOf(batch)));
  return { records: found.slice(0, COUNTED_MAX), hasMore: read > READ_MAX || found.length > COUNTED_MAX };
}

/** Returns the kind in the form of the API, without its ids. @param forgotten with the records that wait the longest first. */
export function forgottenView({ records, hasMore, sums = sumsOf(records) }: Forgotten) {
  const amounts = [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    count: records.length,
    has_more: hasMore,
    amounts: amounts.map(([currency, amount]) => ({ currency, amount: fromMinor(amount, currency) })),
    oldest: records[0]?.day ?? null,
  };
}

/** Returns the ids of the records that wait the longest. @param forgotten with these first. */
export function idsOf({ records }: Forgotten): string[] {
  return records.slice(0, IDS_MAX).map(({ id }) => String(id));
}

/** Puts the records that wait the longest first. */
export function longestFirst({ records, ...rest }: Forgotten): Forgotten {
  const ordered = records.toSorted((one, other) => (one.day === other.day ? 0 : one.day < other.day ? -1 : 1));
  return { records: ordered, ...rest };
}

function sumsOf(records: readonly ForgottenRecord[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { money } of records) if (money) sums.set(money.currency, (sums.get(money.currency) ?? 0) + money.amount);
  return sums;
}

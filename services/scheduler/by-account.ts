// The parts that rounds over all accounts have in common: the records that a round takes, and the accounts that it works on at a time.
import pLimit from 'p-limit';
import type { Id, StoredId } from '#libs/models/tenant.ts';

/** The number of accounts that are worked on at a time, so that one uses the time that another waits for the database. */
export const ACCOUNTS_AT_ONCE = 4;

/** Returns the records of each account, in the order in which the accounts come. */
export function byAccount<Found extends { account_id: StoredId }>(records: readonly Found[]): [Id, Found[]][] {
  return [...Map.groupBy(records, ({ account_id }) => String(account_id))];
}

/** Works on a number of accounts at a time. @throws the first error, after which no further account begins. */
export async function eachAccount<Found>(
  accounts: readonly [Id, Found[]][],
  work: (accountId: Id, own: Found[]) => Promise<void>,
  most = ACCOUNTS_AT_ONCE,
): Promise<void> {
  const atOnce = pLimit(most);
  await Promise.all(accounts.map(([accountId, own]) => atOnce(() => work(accountId, own)))).catch((error: unknown) => {
    atOnce.clearQueue();
    throw error;
  });
}

/** The order in which records are read: the longest due first, or last. */
export type Direction = 1 | -1;

/** Returns the first records. When there are too many, half as many of the last ones follow: no account keeps another waiting. */
export async function firstAndLast<Found extends { _id: StoredId }>(
  most: number,
  read: (direction: Direction, most: number) => Promise<Found[]>,
): Promise<Found[]> {
  const first = await read(1, most);
  if (first.length < most) return first;
  const last = await read(-1, Math.ceil(most / 2));
  return [...new Map([...first, ...last].map((one) => [String(one._id), one])).values()];
}

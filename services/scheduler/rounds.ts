// What the rounds over all accounts have in common: the calendar of each account, and when going on makes no sense.
import { Account } from '#libs/models/accounts/account.ts';
import type { Id } from '#libs/models/tenant.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';

/** The time zone whose days decide what is due. */
export async function zoneOf(accountId: Id): Promise<string> {
  return (await Account.findById(accountId, { time_zone: 1 }).lean())?.time_zone ?? 'UTC';
}

/** @throws the error of a database that is unavailable: every other record would fail as well, each after a timeout. */
export function requireAvailable(error: unknown): void {
  if (isUnavailable(error) || (error instanceof Error && isUnavailable(error.cause))) throw error;
}

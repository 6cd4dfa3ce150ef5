// The statuses that an account gives its projects, in whatever case a caller writes them.
import { fieldProblem } from '#libs/errors.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { driverOf } from '#libs/models/records.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { Project, projectStatuses } from '#libs/models/time/project.ts';
import { sameName } from '#libs/search-text.ts';

const STATUS_STANDARD = 'In Progress';

/** @returns the status as the account spells it. @throws AppError 400 when the account has no such status. */
export function requireStatus(status: string, account: AccountRecord): string {
  const statuses = projectStatuses(account);
  const known = statuses.find((one) => sameName(one) === sameName(status));
  if (known === undefined) throw fieldProblem('status', 'not_one_of', { values: statuses });
  return known;
}

/**
 * The stored statuses that a filter means, in whatever case it is written. One that the account gave up is known as long as a
 * project has it.
 * @throws AppError 400 when there is none like it.
 */
export async function statusesLike(status: string, accountId: Id): Promise<string[]> {
  const account = await readAccount(accountId);
  const used: string[] = await driverOf(Project).distinct('status', { account_id: storedId(accountId) });
  const like = [...new Set([...projectStatuses(account), ...used])].filter((one) => sameName(one) === sameName(status));
  return like.length > 0 ? like : [requireStatus(status, account)];
}

export function firstStatus(account: AccountRecord): string {
  const statuses = projectStatuses(account);
  return statuses.includes(STATUS_STANDARD) ? STATUS_STANDARD : (statuses[0] ?? STATUS_STANDARD);
}

// Runs the queries of the audits. Each finds the records that break one rule, and a row is a bug or a damaged restore.
import type { driverOf } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';

export interface AuditProblem {
  account_id: Id;
  /** The id of the record that the problem names first. */
  id: Id;
  problem: string;
}

const PROBLEMS_SHOWN = 20;
/** The limit of one query. */
export const AUDIT_LIMIT_MS = 60_000;

/** Returns the filter of an audit. @param accountId one account, or all when absent, for the operator. */
export function ofAccount(accountId: Id | undefined): object {
  return accountId === undefined ? {} : { account_id: storedId(accountId) };
}

/** Returns a query for time or expenses that are on an invoice although they cannot be billed. */
export function billedTwice(own: object): object[] {
  return [{ $match: { ...own, invoice_id: { $ne: null }, $or: [{ settled: { $ne: null } }, { billable: false }] } }];
}

/**
 * Runs a query.
 * @param pipeline finds the records that break the rule. Its rows have `_id` and `account_id`.
 * @returns at most PROBLEMS_SHOWN.
 */
export async function problemsOf(
  collection: Pick<ReturnType<typeof driverOf>, 'aggregate'>,
  problem: string,
  pipeline: object[],
): Promise<AuditProblem[]> {
  const rows = await collection
    .aggregate<{ _id: StoredId; account_id: StoredId }>(
      [...pipeline, { $limit: PROBLEMS_SHOWN }, { $project: { account_id: 1 } }],
      { maxTimeMS: AUDIT_LIMIT_MS, readConcern: { level: 'majority' } },
    )
    .toArray();
  return rows.map(({ _id, account_id }) => ({ account_id: String(account_id), id: String(_id), problem }));
}

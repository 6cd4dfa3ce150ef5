// Runs the queries of the audits. Each finds the records that break one rule, and a row is a bug or a damaged restore.
import type { driverOf } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';

export interface AuditProblem {
  account_id: Id;
  /** The id of the record that the problem names first. */
  id: Id;
  problem: string;
}

const PROBLEMS_SHOWN = 20;
const AUDIT_LIMIT_MS = 60_000;

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

// Reads the statement of account of a client.
import type { Id, StoredId } from '../../models/tenant.ts';
import { datedMovements, type MovementsRead } from './dated-movements.ts';
import { type CurrencyStatement, type StatementPeriod, statementsOf } from './statement.ts';

/**
 * Returns the statements in the order of currencies. It reads all movements of the client, as the balance of a past day
 * does, so that both say the same.
 * @param timeZone of the account.
 * @throws AppError 422 when there are more movements than it can add up, or more rows than a statement has.
 */
export async function clientStatements(
  accountId: Id,
  client_id: StoredId,
  { period, timeZone, max }: { period: StatementPeriod } & Pick<MovementsRead, 'timeZone' | 'max'>,
): Promise<CurrencyStatement[]> {
  return statementsOf(await datedMovements(accountId, client_id, { timeZone, max, isForStatement: true }), period);
}

// The client that a new project or document refers to.
import { appError } from '../../errors.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { lockOwn } from '../../models/records.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import type { Session } from '../../mongo/connection.ts';

/**
 * Returns the client under a row lock. A transaction that deletes or anonymises it at the same moment conflicts with
 * this one.
 * @throws AppError 404 when it is not the account's, 409 when it was anonymised.
 */
export async function namedClient(accountId: Id, id: Id | StoredId, session: Session): Promise<ClientRecord> {
  const client = await lockOwn(Client, accountId, id, session);
  if (!client) throw appError('client_not_found');
  requireIdentified(client);
  return client;
}

/** Checks that a document has an identified recipient. @throws AppError 409 when the client was anonymised. */
export function requireIdentified({ anonymised_at }: Pick<ClientRecord, 'anonymised_at'>): void {
  if (anonymised_at) throw appError('client_anonymised');
}

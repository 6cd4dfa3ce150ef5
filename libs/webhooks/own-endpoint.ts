// Reads and changes one webhook endpoint of an account.
import { appError } from '../errors.ts';
import type { Id } from '../models/tenant.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '../models/webhooks/webhook-endpoint.ts';
import type { Session } from '../mongo/connection.ts';
import { readAfterElection } from '../mongo/read-after-election.ts';

/** Returns the 409 of an operation that sends to a disabled endpoint. */
export const endpointDisabled = () => appError('webhook_disabled');

/** The name of an endpoint in an operation on it. */
export interface NamedEndpoint {
  id: Id;
  /** Makes the 404. Unless given, it is the one of a change. */
  missing?: (() => Error) | undefined;
}

/** The account and the transaction of a read. A unit of work has both. */
export interface AccountReader {
  accountId: Id;
  /** Absent outside of a transaction. */
  session?: Session | undefined;
}

/** Returns the endpoint, or null when the account has none with this id. */
export function findEndpoint({ accountId, session }: AccountReader, id: Id): Promise<WebhookEndpointRecord | null> {
  return WebhookEndpoint.findOne({ _id: id, account_id: accountId })
    .session(session ?? null)
    .lean<WebhookEndpointRecord>();
}

/** Returns the endpoint. @throws AppError 404. */
export async function requireEndpoint(
  reader: AccountReader,
  { id, missing = () => appError('webhook_not_found') }: NamedEndpoint,
): Promise<WebhookEndpointRecord> {
  const find = () => findEndpoint(reader, id);
  const endpoint = await (reader.session ? find() : readAfterElection(find));
  if (!endpoint) throw missing();
  return endpoint;
}

/** Returns the endpoint for an operation that sends to it. @throws AppError 404, and 409 when it is disabled. */
export async function requireEnabledEndpoint(
  reader: AccountReader,
  named: NamedEndpoint,
): Promise<WebhookEndpointRecord> {
  const endpoint = await requireEndpoint(reader, named);
  if (!endpoint.enabled) throw endpointDisabled();
  return endpoint;
}

/** Writes changes of an endpoint that this transaction has read. @returns the changed record. */
export async function updateEndpoint(
  { _id, account_id }: WebhookEndpointRecord,
  changes: object,
  session: Session,
): Promise<WebhookEndpointRecord> {
  const options = { session, returnDocument: 'after' } as const;
  const changed = await WebhookEndpoint.findOneAndUpdate(
    { _id, account_id },
    changes,
    options,
  ).lean<WebhookEndpointRecord>();
  if (!changed) throw new Error('an endpoint vanished inside its transaction');
  return changed;
}

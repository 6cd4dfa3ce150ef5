// Reads and changes one endpoint of the caller.
import { appError } from '#libs/errors.ts';
import type { Id } from '#libs/models/tenant.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import type { Context } from '../http/route.ts';

/** The 409 of an operation that sends to a disabled endpoint. */
export const disabled = () => appError('webhook_disabled');

type Named = Pick<Context, 'id' | 'caller' | 'missing'>;

/** @throws the operation's 404. */
export async function ownEndpoint({ id, caller, missing }: Named, session?: Session): Promise<WebhookEndpointRecord> {
  const find = () => findEndpoint(caller.accountId, id, session);
  const endpoint = await (session ? find() : readAfterElection(find));
  if (!endpoint) throw missing();
  return endpoint;
}

export function findEndpoint(account_id: Id, _id: Id, session?: Session): Promise<WebhookEndpointRecord | null> {
  return WebhookEndpoint.findOne({ _id, account_id })
    .session(session ?? null)
    .lean<WebhookEndpointRecord>();
}

/** Returns the endpoint for an operation that sends to it. @throws the operation's 404, and 409 when it is disabled. */
export async function enabledEndpoint(named: Named, session?: Session): Promise<WebhookEndpointRecord> {
  const endpoint = await ownEndpoint(named, session);
  if (!endpoint.enabled) throw disabled();
  return endpoint;
}

export async function changeEndpoint({ _id, account_id }: WebhookEndpointRecord, changes: object, session: Session) {
  const options = { session, returnDocument: 'after' } as const;
  const changed = await WebhookEndpoint.findOneAndUpdate(
    { _id, account_id },
    changes,
    options,
  ).lean<WebhookEndpointRecord>();
  if (!changed) throw new Error('an endpoint vanished inside its transaction');
  return changed;
}

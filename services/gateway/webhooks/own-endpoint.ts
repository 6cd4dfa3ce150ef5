// Reads and changes one endpoint of the caller inside a transaction.
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhook-endpoint.ts';
import type { Session } from '#libs/mongo.ts';
import type { Context } from '../http/route.ts';

/** What a 409 says. */
export const DISABLED = 'The webhook is disabled, enable it first';

/** @throws the operation's 404. */
export async function ownEndpoint(
  { id, caller, missing }: Pick<Context, 'id' | 'caller' | 'missing'>,
  session: Session,
) {
  const filter = { _id: id, account_id: caller.accountId };
  const endpoint = await WebhookEndpoint.findOne(filter, null, { session }).lean<WebhookEndpointRecord>();
  if (!endpoint) throw missing();
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

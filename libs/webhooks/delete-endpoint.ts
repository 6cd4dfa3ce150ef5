// Deletes an endpoint.
import type { UnitOfWork } from '../billing/unit-of-work.ts';
import { requestReconcile } from '../models/webhooks/endpoint-reconcile.ts';
import { WebhookEndpoint } from '../models/webhooks/webhook-endpoint.ts';
import { type NamedEndpoint, requireEndpoint } from './own-endpoint.ts';

/** Deletes an endpoint. Call `reconcileChange` after the commit, which gives up its deliveries. @throws AppError 404. */
export async function deleteEndpoint({ session, accountId }: UnitOfWork, named: NamedEndpoint): Promise<void> {
  const endpoint = await requireEndpoint({ accountId, session }, named);
  await WebhookEndpoint.deleteOne({ _id: endpoint._id, account_id: endpoint.account_id }, { session });
  await requestReconcile(endpoint, session);
}

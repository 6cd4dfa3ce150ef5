// Sends an event to one endpoint, so that its receiver can be tried.
import type { UnitOfWork } from '../billing/unit-of-work.ts';
import { agreedDate } from '../clock.ts';
import type { Id } from '../models/tenant.ts';
import { deliveryId } from '../models/webhooks/delivery.ts';
import { type NamedEndpoint, requireEnabledEndpoint, updateEndpoint } from './own-endpoint.ts';

const MESSAGE = 'If you can read this and verify its signature, the endpoint works.';

/**
 * Sends a `ping` event to this endpoint alone.
 * @returns the ids of the event and of its delivery, which is made after the commit. A dry run has no event.
 * @throws AppError 404, and 409 when the endpoint is disabled.
 */
export async function pingEndpoint(
  { session, accountId, announce }: UnitOfWork,
  named: NamedEndpoint,
): Promise<{ eventId: Id | undefined; deliveryId: Id }> {
  const endpoint = await requireEnabledEndpoint({ accountId, session }, named);
  // A concurrent disabling conflicts with this write and comes before or after it: between the two, this delivery would
  // never be made.
  await updateEndpoint(endpoint, { $set: { tested_at: agreedDate() } }, session);
  const eventId = await announce('ping', { webhook_id: named.id, message: MESSAGE }, { endpointId: named.id });
  return { eventId, deliveryId: deliveryId(String(eventId), named.id) };
}

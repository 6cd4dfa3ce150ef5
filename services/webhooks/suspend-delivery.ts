// Suspends a leased delivery whose endpoint turned out to be disabled.
import { type Id, storedId, wireId } from '#libs/models/tenant.ts';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import { reconcileEndpoint, requestReconcile } from '#libs/models/webhooks/endpoint-reconcile.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import { inBatches, PATIENT } from './loading/in-batches.ts';
import type { LeasedDelivery } from './store/delivery-leases.ts';
import type { DeliverySettlement } from './store/delivery-settlement.ts';

export type SuspendDelivery = (delivery: LeasedDelivery, endpointId: Id, attempt?: Attempt) => Promise<void>;

export function makeSuspendDelivery(options: {
  settle: (settlement: DeliverySettlement) => Promise<unknown>;
  findEndpoint: (id: Id) => Promise<WebhookEndpointRecord | undefined>;
}): SuspendDelivery {
  const requestReconciles = inBatches(async (deliveries: LeasedDelivery[]) => {
    const accounts = new Map(deliveries.map(({ endpoint_id, account_id }) => [wireId(endpoint_id), account_id]));
    await Promise.all(
      [...accounts].map(([id, account_id]) =>
        retryWhileUnavailable(() => requestReconcile({ _id: storedId(id), account_id })),
      ),
    );
    return deliveries;
  }, PATIENT);

  return async (delivery, endpointId, attempt) => {
    // If this process dies before the last step, another one finds the request and reconciles.
    await requestReconciles(delivery);
    await options.settle({ delivery, verdict: { move: 'suspendLeased' }, ...(attempt ? { attempt } : {}) });
    // If the endpoint was enabled or deleted meanwhile, that reconcile came before this delivery was suspended.
    const endpoint = await readAfterElection(() => options.findEndpoint(endpointId));
    if (!endpoint || endpoint.enabled) await reconcileEndpoint(wireId(delivery.account_id), endpointId);
  };
}

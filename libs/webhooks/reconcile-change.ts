// Reconciles the deliveries of an endpoint after the commit that enabled, disabled or deleted it.
import type { Id } from '../models/tenant.ts';
import { reconcileEndpoint } from '../models/webhooks/endpoint-reconcile.ts';
import { resultWithin } from '../with-timeout.ts';

/**
 * The time that a person or a program waits until the deliveries are suspended, resumed or given up. A million of them
 * are reconciled after the response.
 */
const RECONCILE_LIMIT_MS = 2_000;

interface ReconcileOptions {
  /** Wakes the webhook services when deliveries have resumed. */
  nudge: () => void;
  log: { warn: (fields: object, text: string) => void };
}

/**
 * Suspends, resumes or gives up the deliveries of the endpoint. It never throws, because the change is committed: the
 * webhook service reconciles what is left undone here.
 */
export async function reconcileChange(accountId: Id, endpointId: Id, { nudge, log }: ReconcileOptions): Promise<void> {
  const reconciled = reconcileEndpoint(accountId, endpointId).then(
    (resumed) => void (resumed > 0 && nudge()),
    (error) =>
      log.warn(
        { err: error, endpointId },
        'reconciling the deliveries of this endpoint failed; the webhook service retries within a minute',
      ),
  );
  await resultWithin(RECONCILE_LIMIT_MS, reconciled);
}

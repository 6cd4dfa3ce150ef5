// The queue entry of one attempt.
import { type Id, type StoredId, wireId } from '#libs/models/tenant.ts';

interface Attemptable {
  _id: Id | StoredId;
  account_id: StoredId;
  endpoint_id: StoredId;
  request_id?: string | null | undefined;
  trace?: string | null | undefined;
  /** True when the worker that had the delivery ended without an outcome, see DeliverWebhook. */
  isAgain?: boolean;
}

/**
 * Returns the queue entry.
 * @param revision makes the job's id unique. BullMQ ignores an id as long as an older job with it exists.
 */
export function deliveryJob(delivery: Attemptable, revision: number, delayMs = 0) {
  const deliveryId = String(delivery._id);
  return {
    id: `${deliveryId}-${revision}`,
    delayMs,
    ...(delivery.trace ? { trace: delivery.trace } : {}),
    payload: {
      deliveryId,
      accountId: wireId(delivery.account_id),
      endpointId: wireId(delivery.endpoint_id),
      ...(delivery.request_id ? { requestId: delivery.request_id } : {}),
      ...(delivery.isAgain ? { isAgain: true } : {}),
    },
  };
}

// Why a delivery waits, in the words of pages for operators and developers.
import type { DeliveryRecord } from '../models/webhooks/delivery.ts';
import type { DisabledReason, WebhookEndpointRecord } from '../models/webhooks/webhook-endpoint.ts';

const REASONS: Record<DisabledReason, string> = {
  manual: 'Its account disabled it',
  gone: 'It was disabled because its receiver answered 410 Gone',
  failing: 'It was disabled after five days with nothing but failures',
  operator: 'An operator disabled it',
};

/** Returns in one sentence why an endpoint is disabled, without its full stop. */
export function whyDisabled(reason: string | null | undefined): string {
  return REASONS[reason as DisabledReason] ?? REASONS.manual;
}

/**
 * Returns in one sentence what the delivery waits for, or how it ended.
 * @param endpoint undefined when it was deleted.
 * @param isPaused whether an operator has paused all attempts.
 */
export function whyWaiting(
  { status, deferrals, lease_until, next_at, due_at, attempts }: DeliveryRecord,
  endpoint: Pick<WebhookEndpointRecord, 'enabled' | 'disabled_reason'> | undefined,
  { isPaused = false } = {},
): string {
  const last = attempts.at(-1)?.error_class;
  if (status === 'delivered') return 'The receiver took it.';
  if (status === 'held')
    return `It is suspended. ${whyDisabled(endpoint?.disabled_reason)}; enabling the endpoint sends it.`;
  if (status === 'dead')
    return `No attempt is left, or the endpoint was deleted${last ? `; the last one ended with ${last}` : ''}.`;
  if (lease_until && lease_until > new Date())
    return 'An attempt is being made, or its process ended and another one takes over.';
  if (!endpoint) return 'The endpoint was deleted, and the delivery is about to be given up.';
  if (!endpoint.enabled) return 'The endpoint is disabled, and the delivery is about to be suspended.';
  const at = next_at ?? due_at;
  const isLater = at && at > new Date();
  if (isLater && deferrals > 0)
    return 'The circuit breaker of the endpoint is open after failures: the delivery waits for a probe to succeed.';
  if (isLater) return `It waits for its next attempt${last ? ` after ${last}` : ''}.`;
  if (isPaused) return 'It is due, and its queue is paused.';
  return 'It is due, and waits for a free worker or for its share among other endpoints.';
}

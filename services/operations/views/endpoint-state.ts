// Shows the state of an endpoint: whether it works, why it is disabled, its success rate and its last failure.
import type { VNode } from 'preact';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge } from '#libs/pages/parts.ts';
import { isFailing } from '../store/account-search.ts';
import { type DeliveryRate, RATE_COUNTED_MAX } from '../store/delivery-rates.ts';

export function endpointBadge(
  endpoint: Pick<WebhookEndpointRecord, 'enabled' | 'disabled_reason' | 'failures'>,
): VNode {
  if (!endpoint.enabled) return badge(`disabled (${endpoint.disabled_reason ?? 'manual'})`, 'warn');
  return isFailing(endpoint) ? badge('failing', 'bad') : badge('enabled', 'good');
}

/** Writes a rate: `80 % of 50`, `over 90 %` when a number was not counted to its end. */
export function rateText({ delivered, undelivered }: DeliveryRate): string {
  const all = delivered + undelivered;
  if (all === 0) return '–';
  const percent = `${Math.floor((100 * delivered) / all)} %`;
  const [isMore, isLess] = [delivered >= RATE_COUNTED_MAX, undelivered >= RATE_COUNTED_MAX];
  if (isMore && isLess) return 'over 1,000 each way';
  if (isMore) return `at least ${percent}`;
  return isLess ? `at most ${percent}` : `${percent} of ${count(all)}`;
}

/** Shows how and when the latest attempt failed. */
export function lastFailure({ last_failure }: Pick<WebhookEndpointRecord, 'last_failure'>): VNode | string {
  if (!last_failure) return '–';
  const { at, error_class, response_status } = last_failure;
  return html`<span>${outcomeText({ error_class, response_status })} <small class="quiet">${ago(at)}</small></span>`;
}

/** Writes the outcome of an attempt: `204`, `status 503`, `timeout`. */
export function outcomeText(attempt: {
  error_class?: string | null | undefined;
  response_status?: number | null | undefined;
}): string {
  return [attempt.error_class, attempt.response_status].filter((part) => part != null).join(' ');
}

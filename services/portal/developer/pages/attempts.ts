// Shows the attempts of deliveries.
import type { VNode } from 'preact';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import { html } from '#libs/pages/html.ts';
import { badge } from '#libs/pages/parts.ts';

/** The failures in words. A status speaks for itself. */
const FAILURES: Readonly<Record<string, string>> = {
  unreachable: 'unreachable',
  timeout: 'timed out',
  redirect: 'a redirect, which is not followed',
  gone: 'gone: the endpoint is disabled',
  endpoint_deleted: 'the endpoint was deleted',
  secret_unreadable: 'no call: rotate the secret',
};

/** Shows the response to an attempt, or why there was none. */
export function responseOf({ response_status, error_class }: Attempt): VNode {
  const failure = error_class && FAILURES[error_class];
  const text = [response_status, failure].filter(Boolean).join(' ');
  return html`<span>${badge(text || String(error_class), error_class ? 'bad' : 'good')}</span>`;
}

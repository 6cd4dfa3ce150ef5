// Computes an endpoint after a change: its fields, its pauses and its record of failures.
import { isUnchanged } from '#libs/models/records.ts';
import { pausedAfter, resumedAfter } from '#libs/models/webhooks/endpoint-pauses.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import type { WebhookChanges } from './input.ts';

/** True when nothing would change: neither the endpoint nor its record of failures. */
export function isAsWanted(endpoint: WebhookEndpointRecord, { description, ...rest }: WebhookChanges): boolean {
  const given = description === undefined ? rest : { ...rest, description: description || null };
  if (!isUnchanged(endpoint, given)) return false;
  if (rest.enabled === undefined) return true;
  const { failing_since, failures, disabled_reason } = endpoint;
  return rest.enabled ? !failing_since && !failures && !disabled_reason : disabled_reason === 'manual';
}

/** Returns the update of the endpoint. @param sequence of the account's latest event. */
export function changesOf(
  endpoint: WebhookEndpointRecord,
  { enabled, description, ...rest }: WebhookChanges,
  sequence: number,
) {
  // Another URL, or the caller says that it is well again: the record of failures starts anew.
  const isFresh = (rest.url !== undefined && rest.url !== endpoint.url) || enabled === true;
  return {
    $set: {
      ...rest,
      ...(description ? { description } : {}),
      ...(enabled === undefined ? {} : { enabled }),
      ...(enabled === false ? { disabled_reason: 'manual' } : {}),
      ...(enabled && !endpoint.enabled ? { pauses: resumedAfter(endpoint, sequence) } : {}),
      updated_at: new Date(),
    },
    // A pause begins only at an enabled endpoint: disabling it a second time must not shorten the pause.
    ...(enabled === false && endpoint.enabled ? pausedAfter(sequence) : {}),
    $unset: {
      ...(description === null || description === '' ? { description: 1 as const } : {}),
      ...(isFresh ? { failing_since: 1 as const, failures: 1 as const } : {}),
      ...(enabled ? { disabled_reason: 1 as const } : {}),
    },
  };
}

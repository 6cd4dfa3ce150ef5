// Changes an endpoint: its fields, its pauses and its record of failures.
import type { UnitOfWork } from '../billing/unit-of-work.ts';
import { isUnchanged } from '../models/records.ts';
import { lastDrawn } from '../models/sequences.ts';
import { pausedAfter, resumedAfter } from '../models/webhooks/endpoint-pauses.ts';
import { requestReconcile } from '../models/webhooks/endpoint-reconcile.ts';
import {
  type DisabledReason,
  endpointView,
  NO_FAILURES,
  type WebhookEndpointRecord,
} from '../models/webhooks/webhook-endpoint.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { WebhookChanges } from './endpoint-input.ts';
import { vetEndpointUrl } from './endpoint-url.ts';
import { type NamedEndpoint, requireEndpoint, updateEndpoint } from './own-endpoint.ts';
import { sameUrlProblems } from './register-endpoint.ts';

/**
 * Checks the URL of changes, if they have one. It resolves a name, so it runs outside of the transaction.
 * @returns the changes with the URL in its canonical form.
 * @throws AppError 400.
 */
export async function vetEndpointChanges(changes: WebhookChanges, outbound: Outbound): Promise<WebhookChanges> {
  return changes.url === undefined ? changes : { ...changes, url: await vetEndpointUrl(changes.url, outbound) };
}

/**
 * Changes an endpoint. Call `reconcileChange` after the commit when `enabled` is among the changes.
 * @param changes that vetEndpointChanges has returned.
 * @returns the endpoint, also when nothing changes. Its unit warns of another endpoint with the new URL.
 * @throws AppError 404.
 */
export async function changeEndpoint(
  { session, accountId, warnings }: UnitOfWork,
  named: NamedEndpoint,
  changes: WebhookChanges,
): Promise<WebhookEndpointRecord> {
  const endpoint = await requireEndpoint({ accountId, session }, named);
  const { url, enabled } = changes;
  if (url) warnings.push(...(await sameUrlProblems({ accountId, url, except: endpoint._id, session })));
  if (isAsWanted(endpoint, changes)) return endpoint;
  if (enabled !== undefined) await requestReconcile(endpoint, session);
  const sequence = await lastDrawn(session, accountId, 'event');
  return updateEndpoint(endpoint, changesOf(endpoint, changes, { sequence, reason: 'manual' }), session);
}

/**
 * Enables or disables an endpoint in the name of an operator. An endpoint that an operator disabled says so to its
 * account, whose other endpoints get the event `endpoint.disabled`. Call `reconcileChange` after the commit.
 * @returns the endpoint, or undefined when it is enabled or disabled already and nothing changes.
 * @throws AppError 404.
 */
export async function switchEndpoint(
  { session, accountId, announce }: UnitOfWork,
  named: NamedEndpoint,
  enabled: boolean,
): Promise<WebhookEndpointRecord | undefined> {
  const endpoint = await requireEndpoint({ accountId, session }, named);
  if (endpoint.enabled === enabled) return undefined;
  await requestReconcile(endpoint, session);
  const sequence = await lastDrawn(session, accountId, 'event');
  const changes = changesOf(endpoint, { enabled }, { sequence, reason: 'operator' });
  const changed = await updateEndpoint(endpoint, changes, session);
  if (!enabled) await announce('endpoint.disabled', endpointView(changed));
  return changed;
}

/** True when nothing would change: neither the endpoint nor its record of failures. */
function isAsWanted(endpoint: WebhookEndpointRecord, { description, ...rest }: WebhookChanges): boolean {
  const given = description === undefined ? rest : { ...rest, description: description || null };
  if (!isUnchanged(endpoint, given)) return false;
  if (rest.enabled === undefined) return true;
  const { failing_since, failures, disabled_reason } = endpoint;
  return rest.enabled ? !failing_since && !failures && !disabled_reason : disabled_reason === 'manual';
}

/**
 * Returns the update of the endpoint.
 * @param given.sequence the account's latest event.
 * @param given.reason the reason of disabling it.
 */
function changesOf(
  endpoint: WebhookEndpointRecord,
  { enabled, description, ...rest }: WebhookChanges,
  { sequence, reason }: { sequence: number; reason: DisabledReason },
) {
  // Another URL, or the caller says that it is well again: the record of failures starts anew.
  const isFresh = (rest.url !== undefined && rest.url !== endpoint.url) || enabled === true;
  return {
    $set: {
      ...rest,
      ...(description ? { description } : {}),
      ...(enabled === undefined ? {} : { enabled }),
      ...(enabled === false ? { disabled_reason: reason } : {}),
      ...(enabled && !endpoint.enabled ? { pauses: resumedAfter(endpoint, sequence) } : {}),
      updated_at: new Date(),
    },
    // A pause begins only at an enabled endpoint: disabling it a second time must not shorten the pause.
    ...(enabled === false && endpoint.enabled ? pausedAfter(sequence) : {}),
    $unset: {
      ...(description === null || description === '' ? { description: 1 as const } : {}),
      ...(isFresh ? NO_FAILURES : {}),
      ...(enabled ? { disabled_reason: 1 as const } : {}),
    },
  };
}

// Registers an endpoint: takes one of the account's slots and makes its secret.
import type { UnitOfWork } from '../billing/unit-of-work.ts';
import { appError, type Problem, problemOf, validationFailed } from '../errors.ts';
import { lastDrawn } from '../models/sequences.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { makeSecret } from '../models/webhooks/endpoint-secrets.ts';
import { isEventFilter } from '../models/webhooks/event-filter.ts';
import {
  ENDPOINTS_MAX,
  endpointView,
  WebhookEndpoint,
  type WebhookEndpointRecord,
} from '../models/webhooks/webhook-endpoint.ts';
import { inTransaction, type Session } from '../mongo/connection.ts';
import { isDuplicate } from '../mongo/errors.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { SecretBox } from '../secret-box.ts';
import { vetEndpointUrl } from './endpoint-url.ts';

/** Returns the 409 for an account that has ENDPOINTS_MAX endpoints. */
export const endpointsMaxReached = () => appError('webhook_limit_reached', { limit: ENDPOINTS_MAX });

/**
 * Returns a problem for each other endpoint with this URL. Two endpoints may share one, for different events, but most
 * often the first was forgotten.
 * @param except the endpoint that gets the URL.
 */
export async function sameUrlProblems({
  accountId,
  url,
  except,
  session,
}: {
  accountId: Id;
  url: string;
  except?: StoredId;
  session: Session;
}): Promise<Problem[]> {
  const others = await WebhookEndpoint.find({ account_id: accountId, url }, { _id: 1 }, { session }).lean();
  const ids = others.map(({ _id }) => String(_id)).filter((id) => id !== String(except));
  return ids.map((id) => problemOf('url', 'url_registered', { id }));
}

export interface NewEndpoint {
  /** A URL that vetEndpointUrl has returned. */
  url: string;
  events: string[];
  description?: string | null | undefined;
  enabled?: boolean | undefined;
}

/**
 * Registers an endpoint. Its unit warns of another endpoint with this URL.
 * @returns the endpoint, and its secret, which is shown once.
 * @throws AppError 409 when the account has ENDPOINTS_MAX.
 */
export async function createEndpoint(
  { session, accountId, warnings }: UnitOfWork,
  input: NewEndpoint,
  box: SecretBox,
): Promise<{ endpoint: WebhookEndpointRecord; secret: string }> {
  warnings.push(...(await sameUrlProblems({ accountId, url: input.url, session })));
  const endpoint = await insertEndpoint(session, accountId, input, box);
  return { endpoint, secret: box.open(endpoint.secret) };
}

/** Stores an endpoint. @returns the record, whose secret secretsOf reads. */
async function insertEndpoint(
  session: Session,
  accountId: Id,
  { url, events, description, enabled = true }: NewEndpoint,
  box: SecretBox,
): Promise<WebhookEndpointRecord> {
  const slot = await freeSlot(session, accountId);
  const sequence = await lastDrawn(session, accountId, 'event');
  try {
    const [endpoint] = await WebhookEndpoint.create(
      [
        {
          account_id: accountId,
          slot,
          url,
          events,
          ...(description ? { description } : {}),
          enabled,
          ...(enabled ? {} : { disabled_reason: 'manual' }),
          pauses: [{ after: 0, ...(enabled ? { until: sequence } : {}) }],
          secret: box.seal(makeSecret()),
        },
      ],
      { session },
    );
    return (endpoint as NonNullable<typeof endpoint>).toObject() as WebhookEndpointRecord;
  } catch (error) {
    if (isDuplicate(error)) throw appError('webhook_being_registered');
    throw error;
  }
}

/** Returns the id of the account's newest endpoint. It is empty where there is none. */
export async function latestEndpointId({
  session,
  accountId,
}: Pick<UnitOfWork, 'session' | 'accountId'>): Promise<string> {
  const latest = await WebhookEndpoint.findOne({ account_id: accountId }, { _id: 1 }, { session })
    .sort({ created_at: -1, _id: -1 })
    .lean();
  return latest ? String(latest._id) : '';
}

async function freeSlot(session: Session, accountId: Id): Promise<number> {
  const others = await WebhookEndpoint.find({ account_id: accountId }, { slot: 1 }, { session }).lean();
  const used = new Set(others.map(({ slot }) => slot));
  const slot = Array.from({ length: ENDPOINTS_MAX }, (_, index) => index).find((index) => !used.has(index));
  if (slot === undefined) throw endpointsMaxReached();
  return slot;
}

/**
 * Registers an endpoint outside of a request, for the admin command.
 * @returns its id and its secret, which is shown once.
 */
export async function registerEndpoint(
  accountId: Id,
  input: NewEndpoint,
  { outbound, box }: { outbound: Outbound; box: SecretBox },
): Promise<{ endpoint: ReturnType<typeof endpointView>; secret: string }> {
  const unknown = input.events.filter((filter) => !isEventFilter(filter));
  if (unknown.length > 0)
    throw validationFailed(unknown.map((event) => problemOf('events', 'unknown_event_type', { event })));
  const url = await vetEndpointUrl(input.url, outbound);
  const record = await inTransaction((session) => insertEndpoint(session, accountId, { ...input, url }, box));
  return { endpoint: endpointView(record), secret: box.open(record.secret) };
}

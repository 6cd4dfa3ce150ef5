// A URL an account registered to receive its events, with the secret its deliveries are signed with.
import { randomBytes } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { conflict, validationFailed } from '../../errors.ts';
import { inTransaction, type Session } from '../../mongo/connection.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import { type Outbound, OutboundRefused } from '../../outbound/outbound.ts';
import { isWebUrl } from '../../outbound/url-form.ts';
import type { SecretBox } from '../../secret-box.ts';
import { lastDrawn } from '../counter.ts';
import { LIST_LIMIT_MS, newestFirst, type Page, type Wanted } from '../listing.ts';
import { driverOf } from '../records.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, storedId, tenant, wireId } from '../tenant.ts';
import { EVENT_TYPES } from './event.ts';

/** Each event costs one delivery per endpoint. */
export const ENDPOINTS_MAX = 20;
/** What a 409 says. */
export const ENDPOINTS_MAX_REACHED = `An account can have at most ${ENDPOINTS_MAX} webhook endpoints`;
/** How long deliveries carry the old secret's signature too: a day to roll the new one out. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000;
/** Who rotates again because an answer was lost must not end the secret that receivers still use. Each is a signature in every call. */
const FORMER_MAX = 4;
const SECRET_BYTES = 32; // Standard Webhooks asks for 24 to 64.

/** `manual`: the account's own wish. `gone`: the receiver answered 410. `failing`: nothing but failures for five days. */
export type DisabledReason = 'manual' | 'gone' | 'failing';

const endpointSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    /** 0 to ENDPOINTS_MAX - 1, unique in the account: two registrations at once cannot both be the last one allowed. */
    slot: { type: Number, required: true },
    url: { type: String, required: true },
    /** Event types, `noun.*` or `*`. */
    events: { type: [String], required: true },
    description: String,
    enabled: { type: Boolean, required: true, default: true },
    disabled_reason: String,
    /** Which events are not for it, oldest first: those of before it was registered, and of each time it was disabled. */
    pauses: { type: [{ _id: false, after: Number, until: Number }], default: undefined },
    /** See secret-box.ts. */
    secret: { type: String, required: true },
    /** Those it replaced, latest first, each until it signs no more. */
    previous_secrets: { type: [{ _id: false, secret: String, until: Date }], default: undefined },
    /** When the first of an unbroken row of failures happened, and how long the row is. Absent while all is well. */
    failing_since: Date,
    failures: Number,
    /** When somebody last asked for a ping. */
    tested_at: Date,
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'webhook_endpoints' },
);
endpointSchema.plugin(tenant);
endpointSchema.index({ account_id: 1, slot: 1 }, { unique: true });
endpointSchema.index({ account_id: 1, created_at: -1, _id: -1 });

export interface FormerSecret {
  /** See secret-box.ts. */
  secret: string;
  until: Date;
}

/** Counted in the account's events, see event.ts: no two clocks have to agree. */
export interface Pause {
  /** The last event before it. */
  after: number;
  /** The last event in it. None while it lasts. */
  until?: number | null;
}

/** Only what waits in the outbox is judged by them. When older ones have fallen away it may get an event too many, never one too few. */
const PAUSES_MAX = 10;

export type WebhookEndpointRecord = Omit<InferSchemaType<typeof endpointSchema>, 'previous_secrets' | 'pauses'> & {
  previous_secrets?: FormerSecret[] | null;
  pauses?: Pause[] | null;
};

export const WebhookEndpoint = model('WebhookEndpoint', endpointSchema);

/** A page of the account's endpoints, newest first. */
export async function findEndpointPage(
  accountId: Id,
  wanted: Pick<Wanted, 'limit' | 'offset' | 'after'>,
): Promise<Page<WebhookEndpointRecord>> {
  const filter = { account_id: storedId(accountId) };
  const [page, total] = await Promise.all([
    newestFirst<WebhookEndpointRecord>(driverOf(WebhookEndpoint), filter, wanted),
    driverOf(WebhookEndpoint).countDocuments(filter, { maxTimeMS: LIST_LIMIT_MS }),
  ]);
  return { ...page, total };
}

/** Endpoints by id, of whatever accounts: deliveries of all accounts are made side by side. */
export async function findEndpoints(ids: readonly Id[]): Promise<Map<Id, WebhookEndpointRecord>> {
  // Straight from the driver, like everything that each delivery needs.
  const endpoints = (await driverOf(WebhookEndpoint)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { batchSize: ids.length + 1 })
    .toArray()) as unknown as WebhookEndpointRecord[];
  return new Map(endpoints.map((endpoint) => [wireId(endpoint._id), endpoint]));
}

export type Subscription = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'events' | 'enabled' | 'pauses'>;

/**
 * What the endpoints of these accounts want, by account: events of all accounts are fanned out side by side. Disabled ones are among
 * them, see wasEnabledFor: they are few, and the index has read them anyway.
 */
export async function findSubscriptions(accountIds: readonly StoredId[]): Promise<Map<Id, Subscription[]>> {
  const distinct = new Map(accountIds.map((id) => [String(id), id]));
  const endpoints = (await driverOf(WebhookEndpoint)
    .find({ account_id: { $in: [...distinct.values()] } } as object, {
      projection: { account_id: 1, events: 1, enabled: 1, pauses: 1 },
      batchSize: ENDPOINTS_MAX * distinct.size + 1,
    })
    .toArray()) as unknown as Subscription[];
  return Map.groupBy(endpoints, ({ account_id }) => wireId(account_id));
}

/** The endpoint as the API returns it: without its secret. */
export function endpointView(endpoint: WebhookEndpointRecord) {
  return {
    id: String(endpoint._id),
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description ?? null,
    enabled: endpoint.enabled,
    disabled_reason: endpoint.enabled ? null : (endpoint.disabled_reason ?? 'manual'),
    failing_since: endpoint.failing_since?.toISOString() ?? null,
    created_at: endpoint.created_at.toISOString(),
    updated_at: endpoint.updated_at.toISOString(),
  };
}

const NOUNS = new Set(EVENT_TYPES.filter((type) => type.includes('.')).map((type) => type.split('.', 1)[0]));

/** True for an event type, `noun.*` of a known noun, or `*`. */
export function isEventFilter(text: string): boolean {
  if (text === '*' || (EVENT_TYPES as readonly string[]).includes(text)) return true;
  return text.endsWith('.*') && NOUNS.has(text.slice(0, -2));
}

/** True when one of the filters of an endpoint names the type. */
export function subscribes(filters: readonly string[], type: string): boolean {
  return filters.some(
    (filter) => filter === '*' || filter === type || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1))),
  );
}

/** True when the event goes to the endpoint: it was made for it alone, or for whoever wants its type. */
export function isFor(
  { _id, events }: Pick<WebhookEndpointRecord, '_id' | 'events'>,
  { endpoint_id, type }: { endpoint_id?: StoredId | null | undefined; type: string },
): boolean {
  return endpoint_id ? String(endpoint_id) === String(_id) : subscribes(events, type);
}

/** True when it was enabled when the event happened, whatever it is now: that event waited in the outbox meanwhile. */
export function wasEnabledFor(
  { enabled, pauses }: Pick<WebhookEndpointRecord, 'enabled' | 'pauses'>,
  { sequence }: { sequence: number },
): boolean {
  const known = pauses ?? [];
  const last = known.at(-1);
  if (!enabled && (!last || last.until != null)) return false; // Nobody knows since when.
  const ended = endedAt(known, enabled ? undefined : Number.POSITIVE_INFINITY);
  return !ended.some(({ after, until }) => sequence > after && sequence <= until);
}

/**
 * Only the last pause can last still, until `end`. Who enabled the endpoint by hand in the database ended none: those are over at
 * their beginning, better an event too many.
 */
function endedAt(pauses: readonly Pause[], end: number | undefined) {
  const last = pauses.at(-1);
  return pauses.map((pause) => ({ ...pause, until: pause.until ?? (pause === last ? end : undefined) ?? pause.after }));
}

/** The update of an endpoint that was enabled and is not any more. @param sequence of the latest event, read in the same transaction. */
export function pausedAfter(sequence: number) {
  return { $push: { pauses: { $each: [{ after: sequence }], $slice: -PAUSES_MAX } } };
}

/** The pauses of an endpoint that was disabled and is enabled now. @param sequence as above. */
export function resumedAfter({ pauses }: Pick<WebhookEndpointRecord, 'pauses'>, sequence: number): Pause[] {
  return endedAt(pauses ?? [], sequence);
}

/** A fresh signing secret, `whsec_` + base64 of 32 bytes. */
export function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The secrets that the current one replaced and that still overlap with it, latest first. */
export function formerSecrets(
  { previous_secrets }: Pick<WebhookEndpointRecord, 'previous_secrets'>,
  now: Date = agreedDate(),
): FormerSecret[] {
  return (previous_secrets ?? []).filter(({ until }) => until > now);
}

/**
 * The secrets that sign now: the current one first. A former one that no key opens signs nothing any more.
 * @throws Error when no key opens the current one.
 */
export function secretsOf(
  endpoint: Pick<WebhookEndpointRecord, 'secret' | 'previous_secrets'>,
  box: Pick<SecretBox, 'open'>,
  now: Date = agreedDate(),
): string[] {
  const former = formerSecrets(endpoint, now).flatMap(({ secret }) => {
    try {
      return [box.open(secret)];
    } catch {
      return [];
    }
  });
  return [box.open(endpoint.secret), ...former];
}

/** What a new secret makes of the endpoint: the one it replaces goes on signing for a while, as do those before. */
export function rotated(endpoint: WebhookEndpointRecord, sealed: string, now: Date = agreedDate()) {
  const replaced = { secret: endpoint.secret, until: new Date(now.getTime() + ROTATION_OVERLAP_MS) };
  return { secret: sealed, previous_secrets: [replaced, ...formerSecrets(endpoint, now)].slice(0, FORMER_MAX) };
}

/**
 * @returns the URL in its canonical form. Everywhere it must be https on the usual ports, except on addresses the operator allows.
 * @throws AppError 400 with the class of the reason in brackets.
 */
export async function vetEndpointUrl(text: string, outbound: Outbound): Promise<string> {
  try {
    const { url } = await outbound.vet(text, { protocols: ['https:'] });
    if (!isWebUrl(text)) throw new OutboundRefused('malformed');
    return url.href;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    // A name may be registered before it exists: each delivery judges it anew.
    if (error.reason === 'dns' && isWebUrl(text)) return outbound.check(text, { protocols: ['https:'] }).url.href;
    const message = error.reason === 'scheme' ? 'must use https' : error.message;
    throw validationFailed({ url: [`url ${message} (${error.reason})`] });
  }
}

export interface NewEndpoint {
  /** Already vetted, see vetEndpointUrl. */
  url: string;
  events: string[];
  description?: string | undefined;
  enabled?: boolean | undefined;
}

/** @returns the record; its secret can be read with secretsOf. @throws AppError 409 when the account has ENDPOINTS_MAX. */
export async function insertEndpoint(
  session: Session,
  accountId: Id,
  input: NewEndpoint,
  box: SecretBox,
): Promise<WebhookEndpointRecord> {
  const others = await WebhookEndpoint.find({ account_id: accountId }, { slot: 1 }, { session }).lean();
  const taken = new Set(others.map(({ slot }) => slot));
  const slot = Array.from({ length: ENDPOINTS_MAX }, (_, index) => index).find((index) => !taken.has(index));
  if (slot === undefined) throw conflict(ENDPOINTS_MAX_REACHED);
  const { url, events, description, enabled = true } = input;
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
    if (isDuplicate(error)) throw conflict('Another endpoint is being registered, please try again');
    throw error;
  }
}

/** Registers an endpoint outside of a request, for the admin command. @returns its id and its secret, which is shown once. */
export async function registerEndpoint(
  accountId: Id,
  input: NewEndpoint,
  { outbound, box }: { outbound: Outbound; box: SecretBox },
): Promise<{ endpoint: ReturnType<typeof endpointView>; secret: string }> {
  const unknown = input.events.filter((filter) => !isEventFilter(filter));
  if (unknown.length > 0) throw validationFailed({ events: unknown.map((filter) => `${filter} is no event type`) });
  const url = await vetEndpointUrl(input.url, outbound);
  const record = await inTransaction((session) => insertEndpoint(session, accountId, { ...input, url }, box));
  return { endpoint: endpointView(record), secret: box.open(record.secret) };
}

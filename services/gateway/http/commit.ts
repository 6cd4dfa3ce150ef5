// Runs the unit of work of a request: once per Idempotency-Key, and rolled back in a dry run.
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { stringify } from 'safe-stable-stringify';
import { rollBackUnitOfWork, runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { AppError, appError, retryAfter } from '#libs/errors.ts';
import { Idempotency, type IdempotencyRecord, idempotencyId } from '#libs/models/idempotency-record.ts';
import { countStored } from '#libs/models/stored-bytes.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import { parametersOf } from './read-query.ts';
import { type JsonResponse, withWarnings } from './response.ts';

export type Work<Prepared = undefined> = (unit: UnitOfWork, prepared: Prepared) => Promise<JsonResponse>;

/**
 * @param prepare what the work needs that no transaction may wait for, such as resolving a name. It is not called when the response
 * to an earlier request with this Idempotency-Key is known.
 */
export interface Commit {
  (work: Work): Promise<JsonResponse>;
  <Prepared>(work: Work<Prepared>, prepare: () => Promise<Prepared>): Promise<JsonResponse>;
}

type Bound = (unit: UnitOfWork) => Promise<JsonResponse>;

export interface CommitOptions {
  request: Request;
  accountId: Id;
  /** The key of the caller. */
  keyId: Id;
  requestId: string;
  /** Everything is done and then undone: the response says what would have happened. */
  isDryRun: boolean;
  /** Checks the record that the operation is about, and throws when it does not fit. Runs before the operation prepares anything, and again in the transaction. */
  precondition?: ((session?: Session) => Promise<void>) | undefined;
  /** Runs first in the transaction. Nothing is stored when it throws. */
  beforeWork?: ((session: Session) => Promise<void>) | undefined;
  /** See runUnitOfWork. */
  quotaBytes?: number | undefined;
  /** Tells the relay that an event waits; best effort, the relay looks by itself. */
  nudge: () => void;
}

const KEY_FORM = /^[\x21-\x7e]{1,255}$/;

export function commitFor({
  request,
  accountId,
  keyId,
  requestId,
  isDryRun,
  precondition,
  beforeWork,
  quotaBytes,
  nudge,
}: CommitOptions): Commit {
  const key = request.method === 'POST' ? request.get('Idempotency-Key') : undefined;
  // The form is checked even where nothing is written, so that every POST rejects a malformed key.
  if (key !== undefined && !KEY_FORM.test(key)) {
    throw appError('idempotency_key_malformed');
  }
  return async <Prepared>(work: Work<Prepared>, prepare?: () => Promise<Prepared>) => {
    const ready = async (): Promise<Bound> => {
      if (prepare && precondition) await readAfterElection(() => precondition());
      const prepared = await prepare?.();
      return async (unit) => {
        await precondition?.(unit.session);
        return withWarnings(await work(unit, prepared as Prepared), unit.warnings);
      };
    };
    if (isDryRun) {
      const work = await ready();
      return asDryRun(await withConcurrencyLimit(accountId, () => rollBackUnitOfWork(accountId, work)));
    }
    return key === undefined ? run(await ready()) : runOnce(idempotencyId(accountId, key), ready);
  };

  /** Units of work of one account wait for each other here, where it costs nothing, instead of conflicting in the database. */
  async function run(
    work: Bound,
    remember?: (session: Session, response: JsonResponse, eventId: Id | undefined) => Promise<void>,
  ): Promise<JsonResponse> {
    const { result, hasEvents } = await withConcurrencyLimit(accountId, () =>
      runUnitOfWork(
        { accountId, by: { type: 'api_key', id: keyId }, requestId, beforeWork, quotaBytes },
        async (unit) => {
          const announced = new WeakMap<object, Id>();
          const announce: UnitOfWork['announce'] = async (type, data, options) => {
            const id = await unit.announce(type, data, options);
            if (id) announced.set(data as object, id);
            return id;
          };
          const response = await work({ ...unit, announce });
          const { data } = response.body as { data?: object };
          await remember?.(unit.session, response, data && announced.get(data));
          return response;
        },
      ),
    );
    if (hasEvents) nudge();
    return result;
  }

  async function runOnce(id: string, ready: () => Promise<Bound>): Promise<JsonResponse> {
    const fingerprint = fingerprintOf(request);
    const known = await recall(accountId, id, fingerprint);
    if (known) return known;
    if (running.has(id)) throw stillRunning();
    running.add(id);
    try {
      return await run(await ready(), async (session, response, eventId) => {
        // A record that was found by its `external_id` is found by it again, so nothing is remembered.
        if (isReplayed(response)) return;
        await remember(session, {
          eventId: response.replayBody === undefined ? eventId : undefined,
          id,
          accountId,
          fingerprint,
          status: response.status,
          body: response.replayBody ?? response.body,
        });
      });
    } catch (error) {
      // Another gateway may have committed the same key since `recall` above: then the error is only that it was faster.
      const done = await recall(accountId, id, fingerprint).catch((recallError) => {
        // The first error says more: perhaps that the change may have been stored.
        throw error instanceof AppError && error.status >= 500 ? error : recallError;
      });
      if (done) return done;
      // The other gateway has committed, but no read returns its record before a majority of the replica set has it.
      if (isDuplicate(error, Idempotency.collection.name)) throw stillRunning();
      throw error;
    } finally {
      running.delete(id);
    }
  }
}

/** Returns the response of a dry run. Its record has no id, because it was not stored. */
function asDryRun({ body }: JsonResponse): JsonResponse {
  const { data, ...others } = body as { data: object };
  return { status: 200, body: { ...others, data: { ...data, id: null } }, headers: { 'Dry-Run': 'true' } };
}

const stillRunning = () => appError('idempotency_key_running', undefined, { headers: retryAfter(1) });

/** Keys in flight in this process; the unique id catches those of other processes. */
const running = new Set<string>();

async function recall(accountId: Id, id: string, fingerprint: string): Promise<JsonResponse | undefined> {
  const record = await readAfterElection(() =>
    Idempotency.findOne({ _id: id, account_id: accountId }).lean<IdempotencyRecord>(),
  );
  if (!record) return undefined;
  if (record.fingerprint !== fingerprint) {
    throw appError('idempotency_key_reused');
  }
  const body = JSON.parse(record.body);
  if (record.event_id) {
    const _id = record.event_id;
    const event = await readAfterElection(() => Event.findOne({ _id, account_id: accountId }).lean<EventRecord>());
    if (!event) throw new Error(`the event ${String(_id)} of a response is gone`);
    body.data = JSON.parse(event.body).data;
  }
  return { status: record.status, body, headers: REPLAYED };
}

const REPLAYED = { 'Idempotent-Replayed': 'true' };

function isReplayed({ headers }: JsonResponse): boolean {
  return headers?.['Idempotent-Replayed'] !== undefined;
}

/** A larger response is not stored twice: its body is read from its event, or it counts towards the quota. */
const KEPT_WHOLE_BYTES = 2 * 1024;

async function remember(
  session: Session,
  {
    id,
    accountId,
    fingerprint,
    status,
    body,
    eventId,
  }: { id: string; accountId: Id; fingerprint: string; status: number; body: unknown; eventId: Id | undefined },
) {
  const whole = JSON.stringify(body);
  const bytes = Buffer.byteLength(whole);
  const isLarge = bytes > KEPT_WHOLE_BYTES;
  const kept =
    isLarge && eventId
      ? { body: JSON.stringify({ ...(body as object), data: undefined }), event_id: storedId(eventId) }
      : { body: whole };
  const record = { account_id: storedId(accountId), fingerprint, status, ...kept };
  // A large response that is in no event counts towards the account's quota, although it expires.
  if (isLarge && !eventId) countStored(session, bytes);
  // The wrapper's types know no ids but ObjectId.
  await Idempotency.collection.insertOne({ _id: id as never, ...record, created_at: agreedDate() }, { session });
}

/** Two requests are the same when they say the same, whatever the white space and the order of names. */
function fingerprintOf({ method, route, params, originalUrl, body }: Request): string {
  const { path } = route as { path: string };
  // The hash covers the request as it was sent, without defaults: a retry across an upgrade that brings a new one is the same request.
  const sent: unknown = Buffer.isBuffer(body) ? createHash('sha256').update(body).digest('hex') : body;
  const content = stringify({ method, path, params, query: parametersOf(originalUrl), body: sent });
  return createHash('sha256').update(String(content)).digest('hex');
}

// What a request adds to a unit of work: it happens once per Idempotency-Key, or not at all in a dry run.
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { stringify } from 'safe-stable-stringify';
import { rollBackUnitOfWork, runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { AppError, conflict } from '#libs/errors.ts';
import { Idempotency, type IdempotencyRecord, idempotencyId } from '#libs/models/idempotency-record.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import { parametersOf } from './read-query.ts';
import type { JsonResponse } from './response.ts';

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
  requestId: string;
  /** Everything is done and then undone: the response says what would have happened. */
  isDryRun: boolean;
  /** What must be true of the record that the operation is about. Throws otherwise, in the transaction and before anything is prepared for it. */
  precondition?: ((session?: Session) => Promise<void>) | undefined;
  /** What the transaction begins with. Nothing is stored when it throws. */
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
  requestId,
  isDryRun,
  precondition,
  beforeWork,
  quotaBytes,
  nudge,
}: CommitOptions): Commit {
  const key = request.method === 'POST' ? request.get('Idempotency-Key') : undefined;
  // Also where nothing is written, so that a malformed key is rejected by every POST.
  if (key !== undefined && !KEY_FORM.test(key)) {
    throw new AppError(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return async <Prepared>(work: Work<Prepared>, prepare?: () => Promise<Prepared>) => {
    const ready = async (): Promise<Bound> => {
      if (prepare && precondition) await readAfterElection(() => precondition());
      const prepared = await prepare?.();
      return async (unit) => {
        await precondition?.(unit.session);
        return work(unit, prepared as Prepared);
      };
    };
    if (isDryRun) return asDryRun(await rollBackUnitOfWork(accountId, await ready()));
    return key === undefined ? run(await ready()) : runOnce(idempotencyId(accountId, key), ready);
  };

  /** Units of work of one account wait for each other here, where it costs nothing, instead of conflicting in the database. */
  async function run(
    work: Bound,
    remember?: (session: Session, response: JsonResponse) => Promise<void>,
  ): Promise<JsonResponse> {
    const { result, hasEvents } = await withConcurrencyLimit(accountId, () =>
      runUnitOfWork({ accountId, requestId, beforeWork, quotaBytes }, async (unit) => {
        const response = await work(unit);
        await remember?.(unit.session, response);
        return response;
      }),
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
      return await run(await ready(), async (session, response) => {
        await remember(session, {
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
      // It has, but no read returns its record before a majority has it.
      if (isDuplicate(error, Idempotency.collection.name)) throw stillRunning();
      throw error;
    } finally {
      running.delete(id);
    }
  }
}

/** What was not stored has no id. */
function asDryRun({ body }: JsonResponse): JsonResponse {
  const { data } = body as { data: object };
  return { status: 200, body: { success: true, data: { ...data, id: null } }, headers: { 'Dry-Run': 'true' } };
}

const stillRunning = () => conflict('A request with this Idempotency-Key is still running', { 'Retry-After': '1' });

/** Keys in flight in this process; the unique id catches those of other processes. */
const running = new Set<string>();

async function recall(accountId: Id, id: string, fingerprint: string): Promise<JsonResponse | undefined> {
  const record = await readAfterElection(() =>
    Idempotency.findOne({ _id: id, account_id: accountId }).lean<IdempotencyRecord>(),
  );
  if (!record) return undefined;
  if (record.fingerprint !== fingerprint) {
    throw new AppError(422, 'Idempotency-Key was already used with another request');
  }
  return { status: record.status, body: JSON.parse(record.body), headers: { 'Idempotent-Replayed': 'true' } };
}

async function remember(
  session: Session,
  {
    id,
    accountId,
    fingerprint,
    status,
    body,
  }: { id: string; accountId: Id; fingerprint: string; status: number; body: unknown },
) {
  const record = { account_id: storedId(accountId), fingerprint, status, body: JSON.stringify(body) };
  // The wrapper's types know no ids but ObjectId.
  await Idempotency.collection.insertOne({ _id: id as never, ...record, created_at: agreedDate() }, { session });
}

/** Two requests are the same when they say the same, whatever the white space and the order of names. */
function fingerprintOf({ method, route, params, originalUrl, body }: Request): string {
  const { path } = route as { path: string };
  // As it was sent, without defaults: a retry across an upgrade that brings a new one is the same request.
  const content = stringify({ method, path, params, query: parametersOf(originalUrl), body: body as unknown });
  return createHash('sha256').update(String(content)).digest('hex');
}

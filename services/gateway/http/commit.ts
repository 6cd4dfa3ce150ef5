// One transaction for all that a write does: records, numbers, events and the idempotency record become true together or not at all.
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { stringify } from 'safe-stable-stringify';
import {
  formattedNumber,
  type NumberFormats,
  numberFormat,
  periodOf,
  sequenceOf,
} from '#libs/billing/number-format.ts';
import { agreedDate } from '#libs/clock.ts';
import { AppError, conflict } from '#libs/errors.ts';
import { isNumberTaken, type NumberKind, recordNumber, skipNumbers } from '#libs/models/billing/number-ledger.ts';
import {
  drawInSequence,
  drawMany,
  drawNext,
  giveBack,
  pretendChangeTime,
  reserveEvents,
} from '#libs/models/counter.ts';
import { Idempotency, type IdempotencyRecord, idempotencyId } from '#libs/models/idempotency-record.ts';
import { type Id, type StoredId, storedId, timeOf } from '#libs/models/tenant.ts';
import { type EventType, insertEvent, insertEvents } from '#libs/models/webhooks/event.ts';
import { inTransaction, type Session } from '#libs/mongo/connection.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import type { CrashPoint } from './crash-points.ts';
import { parametersOf } from './read-query.ts';
import type { Answer } from './response.ts';

export interface Transaction {
  session: Session;
  accountId: Id;
  /**
   * The next number of a document, entered in the ledger. Its event's sequence is drawn in the same update, so an `announce`
   * must follow. 0 in a dry run, which draws none.
   */
  drawNumber: (kind: NumberKind, documentId: StoredId, given: Numbering) => Promise<DrawnNumber>;
  /** Writes an event of the account; webhooks go out after the commit. @param data the record as the API returns it. */
  announce: (type: EventType, data: unknown, endpointId?: Id) => Promise<Id | undefined>;
  /** An event of one type for each of some records, for the price of two writes. All are in memory: many come in portions. */
  announceAll: (type: EventType, records: readonly unknown[]) => Promise<void>;
}

/** What a number is made from. */
export interface Numbering {
  /** As the account has set them; undefined when it never has. */
  formats: NumberFormats | undefined;
  /** The date of the document, or the account's day. */
  day: string;
}

/** As documents keep it. */
export interface DrawnNumber {
  number: number;
  number_text?: string;
  number_period?: string;
}

export type Work<Prepared = undefined> = (transaction: Transaction, prepared: Prepared) => Promise<Answer>;

/**
 * @param prepare what the work needs that no transaction may wait for, such as an address of a name. It is not asked when the answer
 * of an earlier request with this Idempotency-Key is known.
 */
export interface Commit {
  (work: Work): Promise<Answer>;
  <Prepared>(work: Work<Prepared>, prepare: () => Promise<Prepared>): Promise<Answer>;
}

type Bound = (transaction: Transaction) => Promise<Answer>;

export interface CommitOptions {
  request: Request;
  accountId: Id;
  requestId: string;
  /** Everything is done and then undone: the answer says what would have happened. */
  isDryRun: boolean;
  /** What the transaction begins with. Nothing is stored when it throws. */
  first?: ((session: Session) => Promise<void>) | undefined;
  /** Tells the relay that an event waits; best effort, the relay looks by itself. */
  nudge: () => void;
  /** Called at every step. */
  passing?: ((point: CrashPoint) => void) | undefined;
}

const KEY_FORM = /^[\x21-\x7e]{1,255}$/;

export function commitFor({ request, accountId, requestId, isDryRun, first, nudge, passing }: CommitOptions): Commit {
  const key = request.method === 'POST' ? request.get('Idempotency-Key') : undefined;
  // Also where nothing is written: a key that is wrong is wrong everywhere.
  if (key !== undefined && !KEY_FORM.test(key)) {
    throw new AppError(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return async <Prepared>(work: Work<Prepared>, prepare?: () => Promise<Prepared>) => {
    const ready = async (): Promise<Bound> => {
      const prepared = await prepare?.();
      return (transaction) => work(transaction, prepared as Prepared);
    };
    if (isDryRun) return dryRun(await ready());
    return key === undefined ? run(await ready()) : runOnce(idempotencyId(accountId, key), ready);
  };

  /** Turns of one account wait for each other here, where it costs nothing, instead of conflicting in the database. */
  async function run(work: Bound, remember?: (session: Session, answer: Answer) => Promise<void>): Promise<Answer> {
    const { answer, hasEvents } = await withConcurrencyLimit(accountId, () =>
      inTransaction(async (session) => {
        reserveEvents(session);
        await first?.(session);
        const { transaction, finish } = openTransaction(session);
        const answer = await work(transaction);
        await giveBack(session, accountId);
        await remember?.(session, answer);
        passing?.('before-commit');
        return { answer, hasEvents: finish() };
      }),
    );
    passing?.('after-commit');
    if (hasEvents) nudge();
    return answer;
  }

  async function runOnce(id: string, ready: () => Promise<Bound>): Promise<Answer> {
    const fingerprint = fingerprintOf(request);
    const known = await recall(accountId, id, fingerprint);
    if (known) return known;
    if (running.has(id)) throw stillRunning();
    running.add(id);
    try {
      return await run(await ready(), async (session, answer) => {
        await remember(session, {
          id,
          accountId,
          fingerprint,
          status: answer.status,
          body: answer.remember ?? answer.body,
        });
        passing?.('after-idempotency-record');
      });
    } catch (error) {
      // Another gateway may have committed the same key since our look: then whatever we stumbled over was its doing.
      const done = await recall(accountId, id, fingerprint).catch((recallError) => {
        // That nobody can be asked says less than what is known already: perhaps that the change may have been stored.
        throw error instanceof AppError && error.status >= 500 ? error : recallError;
      });
      if (done) return done;
      // It has, and waits until a majority has it, too.
      if (isDuplicate(error, Idempotency.collection.name)) throw stillRunning();
      throw error;
    } finally {
      running.delete(id);
    }
  }

  function openTransaction(session: Session) {
    let reserved: number | undefined;
    let announced = 0;
    const transaction: Transaction = {
      session,
      accountId,
      async drawNumber(kind, documentId, { formats, day }) {
        const format = numberFormat(formats, kind);
        const period = periodOf(format, day);
        const from = { sequence: sequenceOf(kind, period), start: format.start, at: timeOf(String(documentId)) };
        for (;;) {
          const { number, event } = await drawInSequence(session, accountId, {
            ...from,
            withEvent: reserved === undefined,
          });
          reserved ??= event;
          passing?.('after-counter');
          const text = formattedNumber(format, number, day);
          // Another format of the account may have given it: then its number is skipped, so that none is missing.
          if (!formats || !(await isNumberTaken(session, accountId, text))) {
            await recordNumber(session, { accountId, kind, period, number, text, documentId });
            passing?.('after-ledger');
            return { number, number_text: text, ...(period ? { number_period: period } : {}) };
          }
          await skipNumbers(session, { accountId, kind, period, first: number, count: 1, not_given: text });
        }
      },
      async announce(type, data, endpointId) {
        passing?.('before-event');
        const sequence = reserved ?? (await drawNext(session, accountId, ['event'])).event;
        reserved = undefined;
        announced += 1;
        const event = { accountId, type, sequence, data, requestId, ...(endpointId ? { endpointId } : {}) };
        const id = await insertEvent(session, event);
        passing?.('after-event');
        return id;
      },
      async announceAll(type, records) {
        if (records.length === 0) return;
        const first = await drawMany(session, accountId, 'event', records.length);
        announced += records.length;
        await insertEvents(
          session,
          records.map((data, index) => ({ accountId, type, sequence: first + index, data, requestId })),
        );
      },
    };
    const finish = () => {
      if (reserved !== undefined) throw new Error('a number was drawn but its event was not announced');
      return announced > 0;
    };
    return { transaction, finish };
  }

  /** Runs the work without numbers and events, takes its answer and takes everything back. */
  async function dryRun(work: Bound): Promise<Answer> {
    const unchanged = {
      accountId,
      drawNumber: async () => ({ number: 0 }),
      announce: async () => undefined,
      announceAll: async () => undefined,
    };
    try {
      await inTransaction(async (session) => {
        pretendChangeTime(session, new Date());
        throw new DryRunEnd(await work({ session, ...unchanged }));
      });
    } catch (error) {
      if (error instanceof DryRunEnd) return asDryRun(error.answer);
      throw error;
    }
    throw new Error('a dry run was committed');
  }
}

/** Ends a dry run, so that its transaction is aborted. */
class DryRunEnd extends Error {
  readonly answer: Answer;
  constructor(answer: Answer) {
    super('dry run');
    this.answer = answer;
  }
}

/** What was not stored has no id. */
function asDryRun({ body }: Answer): Answer {
  const { data } = body as { data: object };
  return { status: 200, body: { success: true, data: { ...data, id: null } }, headers: { 'Dry-Run': 'true' } };
}

const stillRunning = () => conflict('A request with this Idempotency-Key is still running', { 'Retry-After': '1' });

/** Keys in hand in this process; other processes are caught by the unique id. */
const running = new Set<string>();

async function recall(accountId: Id, id: string, fingerprint: string): Promise<Answer | undefined> {
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
  const said = stringify({ method, path, params, query: parametersOf(originalUrl), body: body as unknown });
  return createHash('sha256').update(String(said)).digest('hex');
}

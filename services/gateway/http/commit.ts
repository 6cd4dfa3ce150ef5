// One transaction for all that a write does: records, numbers, events and the idempotency record become true together or not at all.
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { AppError, conflict } from '#libs/errors.ts';
import { drawNext, type Sequence } from '#libs/models/counter.ts';
import { type EventType, insertEvent } from '#libs/models/event.ts';
import { Idempotency, type IdempotencyRecord, idempotencyId } from '#libs/models/idempotency-record.ts';
import type { Id } from '#libs/models/tenant.ts';
import { inTransaction, isDuplicate, type Session } from '#libs/mongo.ts';
import type { Answer } from './answer.ts';
import { inTurn } from './turns.ts';

export interface Transaction {
  session: Session;
  accountId: Id;
  /** The next number of a document; its event's sequence is drawn in the same update, so an `announce` must follow. */
  drawNumber(kind: Exclude<Sequence, 'event'>): Promise<number>;
  /** Writes an event of the account; webhooks go out after the commit. @param data the record as the API returns it. */
  announce(type: EventType, data: unknown, endpointId?: Id): Promise<Id>;
}

export type Work = (transaction: Transaction) => Promise<Answer>;
export type Commit = (work: Work) => Promise<Answer>;

const KEY_FORM = /^[\x21-\x7e]{1,255}$/;

/** @param nudge tells the relay that an event waits; best effort, the relay looks by itself. */
export function commitFor(options: { request: Request; accountId: Id; requestId: string; nudge: () => void }): Commit {
  const { request, accountId, requestId, nudge } = options;
  return async (work) => {
    const key = request.method === 'POST' ? request.get('Idempotency-Key') : undefined;
    if (key === undefined) return run(work);
    if (!KEY_FORM.test(key)) {
      throw new AppError(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
    }
    return runOnce(idempotencyId(accountId, key), work);
  };

  /** Turns of one account wait for each other here, where it costs nothing, instead of conflicting in the database. */
  async function run(work: Work, remember?: (session: Session, answer: Answer) => Promise<void>): Promise<Answer> {
    const { answer, hasEvents } = await inTurn(accountId, () =>
      inTransaction(async (session) => {
        const { transaction, finish } = openTransaction(session, accountId, requestId);
        const answer = await work(transaction);
        await remember?.(session, answer);
        return { answer, hasEvents: finish() };
      }),
    );
    if (hasEvents) nudge();
    return answer;
  }

  async function runOnce(id: string, work: Work): Promise<Answer> {
    const fingerprint = fingerprintOf(request);
    const known = await recall(accountId, id, fingerprint);
    if (known) return known;
    if (running.has(id)) throw conflict('A request with this Idempotency-Key is still running', { 'Retry-After': '1' });
    running.add(id);
    try {
      return await run(work, async (session, answer) => {
        const body = JSON.stringify(answer.body);
        await Idempotency.create([{ _id: id, account_id: accountId, fingerprint, status: answer.status, body }], {
          session,
        });
      });
    } catch (error) {
      // Another gateway committed the same key between our look and our write.
      const done = isDuplicate(error) ? await recall(accountId, id, fingerprint) : undefined;
      if (done) return done;
      throw error;
    } finally {
      running.delete(id);
    }
  }
}

/** Keys in hand in this process; other processes are caught by the unique id. */
const running = new Set<string>();

async function recall(accountId: Id, id: string, fingerprint: string): Promise<Answer | undefined> {
  const record = await Idempotency.findOne({ _id: id, account_id: accountId }).lean<IdempotencyRecord>();
  if (!record) return undefined;
  if (record.fingerprint !== fingerprint) {
    throw new AppError(422, 'Idempotency-Key was already used with another request');
  }
  return { status: record.status, body: JSON.parse(record.body), headers: { 'Idempotent-Replayed': 'true' } };
}

function fingerprintOf(request: Request): string {
  return createHash('sha256')
    .update(`${request.method} ${request.originalUrl}\n${JSON.stringify(request.body ?? null)}`)
    .digest('hex');
}

function openTransaction(session: Session, accountId: Id, requestId: string) {
  let reserved: number | undefined;
  let announced = 0;
  const transaction: Transaction = {
    session,
    accountId,
    async drawNumber(kind) {
      const drawn = await drawNext(session, accountId, [kind, 'event']);
      reserved = drawn.event;
      return drawn[kind];
    },
    async announce(type, data, endpointId) {
      const sequence = reserved ?? (await drawNext(session, accountId, ['event'])).event;
      reserved = undefined;
      announced += 1;
      return insertEvent(session, {
        accountId,
        type,
        sequence,
        data,
        requestId,
        ...(endpointId ? { endpointId } : {}),
      });
    },
  };
  const finish = () => {
    if (reserved !== undefined) throw new Error('a number was drawn but its event was not announced');
    return announced > 0;
  };
  return { transaction, finish };
}

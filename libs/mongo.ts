// The connection to MongoDB, and transactions that retry what MongoDB asks to be retried.
import { setTimeout as pause } from 'node:timers/promises';
import mongoose, { type ClientSession } from 'mongoose';
import { learnTime } from './clock.ts';
import { unavailable } from './errors.ts';
import type { Logger } from './logger.ts';

export type Session = ClientSession;

/** How long a request waits for a primary before it is told that the store is away. */
const SERVER_SELECTION_MS = 5_000;
const TRANSACTION_LIMIT_MS = 5_000;
/** Nobody computes between two statements of a transaction for so long: its process has died, or is stopped. */
const ABANDONED_MS = 1_500;
const BACKOFF_MIN_MS = 5;
const BACKOFF_MAX_MS = 50;

/** @returns what closes the connection. @throws when no primary answers within 5 s. */
export async function connectMongo(
  uri: string,
  options: { log: Logger; poolSize?: number },
): Promise<() => Promise<void>> {
  mongoose.set({ strictQuery: 'throw', bufferCommands: false, autoIndex: false, autoCreate: false });
  await mongoose.connect(uri, {
    appName: appNameOf(uri),
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    maxPoolSize: options.poolSize ?? 50,
    retryWrites: true,
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
  });
  await followClock();
  const tellAway = () => options.log.warn('mongodb is away');
  mongoose.connection.on('disconnected', tellAway);
  mongoose.connection.on('reconnected', () => options.log.info('mongodb is back'));
  return async () => {
    mongoose.connection.off('disconnected', tellAway); // It is we who go.
    await mongoose.disconnect();
  };
}

/** Every member of the set says what time it is whenever the driver asks whether it is well: every ten seconds, and once by us. */
async function followClock(): Promise<void> {
  const { db } = mongoose.connection;
  mongoose.connection.getClient().on('serverHeartbeatSucceeded', ({ reply }) => noteTime(reply));
  noteTime((await db?.command({ hello: 1 }).catch(() => undefined)) ?? {});
}

function noteTime({ me, localTime }: mongoose.mongo.BSON.Document): void {
  if (localTime instanceof Date) learnTime(`mongodb ${String(me)}`, localTime.getTime());
}

/** Rejects when MongoDB does not answer: for readiness. */
export async function pingMongo(): Promise<void> {
  if (!mongoose.connection.db) throw new Error('not connected');
  await mongoose.connection.db.command({ ping: 1 }, { timeoutMS: 1_500 });
}

/**
 * Runs `work` in a transaction, again and again while MongoDB reports a transient conflict, at most 5 s.
 * `work` may run several times: it must do nothing but database calls with the session, one after the other.
 * @throws AppError 503 when the conflict does not go away or the outcome of the commit stays unknown.
 */
export async function inTransaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
  const until = performance.now() + TRANSACTION_LIMIT_MS;
  let looksAgainAt = performance.now() + ABANDONED_MS;
  const session = mongoose.connection.getClient().startSession();
  try {
    for (;;) {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } });
      try {
        const result = await work(session);
        await commit(session, until);
        return result;
      } catch (error) {
        if (session.inTransaction()) await session.abortTransaction().catch(() => undefined); // The server ends it by itself.
        if (!hasLabel(error, 'TransientTransactionError') && !isInterrupted(error) && !isCutOff(error)) throw error;
        if (performance.now() >= until) throw unavailable('The record is busy, please try again', 1, error);
        if (performance.now() >= looksAgainAt) {
          await endAbandoned().catch(() => undefined); // The server ends them by itself, only much later.
          looksAgainAt = performance.now() + ABANDONED_MS / 3;
        }
        await pause(BACKOFF_MIN_MS + Math.random() * (BACKOFF_MAX_MS - BACKOFF_MIN_MS));
      }
    }
  } finally {
    await session.endSession();
  }
}

/**
 * Ends transactions of this database whose process has gone. MongoDB keeps them open for a minute, and until then every write that
 * meets what they wrote (an account's numbers) is refused. One that was only slow is told to start again, as after any conflict.
 */
async function endAbandoned(): Promise<void> {
  const client = mongoose.connection.getClient();
  const { appName } = client.options;
  const admin = client.db('admin');
  const abandoned = await admin
    .aggregate<{ lsid: { id: unknown } }>(
      [
        { $currentOp: { allUsers: false, idleSessions: true } },
        { $match: { appName, 'transaction.timeInactiveMicros': { $gte: ABANDONED_MS * 1000 } } },
      ],
      { readConcern: { level: 'local' } }, // It takes no other.
    )
    .toArray();
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ lsid }) => ({ id: lsid.id })) });
}

/** Tells the sessions of this database from those of others on the same server. */
function appNameOf(uri: string): string {
  return `billhook/${/^\w[\w+]*:\/\/[^/]*\/([^?]*)/.exec(uri)?.[1] ?? ''}`;
}

async function commit(session: Session, until: number) {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      if (performance.now() >= until)
        throw unavailable('It is not known whether the change was stored, please check', 1, error);
      await pause(BACKOFF_MIN_MS);
    }
  }
}

// The driver's label is missing when the connection was given up while the answer was on its way, and when no primary was found
// for the second try. A caller who is told that nothing was stored must be able to rely on it.
function isOutcomeUnknown(error: unknown): boolean {
  if (hasLabel(error, 'TransientTransactionError')) return false; // The server's word that it was not committed.
  // The socket's own error, or the driver's own when it takes that for one of its: neither is an answer.
  if (!(error instanceof mongoose.mongo.MongoError)) return true;
  return (
    hasLabel(error, 'UnknownTransactionCommitResult') ||
    isStoreAway(error) ||
    isInterrupted(error) ||
    isUnconfirmed(error)
  );
}

/** "There is no such transaction", said without the label: a majority has not confirmed that it was not committed. Asked again, it will. */
function isUnconfirmed(error: unknown): boolean {
  return hasCode(error, NO_SUCH_TRANSACTION);
}

const NO_SUCH_TRANSACTION = 251;

/** Somebody ended its session, see endAbandoned. */
function isInterrupted(error: unknown): boolean {
  return hasCode(error, INTERRUPTED);
}

const INTERRUPTED = 11_601;

/** When a connection breaks while the driver waits until it may write on, it throws the socket's own error, without class and labels. */
function isCutOff(error: unknown): boolean {
  const { code = '', syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return (syscall === 'write' || syscall === 'read') && CUT_OFF_CODES.has(code);
}

const CUT_OFF_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT']);

/** Servers that are stopping, stepping down or cannot reach the others: the driver tries a read once more, and then says so. */
const AWAY_CODES: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

/** True for the errors that mean "the store is away", not "the request is wrong". */
export function isStoreAway(error: unknown): boolean {
  return (
    error instanceof mongoose.mongo.MongoServerSelectionError ||
    error instanceof mongoose.mongo.MongoNetworkError ||
    error instanceof mongoose.mongo.MongoNotConnectedError ||
    error instanceof mongoose.mongo.MongoTopologyClosedError ||
    error instanceof mongoose.mongo.MongoOperationTimeoutError ||
    error instanceof mongoose.Error.MongooseServerSelectionError ||
    (error instanceof mongoose.mongo.MongoServerError && AWAY_CODES.has(error.code)) ||
    isCutOff(error) ||
    hasLabel(error, 'RetryableWriteError')
  );
}

/** True when MongoDB did not get done within the `maxTimeMS` that it was given. */
export function isOutOfTime(error: unknown): boolean {
  return hasCode(error, OUT_OF_TIME);
}

const OUT_OF_TIME = 50;

/** True when a unique index refused the write. */
export function isDuplicate(error: unknown): boolean {
  return hasCode(error, DUPLICATE);
}

const DUPLICATE = 11_000;

/** @returns the positions of the writes a unique index refused, undefined when anything else went wrong with an unordered bulk. */
export function duplicatesIn(error: unknown): Set<number> | undefined {
  if (!(error instanceof mongoose.mongo.MongoBulkWriteError)) return undefined;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0 || error.result.getWriteConcernError()) return undefined;
  return errors.every(({ code }) => code === DUPLICATE) ? new Set(errors.map(({ index }) => index)) : undefined;
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === code;
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongoose.mongo.MongoError && error.hasErrorLabel(label);
}

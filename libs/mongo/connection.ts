// The connection to MongoDB, and transactions that retry transient conflicts.
import { setTimeout as pause } from 'node:timers/promises';
import mongoose, { type ClientSession } from 'mongoose';
import { learnTime } from '../clock.ts';
import { appError, retryAfter } from '../errors.ts';
import type { Logger } from '../service/logger.ts';
import { repairConnections } from './driver-connections.ts';
import { isOutcomeUnknown, isTransient } from './errors.ts';
import { followPrimary } from './read-after-election.ts';

export type Session = ClientSession;

/** The time that a request waits for a primary before it fails with 503. */
const SERVER_SELECTION_MS = 5_000;
/**
 * The time that one attempt to connect may take. A packet to a pod or node that has just gone is lost without an
 * answer, and the driver's default of 30 s would leave a service unready that long after MongoDB is back.
 */
const CONNECT_TIMEOUT_MS = 2_000;
/** The time for which a transaction is tried again, and its commit as well. */
const TRANSACTION_LIMIT_MS = 5_000;
/**
 * The time between two statements after which a transaction counts as abandoned: its process has died or is stopped.
 */
const ABANDONED_MS = 1_500;
const BACKOFF_MIN_MS = 5;
const BACKOFF_MAX_MS = 50;

/** Connects to MongoDB. @returns a function that closes the connection. @throws when no primary answers within 5 s. */
export async function connectMongo(
  uri: string,
  options: { log: Logger; poolSize?: number },
): Promise<() => Promise<void>> {
  mongoose.set({ strictQuery: 'throw', bufferCommands: false, autoIndex: false, autoCreate: false });
  repairConnections();
  await mongoose.connect(uri, {
    appName: appNameOf(uri),
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    maxPoolSize: options.poolSize ?? 50,
    retryWrites: true,
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
  });
  await followClock();
  const leavePrimary = followPrimary(mongoose.connection.getClient(), options.log);
  const logUnavailable = () => options.log.warn('mongodb is unavailable');
  mongoose.connection.on('disconnected', logUnavailable);
  const logAvailable = () => options.log.info('mongodb is available');
  mongoose.connection.on('reconnected', logAvailable);
  return async () => {
    leavePrimary();
    mongoose.connection.off('disconnected', logUnavailable); // A deliberate disconnect is no outage.
    mongoose.connection.off('reconnected', logAvailable);
    await mongoose.disconnect();
  };
}

/**
 * Learns the server's time from every heartbeat of a replica set member (every ten seconds) and from one `hello` at the
 * start.
 */
async function followClock(): Promise<void> {
  const { db } = mongoose.connection;
  mongoose.connection.getClient().on('serverHeartbeatSucceeded', ({ reply }) => recordTime(reply));
  recordTime((await db?.command({ hello: 1 }).catch(() => undefined)) ?? {});
}

function recordTime({ me, localTime }: mongoose.mongo.BSON.Document): void {
  if (localTime instanceof Date) learnTime(`mongodb ${String(me)}`, localTime.getTime());
}

/** Rejects when MongoDB does not answer. Readiness checks use it. */
export async function pingMongo(): Promise<void> {
  if (!mongoose.connection.db) throw new Error('not connected');
  await mongoose.connection.db.command({ ping: 1 }, { timeoutMS: 1_500 });
}

/**
 * Runs `work` in a transaction and retries it for up to 5 s while MongoDB reports a transient conflict. `work` may run
 * several times. It must do nothing but database calls with the session, one after the other.
 * @throws AppError 503 when the conflict persists or the outcome of the commit stays unknown.
 */
export async function inTransaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
  const until = performance.now() + TRANSACTION_LIMIT_MS;
  let nextCheckAt = performance.now() + ABANDONED_MS;
  let seen: Activity = new Map();
  const session = mongoose.connection.getClient().startSession();
  try {
    for (;;) {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } });
      try {
        const result = await work(session);
        await commit(session, until);
        return result;
      } catch (error) {
        if (session.inTransaction()) await session.abortTransaction().catch(() => undefined); // If the abort is lost, the server ends the transaction.
        if (!isTransient(error)) throw error;
        if (performance.now() >= until)
          throw appError('record_busy', undefined, { headers: retryAfter(1), cause: error });
        if (performance.now() >= nextCheckAt) {
          // The server aborts abandoned transactions itself, but only after a minute.
          seen = await endAbandoned(seen).catch(() => seen);
          nextCheckAt = performance.now() + ABANDONED_MS / 3;
        }
        await pause(BACKOFF_MIN_MS + Math.random() * (BACKOFF_MAX_MS - BACKOFF_MIN_MS));
      }
    }
  } finally {
    await session.endSession();
  }
}

/** The active time of each open transaction in microseconds, by session id. */
type Activity = ReadonlyMap<string, number>;

/**
 * Aborts transactions of this database whose process has died. Otherwise MongoDB keeps them open for a minute and
 * rejects every write that conflicts with theirs. A transaction that was only slow retries, as after any conflict.
 * @param seen activity at the previous check. MongoDB sums all pauses of a transaction, so only one whose active time
 * did not change since then counts as abandoned.
 * @returns activity at this check.
 */
async function endAbandoned(seen: Activity): Promise<Activity> {
  const client = mongoose.connection.getClient();
  const { appName } = client.options;
  const admin = client.db('admin');
  const idle = await admin
    .aggregate<{ lsid: { id: unknown }; transaction: { timeActiveMicros: unknown } }>(
      [
        { $currentOp: { allUsers: false, idleSessions: true } },
        { $match: { appName, 'transaction.timeInactiveMicros': { $gte: ABANDONED_MS * 1000 } } },
      ],
      { readConcern: { level: 'local' } }, // $currentOp accepts no other level.
    )
    .toArray();
  const now = idle.map(({ lsid, transaction }) => ({
    id: lsid.id,
    activeMicros: Number(transaction.timeActiveMicros),
  }));
  const abandoned = now.filter(({ id, activeMicros }) => seen.get(String(id)) === activeMicros);
  if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ id }) => ({ id })) });
  return new Map(now.map(({ id, activeMicros }) => [String(id), activeMicros]));
}

/**
 * Returns an application name that sets the sessions of this database apart from those of other programs on the same
 * server.
 */
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
        throw appError('change_unknown', undefined, { headers: retryAfter(1), cause: error });
      await pause(BACKOFF_MIN_MS);
    }
  }
}

// The connection to MongoDB, and transactions that retry what MongoDB asks to be retried.
import { setTimeout as pause } from 'node:timers/promises';
import mongoose, { type ClientSession } from 'mongoose';
import { learnTime } from '../clock.ts';
import { unavailable } from '../errors.ts';
import type { Logger } from '../service/logger.ts';
import { repairConnections } from './driver-connections.ts';
import { forgetEnded } from './driver-sessions.ts';
import { isOutcomeUnknown, isTransient } from './errors.ts';
import { followPrimary } from './read-after-election.ts';

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
  repairConnections();
  await mongoose.connect(uri, {
    appName: appNameOf(uri),
    serverSelectionTimeoutMS: SERVER_SELECTION_MS,
    maxPoolSize: options.poolSize ?? 50,
    retryWrites: true,
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
  });
  forgetEnded(mongoose.connection.getClient());
  await followClock();
  const leavePrimary = followPrimary(mongoose.connection.getClient(), options.log);
  const tellAway = () => options.log.warn('mongodb is unavailable');
  mongoose.connection.on('disconnected', tellAway);
  const tellBack = () => options.log.info('mongodb is available');
  mongoose.connection.on('reconnected', tellBack);
  return async () => {
    leavePrimary();
    mongoose.connection.off('disconnected', tellAway); // It is we who go.
    mongoose.connection.off('reconnected', tellBack);
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
        if (session.inTransaction()) await session.abortTransaction().catch(() => undefined); // The server ends it by itself.
        if (!isTransient(error)) throw error;
        if (performance.now() >= until) throw unavailable('The record is busy, please try again', 1, error);
        if (performance.now() >= looksAgainAt) {
          // The server ends them by itself, only much later.
          seen = await endAbandoned(seen).catch(() => seen);
          looksAgainAt = performance.now() + ABANDONED_MS / 3;
        }
        await pause(BACKOFF_MIN_MS + Math.random() * (BACKOFF_MAX_MS - BACKOFF_MIN_MS));
      }
    }
  } finally {
    await session.endSession();
  }
}

/** Microseconds that transactions have worked so far, by their sessions. */
type Activity = ReadonlyMap<string, number>;

/**
 * Ends transactions of this database whose process has gone. MongoDB keeps them open for a minute, and until then every write that
 * meets what they wrote (an account's numbers) is refused. One that was only slow is told to start again, as after any conflict.
 * @param seen what was found at the last look: MongoDB adds up all pauses of a transaction, and one of many statements has many. Only who
 * did nothing since then has gone.
 * @returns what was found now.
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
      { readConcern: { level: 'local' } }, // It takes no other.
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

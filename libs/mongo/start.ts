// Connects a service to MongoDB at start. It waits while MongoDB is unavailable, and reports a configuration that
// waiting cannot repair.
import { setTimeout as pause } from 'node:timers/promises';
import mongoose from 'mongoose';
import { ConfigError } from '../service/config-error.ts';
import type { Logger } from '../service/logger.ts';
import { connectMongo } from './connection.ts';
import { isUnavailable } from './errors.ts';

/** The pause between two tries. Each try waits up to 5 s for a server and notices a new one within half a second. */
const RETRY_MS = 200;

export interface MongoStart {
  /**
   * Resolves once MongoDB answers and is prepared, however long that takes. Rejects with a ConfigError when MONGODB_URI
   * is unusable or MongoDB rejects its credentials.
   */
  ready: Promise<void>;
  /** Ends the wait or the connection. */
  close(): Promise<void>;
}

/** Starts to connect. @param prepare runs before the service uses the database. It must be idempotent. */
export function startMongo(uri: string, options: { log: Logger; prepare?: () => Promise<void> }): MongoStart {
  const { log, prepare = async () => undefined } = options;
  let disconnect: (() => Promise<void>) | undefined;
  let hasWaited = false;
  let isClosing = false;

  async function untilAvailable<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        // The process is closing. Callers must not continue with a connection that is about to end.
        if (isClosing) return new Promise(() => undefined);
        const problem = configProblemOf(error);
        if (problem) throw new ConfigError([`MONGODB_URI: ${problem}`]);
        if (!isUnavailable(error) && !isNameLookup(error)) throw error;
        if (!hasWaited) log.warn({ err: error }, 'mongodb is unavailable: the service waits for it');
        hasWaited = true;
      }
      await pause(RETRY_MS);
    }
  }

  async function start() {
    disconnect = await untilAvailable(async () => connectMongo(uri, { log }));
    await untilAvailable(async () => {
      await requireCredentials();
      await prepare();
    });
    if (hasWaited) log.info('mongodb is available');
  }

  const ready = start();
  ready.catch(() => undefined); // The service may fail for another reason before it awaits this.
  return {
    ready,
    async close() {
      isClosing = true;
      await (disconnect ?? (() => mongoose.disconnect()))();
    },
  };
}

/** A server that requires credentials accepts a connection without any and rejects the first command that reads. */
async function requireCredentials(): Promise<void> {
  await mongoose.connection.db?.command({ listCollections: 1, nameOnly: true, authorizedCollections: true });
}

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
/** Atlas's code for the same. */
const ATLAS_ERROR = 8_000;
const REJECTED_CODES: ReadonlySet<unknown> = new Set([UNAUTHORIZED, AUTHENTICATION_FAILED, ATLAS_ERROR]);

/** Returns the problem with the URI, without its secrets. Undefined for every other error. */
function configProblemOf(error: unknown): string | undefined {
  const { mongo } = mongoose;
  if (error instanceof mongo.MongoServerError && REJECTED_CODES.has(error.code))
    return `MongoDB rejects its user name or password (${error.codeName ?? error.code})`;
  if (
    error instanceof mongo.MongoParseError ||
    error instanceof mongo.MongoInvalidArgumentError ||
    error instanceof mongo.MongoMissingCredentialsError
  )
    return error.message;
  // The URI names a certificate file.
  const { syscall, path, code } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === 'open' ? `${path} cannot be read (${code})` : undefined;
}

/** True for a failed name lookup of mongodb+srv. The name may be published later than the service starts. */
function isNameLookup(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException | undefined)?.syscall).startsWith('query');
}

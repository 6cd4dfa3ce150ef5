// Finds the database the commands work on: the one named, or that of the system running here.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';

const REDIS_LIMIT_MS = 5_000;

/** What a command cannot do, said in one line; the process exits with 1. */
export class CommandError extends Error {}

export interface Target {
  /** MONGODB_URI, when it is set. */
  mongodbUri: string | undefined;
  /** REDIS_URL, when it is set. */
  redisUrl: string | undefined;
  redisPrefix: string;
  /** The data folder of `npm start`. */
  dataFolder: string;
}

export interface Addresses {
  mongodbUri: string | undefined;
  redisUrl: string | undefined;
  redisPrefix: string;
  /** Of the system that runs here with `npm start`; absent when another one was named. */
  local?: LocalFacts;
}

/** What `npm start` has written down of itself in local.json. */
export interface LocalFacts {
  /** Health ports of all processes, by their names. */
  healthUrls?: Record<string, string>;
  outboundAllow?: string;
  /** Of the key that seals secrets, see secret-box.ts. */
  secretKeyId?: string;
}

/** Connects, runs `work`, disconnects. @throws CommandError when there is no database to talk to. */
export async function withDatabase<Result>(target: Target, work: () => Promise<Result>): Promise<Result> {
  const uri = (await findAddresses(target)).mongodbUri ?? nothingRuns(target);
  const disconnect = await connectMongo(uri, { log: makeLogger('admin', 'silent'), poolSize: 2 }).catch((error) => {
    throw new CommandError(`MongoDB does not answer: ${error instanceof Error ? error.message : String(error)}`);
  });
  try {
    // The very first command may come before the first gateway.
    await ensureIndexes();
    return await work();
  } finally {
    await disconnect();
  }
}

/** Connects to both stores, runs `work`, disconnects. @throws CommandError when one of them is not there. */
export async function withQueues<Result>(target: Target, work: (queues: Queues) => Promise<Result>): Promise<Result> {
  const addresses = await findAddresses(target);
  const redisUrl = addresses.redisUrl ?? nothingRuns(target);
  return withDatabase(target, async () => {
    const queues = openQueues({ redisUrl, prefix: addresses.redisPrefix, log: makeLogger('admin', 'silent') });
    try {
      await whenReady(queues.redis, REDIS_LIMIT_MS).catch((error) => {
        throw new CommandError(`Redis does not answer: ${error instanceof Error ? error.message : String(error)}`);
      });
      return await work(queues);
    } finally {
      await queues.close();
    }
  });
}

/** What was named, else what the system running here has written down: never a database of one and the queues of another. */
export async function findAddresses(target: Target): Promise<Addresses> {
  const { mongodbUri, redisUrl, redisPrefix } = target;
  if (mongodbUri || redisUrl) return { mongodbUri, redisUrl, redisPrefix };
  const facts = await localFacts(target.dataFolder);
  return {
    mongodbUri: facts.mongodbUri,
    redisUrl: facts.redisUrl,
    redisPrefix: facts.redisPrefix ?? redisPrefix,
    local: facts,
  };
}

type WrittenFacts = LocalFacts & { mongodbUri?: string; redisUrl?: string; redisPrefix?: string };

async function localFacts(dataFolder: string): Promise<WrittenFacts> {
  try {
    return JSON.parse(await readFile(join(dataFolder, 'local.json'), 'utf8')) as WrittenFacts; // Ours: see deploy/local.
  } catch {
    // Not there or half written: nothingRuns says what to do in either case.
    return {};
  }
}

function nothingRuns({ mongodbUri, redisUrl, dataFolder }: Target): never {
  if (redisUrl)
    throw new CommandError('REDIS_URL is set and MONGODB_URI is not: the command needs both, of one system.');
  if (mongodbUri)
    throw new CommandError('MONGODB_URI is set and REDIS_URL is not: the command needs both, of one system.');
  throw new CommandError(
    `No running system found in ${dataFolder}. Start one with "npm start", name its folder with --data, or set MONGODB_URI and REDIS_URL.`,
  );
}

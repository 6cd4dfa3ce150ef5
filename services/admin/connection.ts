// Finds the stores for a command: those that the environment names, or those of the system that runs here.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '#libs/errors.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { isUnanswered as isMongoUnanswered } from '#libs/mongo/errors.ts';
import { makeLogger } from '#libs/service/logger.ts';

/** The error of a failed command, in one line. The process exits with 1. */
export class CommandError extends Error {}

export interface Target {
  /** The value of MONGODB_URI, when it is set. */
  mongodbUri: string | undefined;
  /** The value of REDIS_URL, when it is set. */
  redisUrl: string | undefined;
  redisPrefix: string;
  /** The data folder of `npm start`. */
  dataFolder: string;
}

export interface Addresses {
  mongodbUri: string | undefined;
  redisUrl: string | undefined;
  redisPrefix: string;
  /** Facts about the system that runs here with `npm start`. Absent when the environment names another one. */
  local?: LocalFacts;
}

/** The facts that `npm start` writes to local.json. */
interface LocalFacts {
  /** The health ports of all processes, by name. */
  healthUrls?: Record<string, string>;
  outboundAllow?: string;
  /** The id of the key that seals secrets, see secret-box.ts. */
  secretKeyId?: string;
}

/** Connects, runs `work`, disconnects. @throws CommandError when the database does not answer, or stops answering. */
export async function withDatabase<Result>(target: Target, work: () => Promise<Result>): Promise<Result> {
  const uri = (await findAddresses(target)).mongodbUri ?? nothingRuns(target);
  const disconnect = await connectMongo(uri, { log: makeLogger('admin', 'silent'), poolSize: 2 }).catch((error) => {
    throw new CommandError(`MongoDB does not answer: ${errorText(error)}`);
  });
  try {
    // The first command may run before the first gateway.
    await ensureIndexes();
    return await work();
  } catch (error) {
    throw isMongoUnanswered(error) ? stoppedAnswering('MongoDB', error) : error;
  } finally {
    await disconnect();
  }
}

/** Returns the error of a command that a lost store has ended. */
export function stoppedAnswering(store: string, error: unknown): CommandError {
  return new CommandError(
    `${store} stopped answering: ${errorText(error)}. The command may have done a part; look before you repeat it.`,
  );
}

/** Returns the stores of the environment, else those of the system that runs here. It never mixes two systems. */
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
    return JSON.parse(await readFile(join(dataFolder, 'local.json'), 'utf8')) as WrittenFacts; // deploy/local wrote the file.
  } catch {
    // The file is absent or incomplete. nothingRuns explains the next step.
    return {};
  }
}

export function nothingRuns({ mongodbUri, redisUrl, dataFolder }: Target): never {
  if (redisUrl)
    throw new CommandError('REDIS_URL is set and MONGODB_URI is not: the command needs both, of one system.');
  if (mongodbUri)
    throw new CommandError('MONGODB_URI is set and REDIS_URL is not: the command needs both, of one system.');
  throw new CommandError(
    `No running system found in ${dataFolder}. Start one with "npm start", name its folder with --data, or set MONGODB_URI and REDIS_URL.`,
  );
}

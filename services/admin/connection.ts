// Finds the database the commands work on: the one named, or that of the system running here.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeLogger } from '#libs/logger.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { connectMongo } from '#libs/mongo.ts';

/** What a command cannot do, said in one line; the process exits with 1. */
export class CommandError extends Error {}

export interface Target {
  /** MONGODB_URI, when it is set. */
  mongodbUri: string | undefined;
  /** The data folder of `npm start`. */
  dataFolder: string;
}

/** Connects, runs `work`, disconnects. @throws CommandError when there is no database to talk to. */
export async function withDatabase<Result>(target: Target, work: () => Promise<Result>): Promise<Result> {
  const uri = target.mongodbUri ?? (await uriOfRunningSystem(target.dataFolder));
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

async function uriOfRunningSystem(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'local.json');
  try {
    const { mongodbUri } = JSON.parse(await readFile(path, 'utf8')) as { mongodbUri?: unknown };
    if (typeof mongodbUri === 'string') return mongodbUri;
  } catch {
    // Not there or half written: the message below says what to do in either case.
  }
  throw new CommandError(
    `No running system found in ${dataFolder}. Start one with "npm start", name its folder with --data, or set MONGODB_URI.`,
  );
}

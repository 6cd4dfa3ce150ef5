// The real MongoDB, Redis and Chromium a test run works on: given, found or fetched.
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { findChromium } from '../../deploy/backends/chromium.ts';
import { findMongodb } from '../../deploy/backends/mongodb.ts';
import { showProgress } from '../../deploy/backends/progress.ts';
import { findRedis } from '../../deploy/backends/redis.ts';
import { startMongodb } from '../../deploy/backends/start-mongodb.ts';
import { startRedis } from '../../deploy/backends/start-redis.ts';
import { openGuardedFolder } from './guarded-folder.ts';

export interface Backends {
  mongodbUri: string;
  redisUrl: string;
  chromiumPath: string;
  /** For people: what each of them is. */
  description: string;
  stop(): Promise<void>;
}

type Part = { url: string; description: string; stop(): Promise<unknown> };

// The downloads of the first run take a while, and a silent test runner looks stuck.
const progress = showProgress(process.stderr);

export interface BackendsOptions {
  /** Where the folder of the stores is made, the temporary folder unless said. */
  root?: string;
  /** The prefix of the run's databases. They are removed from a MongoDB that outlives the run. */
  databases?: string;
}

/** @param given MONGODB_URI, REDIS_URL, CHROMIUM_PATH are taken as given. */
export async function startBackends(given: NodeJS.ProcessEnv, options: BackendsOptions = {}): Promise<Backends> {
  const folder = await openGuardedFolder('test', options.root);
  const env: NodeJS.ProcessEnv = { ...given, ...folder.markedAs('test') };
  const parts: Part[] = [];
  const stop = async () => {
    for (const part of parts.toReversed()) await part.stop();
    await folder.close();
  };
  try {
    const mongodb = await localMongodb(env, join(folder.path, 'mongodb'), options.databases);
    parts.push(mongodb);
    const redis = await localRedis(env, join(folder.path, 'redis'));
    parts.push(redis);
    const chromium = await findChromium({ env, progress });
    return {
      mongodbUri: mongodb.url,
      redisUrl: redis.url,
      chromiumPath: chromium.command,
      description: `${mongodb.description}; ${redis.description}; Chromium ${chromium.version} (${chromium.source})`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function localMongodb(env: NodeJS.ProcessEnv, folder: string, databases?: string): Promise<Part> {
  const given = env['MONGODB_URI'];
  if (given)
    return { url: given, description: 'MongoDB from MONGODB_URI', stop: () => dropDatabases(given, databases) };
  const { command, version, source } = await findMongodb({ env, progress });
  // Test commands let a test order failures from the server.
  const running = await startMongodb({ command, folder, env, testCommands: true });
  return { url: running.uri, description: `MongoDB ${version} (${source})`, stop: () => running.stop() };
}

async function dropDatabases(url: string, start?: string): Promise<void> {
  if (!start) return;
  const client = await new MongoClient(url).connect();
  try {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    const ours = databases.filter(({ name }) => name.startsWith(start));
    for (const { name } of ours) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}

async function localRedis(env: NodeJS.ProcessEnv, folder: string): Promise<Part> {
  const given = env['REDIS_URL'];
  if (given) return { url: given, description: 'Redis from REDIS_URL', stop: async () => undefined };
  const { command, version, source } = await findRedis({ env, progress });
  const running = await startRedis({ command, folder, env });
  return { url: running.url, description: `Redis ${version} (${source})`, stop: () => running.stop() };
}

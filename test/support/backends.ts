// The real MongoDB, Redis and Chromium a test run works on: given, found or fetched, or in containers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../../deploy/local/chromium.ts';
import { postGuardian } from '../../deploy/local/guardian.ts';
import { findMongodb } from '../../deploy/local/mongodb.ts';
import { MARK, markOf } from '../../deploy/local/orphans.ts';
import { showProgress } from '../../deploy/local/progress.ts';
import { findRedis } from '../../deploy/local/redis.ts';
import { startMongodb } from '../../deploy/local/start-mongodb.ts';
import { startRedis } from '../../deploy/local/start-redis.ts';

export interface Backends {
  mongodbUri: string;
  redisUrl: string;
  chromiumPath: string;
  /** For people: what each of them is. */
  description: string;
  stop(): Promise<void>;
}

type Part = { url: string; description: string; stop(): Promise<unknown> };

// What is fetched on the first run takes a while; a silent test runner looks stuck.
const progress = showProgress(process.stderr);

const MONGODB_IMAGE = 'mongo:7';
const REDIS_IMAGE = 'redis:7-alpine';

/** @param env MONGODB_URI, REDIS_URL, CHROMIUM_PATH are taken as given; TEST_BACKENDS=containers starts the two in Docker. */
export async function startBackends(given: NodeJS.ProcessEnv): Promise<Backends> {
  const folder = await mkdtemp(join(tmpdir(), 'billhook-test-'));
  // A run that is killed must not leave a database behind: the guardian ends what carries the mark.
  const guardian = postGuardian(folder);
  const env: NodeJS.ProcessEnv = { ...given, [MARK]: markOf(folder, 'test') };
  const inContainers = env['TEST_BACKENDS'] === 'containers';
  const parts: Part[] = [];
  const stop = async () => {
    for (const part of parts.toReversed()) await part.stop();
    guardian.dismiss();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const mongodb = await (inContainers ? mongodbContainer(env) : localMongodb(env, join(folder, 'mongodb')));
    parts.push(mongodb);
    const redis = await (inContainers ? redisContainer(env) : localRedis(env, join(folder, 'redis')));
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

async function localMongodb(env: NodeJS.ProcessEnv, folder: string): Promise<Part> {
  const given = env['MONGODB_URI'];
  if (given) return { url: given, description: 'MongoDB from MONGODB_URI', stop: async () => undefined };
  const { command, version, source } = await findMongodb({ env, progress });
  // Test commands let a test order failures from the server.
  const running = await startMongodb({ command, folder, env, testCommands: true });
  return { url: running.uri, description: `MongoDB ${version} (${source})`, stop: () => running.stop() };
}

async function localRedis(env: NodeJS.ProcessEnv, folder: string): Promise<Part> {
  const given = env['REDIS_URL'];
  if (given) return { url: given, description: 'Redis from REDIS_URL', stop: async () => undefined };
  const { command, version, source } = await findRedis({ env, progress });
  const running = await startRedis({ command, folder, env });
  return { url: running.url, description: `Redis ${version} (${source})`, stop: () => running.stop() };
}

// Imported only here: without a Docker engine the package has nothing to do.
async function mongodbContainer(env: NodeJS.ProcessEnv): Promise<Part> {
  const { MongoDBContainer } = await import('@testcontainers/mongodb');
  const image = env['TEST_MONGODB_IMAGE'] ?? MONGODB_IMAGE;
  const container = await new MongoDBContainer(image).start();
  // The set's member has the container's own name, which is not known outside.
  const url = `${container.getConnectionString()}/?directConnection=true`;
  return { url, description: `MongoDB container ${image}`, stop: () => container.stop() };
}

async function redisContainer(env: NodeJS.ProcessEnv): Promise<Part> {
  const { RedisContainer } = await import('@testcontainers/redis');
  const image = env['TEST_REDIS_IMAGE'] ?? REDIS_IMAGE;
  const container = await new RedisContainer(image).start();
  return { url: container.getConnectionUrl(), description: `Redis container ${image}`, stop: () => container.stop() };
}

// The real MongoDB, Redis and Chromium a test run works on: given, found or fetched, or in containers.
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { findChromium } from '../../deploy/backends/chromium.ts';
import { findMongodb } from '../../deploy/backends/mongodb.ts';
import { showProgress } from '../../deploy/backends/progress.ts';
import { findRedis } from '../../deploy/backends/redis.ts';
import { startMongodb } from '../../deploy/backends/start-mongodb.ts';
import { startRedis } from '../../deploy/backends/start-redis.ts';
import { eventually } from './eventually.ts';
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

// What is fetched on the first run takes a while; a silent test runner looks stuck.
const progress = showProgress(process.stderr);

const MONGODB_IMAGE = 'mongo:7';
const REDIS_IMAGE = 'redis:7-alpine';
const MONGODB_PORT = 27_017;
const REDIS_PORT = 6_379;

export interface BackendsOptions {
  /** Where the folder of the stores is made, the temporary folder unless said. */
  root?: string;
  /** What the names of the run's databases start with: they are removed from a MongoDB that stays. */
  databases?: string;
}

/** @param given MONGODB_URI, REDIS_URL, CHROMIUM_PATH are taken as given; TEST_BACKENDS=containers starts the two in Docker. */
export async function startBackends(given: NodeJS.ProcessEnv, options: BackendsOptions = {}): Promise<Backends> {
  const folder = await openGuardedFolder('test', options.root);
  const env: NodeJS.ProcessEnv = { ...given, ...folder.markedAs('test') };
  const inContainers = env['TEST_BACKENDS'] === 'containers';
  const parts: Part[] = [];
  const stop = async () => {
    for (const part of parts.toReversed()) await part.stop();
    await folder.close();
  };
  try {
    const mongodb = await (inContainers
      ? mongodbContainer(env)
      : localMongodb(env, join(folder.path, 'mongodb'), options.databases));
    parts.push(mongodb);
    const redis = await (inContainers ? redisContainer(env) : localRedis(env, join(folder.path, 'redis')));
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

// Imported only here: without a Docker engine the package has nothing to do.
async function mongodbContainer(env: NodeJS.ProcessEnv): Promise<Part> {
  const { GenericContainer } = await import('testcontainers');
  const image = env['TEST_MONGODB_IMAGE'] ?? MONGODB_IMAGE;
  const container = await new GenericContainer(image)
    .withCommand(['mongod', '--replSet', 'rs0', '--bind_ip_all', '--setParameter', 'enableTestCommands=1'])
    .withExposedPorts(MONGODB_PORT)
    .start();
  // The set's member has an address of its own inside the container, which is not known outside.
  const address = `${container.getHost()}:${container.getMappedPort(MONGODB_PORT)}`;
  const url = `mongodb://${address}/billhook?directConnection=true`;
  await becomePrimary(url);
  return { url, description: `MongoDB container ${image}`, stop: () => container.stop() };
}

async function redisContainer(env: NodeJS.ProcessEnv): Promise<Part> {
  const { GenericContainer } = await import('testcontainers');
  const image = env['TEST_REDIS_IMAGE'] ?? REDIS_IMAGE;
  const container = await new GenericContainer(image)
    .withCommand(['redis-server', '--protected-mode', 'no', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction'])
    .withExposedPorts(REDIS_PORT)
    .start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(REDIS_PORT)}`;
  return { url, description: `Redis container ${image}`, stop: () => container.stop() };
}

/** Any image with a mongod will do: the set is made from here, not by a shell inside. */
async function becomePrimary(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 });
  try {
    const admin = client.db('admin');
    await eventually(async () => {
      await client.connect(); // A client that finds no server at first never looks again.
      const hello = await admin.command({ hello: 1 });
      if (!hello['setName']) {
        const members = [{ _id: 0, host: `127.0.0.1:${MONGODB_PORT}` }];
        // Refused when an earlier try has been heard after all.
        await admin.command({ replSetInitiate: { _id: 'rs0', members } }).catch(() => undefined);
      }
      return hello['isWritablePrimary'] === true;
    }, 60_000);
  } finally {
    await client.close();
  }
}

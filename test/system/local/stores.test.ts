// The MongoDB and the Redis we start: real, durable, and gone when they are stopped.
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { openRedis, type Redis } from '#libs/redis/connection.ts';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { type RunningMongodb, startMongodb } from '../../../deploy/backends/start-mongodb.ts';
import { type RunningRedis, startRedis } from '../../../deploy/backends/start-redis.ts';
import { isAlive, scratchFolders, script } from '../../support/scratch.ts';
import { steadyPort } from '../../support/steady-port.ts';

const newFolder = scratchFolders();
const env = process.env;
let folder: string;
const stops: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  folder = await newFolder();
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

describe('MongoDB', () => {
  test('when it moves to another port, then it is primary again and has its data', async () => {
    const first = await mongodb();
    await (await clientOf(first)).db().collection('things').insertOne({ name: 'kept' });
    await first.stop();

    const second = await mongodb();

    expect(second.port).not.toBe(first.port);
    expect(
      await (await clientOf(second))
        .db()
        .collection('things')
        .findOne({}, { projection: { _id: 0 } }),
    ).toEqual({
      name: 'kept',
    });
    expect(isAlive(first.pid)).toBe(false);
  });

  test('when a transaction commits or aborts, then all of it or nothing is stored', async () => {
    const client = await clientOf(await mongodb());
    const things = client.db().collection('things');

    await client.withSession((session) =>
      session.withTransaction(async () => {
        await things.insertOne({ name: 'one' }, { session });
        await things.insertOne({ name: 'two' }, { session });
      }),
    );
    const aborted = client.withSession((session) =>
      session.withTransaction(async () => {
        await things.insertOne({ name: 'three' }, { session });
        throw new Error('changed our mind');
      }),
    );

    await expect(aborted).rejects.toThrow('changed our mind');
    expect(await things.countDocuments()).toBe(2);
  });

  test('when the port is taken by another mongod, then that one is not mistaken for ours', async () => {
    const { port } = await mongodb();
    const { command } = await findMongodb({ env });

    const second = startMongodb({ command, folder: join(folder, 'other'), env, port });

    await expect(second).rejects.toThrow(/mongod did not start .*\n.*in use/);
  });

  test('when it listens only after a while, then the start waits for it', async () => {
    const { command } = await findMongodb({ env });
    const late = await script(folder, 'mongod', `sleep 6\nexec '${command}' "$@"`);

    // In six seconds the kernel may give any other port to an outgoing connection.
    const running = await mongodb(late, await steadyPort());

    expect(await (await clientOf(running)).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
  });

  test('when it listens on a socket, then transactions work over it and it has no port', async () => {
    const { command } = await findMongodb({ env });
    const running = await startMongodb({ command, folder: join(folder, 'mongodb'), env, socketFolder: folder });
    stops.push(() => running.stop());
    const client = await clientOf(running);

    await client.withSession((session) =>
      session.withTransaction(() => client.db().collection('things').insertOne({ name: 'one' }, { session })),
    );

    expect(running.port).toBe(0);
    expect(await client.db().collection('things').countDocuments()).toBe(1);
  });

  test('when it moves from a port to a socket, then it has its data', async () => {
    const first = await mongodb();
    await (await clientOf(first)).db().collection('things').insertOne({ name: 'kept' });
    await first.stop();
    const { command } = await findMongodb({ env });

    const second = await startMongodb({ command, folder: join(folder, 'mongodb'), env, socketFolder: folder });
    stops.push(() => second.stop());

    expect(await (await clientOf(second)).db().collection('things').countDocuments()).toBe(1);
  });

  test('when the program ends at once, then the error has its exit code and the path of its log', async () => {
    const command = await script(folder, 'mongod', 'exit 14');
    const logFile = join(folder, 'mongod.log');

    await expect(startMongodb({ command, folder, env, logFile })).rejects.toThrow(
      `mongod did not start (exit code 14), see ${logFile}`,
    );
  });
});

describe('Redis', () => {
  test('when it runs, then it evicts nothing and persists everything', async () => {
    const redis = clientOfRedis(await redisServer());

    expect(await setting(redis, 'maxmemory-policy')).toBe('noeviction');
    expect(await setting(redis, 'appendonly')).toBe('yes');
    expect(await setting(redis, 'save')).toBe('');
    expect(await setting(redis, 'bind')).toBe('127.0.0.1');
  });

  test('when it is killed and started on another port, then it has its data', async () => {
    const first = await redisServer();
    await clientOfRedis(first).set('name', 'kept');
    process.kill(first.pid, 'SIGKILL');
    await first.child.exited;

    const second = await redisServer();

    expect(second.port).not.toBe(first.port);
    expect(await clientOfRedis(second).get('name')).toBe('kept');
    await second.stop();
    expect(isAlive(second.pid)).toBe(false);
  });

  test('when it listens on a socket, then it responds there, and again after it was killed', async () => {
    const { command } = await findRedis({ env });
    const options = { command, folder: join(folder, 'redis'), env, socketFolder: folder };
    const first = await startRedis(options);
    await clientOfRedis(first).set('name', 'kept');
    process.kill(first.pid, 'SIGKILL');
    await first.child.exited;

    const second = await startRedis(options);
    stops.push(() => second.stop());

    expect([second.url, second.port]).toEqual([`unix://${folder}/redis.sock`, 0]);
    expect(await clientOfRedis(second).get('name')).toBe('kept');
    expect(await setting(clientOfRedis(second), 'port')).toBe('0');
  });

  test('when the port is taken, then the error shows the message of Redis', async () => {
    const { port } = await redisServer();
    const { command } = await findRedis({ env });

    await expect(startRedis({ command, folder: join(folder, 'other'), env, port })).rejects.toThrow(/in use/i);
  });
});

async function mongodb(program?: string, port?: number): Promise<RunningMongodb> {
  const command = program ?? (await findMongodb({ env })).command;
  const given = port === undefined ? {} : { port };
  const running = await startMongodb({ command, folder: join(folder, 'mongodb'), env, ...given });
  stops.push(() => running.stop());
  return running;
}

async function clientOf({ uri }: RunningMongodb): Promise<MongoClient> {
  const client = await MongoClient.connect(uri);
  stops.push(() => client.close());
  return client;
}

async function redisServer(): Promise<RunningRedis> {
  const { command } = await findRedis({ env });
  const running = await startRedis({ command, folder: join(folder, 'redis'), env });
  stops.push(() => running.stop());
  return running;
}

function clientOfRedis({ url }: RunningRedis): Redis {
  const redis = openRedis(url, { retryStrategy: () => null });
  redis.on('error', () => {}); // Its server is killed on purpose.
  stops.push(() => redis.quit().catch(() => undefined));
  return redis;
}

async function setting(redis: Redis, name: string): Promise<unknown> {
  const [, value] = (await redis.config('GET', name)) as unknown[]; // A list of name and value.
  return value;
}

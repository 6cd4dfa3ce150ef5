// Attempts to connect to a store that get no response at all: they end, and the next one finds a store that is back.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { connectMongo } from '#libs/mongo/connection.ts';
import { connectWorker } from '#libs/redis/connection.ts';
import { openSilentPort } from '../../support/silent-port.ts';
import { testLog } from '../../support/workspace.ts';

/** Under the ten seconds that ioredis waits by default. */
const LIMIT_MS = 9_000;

let silent: Awaited<ReturnType<typeof openSilentPort>>;

beforeAll(async () => {
  silent = await openSilentPort();
});
afterAll(async () => {
  await mongoose.disconnect();
  await silent.close();
});

test('when MongoDB does not respond to an attempt to connect, then that attempt ends before the caller gives up', async () => {
  const address = `127.0.0.1:${silent.port}`;

  const error = await connectMongo(`mongodb://${address}/?directConnection=true`, { log: testLog }).catch(
    (problem: unknown) => problem,
  );

  const { reason } = error as InstanceType<typeof mongoose.Error.MongooseServerSelectionError> & {
    reason: { servers: Map<string, { error: unknown }> };
  };
  expect(reason.servers.get(address)?.error).toBeInstanceOf(mongoose.mongo.MongoNetworkError);
});

test(
  'when Redis does not respond to an attempt of a worker to connect, then the worker begins another',
  async () => {
    const redis = connectWorker(`redis://127.0.0.1:${silent.port}`, testLog);
    try {
      await new Promise((resolve) => redis.once('reconnecting', resolve));
      expect(redis.status).toBe('reconnecting');
    } finally {
      redis.disconnect();
    }
  },
  LIMIT_MS,
);

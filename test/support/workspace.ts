// A database, a queue prefix and accounts for one test file on the run's shared backends.
import { randomBytes, randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { Account, type AccountMode } from '#libs/models/accounts/account.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { newId } from '#libs/models/tenant.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { watchCommands } from './shards/watch-commands.ts';
import { closeDatabase, openDatabase, workerDatabase } from './worker-database.ts';

export interface Workspace {
  mongodbUri: string;
  redisUrl: string;
  redisPrefix: string;
  chromiumPath: string;
  secretKey: string;
  /** A new account with a key that may do everything, unless `scopes` say otherwise. */
  account(options?: { name?: string; scopes?: string[]; timeZone?: string; mode?: AccountMode }): Promise<TestAccount>;
  close(): Promise<void>;
}

export interface TestAccount {
  id: string;
  key: string;
}

export const testLog = makeLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');

/** Connects mongoose in this process to an empty database with all indexes. Close it in afterAll: the next file uses the database. */
export async function openWorkspace(): Promise<Workspace> {
  const mongodbUri = withDatabase(required('TEST_MONGODB_URI'), workerDatabase());
  const watchedUri = `${mongodbUri}${mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  const disconnect = await connectMongo(watchedUri, { log: testLog });
  const unplanned: string[] = [];
  watchCommands(mongoose.connection.getClient(), (text) => void unplanned.push(text));
  await openDatabase();
  return {
    mongodbUri,
    redisUrl: required('TEST_REDIS_URL'),
    redisPrefix: `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
    chromiumPath: required('TEST_CHROMIUM_PATH'),
    secretKey: randomBytes(32).toString('base64'),
    async account({ name: accountName = 'Test', scopes = ['*'], timeZone = 'UTC', mode = 'live' } = {}) {
      const id = newId();
      await Account.create({ _id: id, name: accountName, time_zone: timeZone, mode });
      const { key } = await issueApiKey({ accountId: id, name: 'test', scopes });
      return { id, key };
    },
    async close() {
      await closeDatabase();
      await disconnect();
      if (unplanned.length > 0) throw new Error(`commands to MongoDB: ${unplanned.join('; ')}`);
    },
  };
}

export function withDatabase(uri: string, name: string): string {
  // Not a URL: it may name several hosts.
  return uri.replace(/^(\w[\w+]*:\/\/[^/?]+)(\/[^?]*)?/, `$1/${name}`);
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests through npm test`);
  return value;
}

// The demo account, its key and its operator: created in the database on the first start, reused on later ones.
import { join } from 'node:path';
import { Account } from '#libs/models/accounts/account.ts';
import { findUsableKey } from '#libs/models/accounts/key-cache.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { ConfigError, EXIT_CONFIG } from '#libs/service/config-error.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { createAccount } from '../../services/admin/accounts.ts';
import { createKey } from '../../services/admin/keys.ts';
import { createOperator, listOperators } from '../../services/admin/operators.ts';
import { EXIT_FAILED, Failure, reasonOf } from '../backends/failure.ts';
import { readPrivate, writePrivately } from './data-folder.ts';
import { DEMO_PROFILE } from './demo-profile.ts';

export interface DemoAccount {
  accountId: string;
  key: string;
}

export interface DemoOperator {
  accountId: string;
  name: string;
  password?: string; // undefined when it was changed
}

export interface Demo {
  account: DemoAccount;
  operator: DemoOperator;
}

// Opens both in the database, which no service has to serve yet.
export async function openDemo(dataFolder: string, mongodbUri: string): Promise<Demo> {
  const mongo = startMongo(mongodbUri, { log: makeLogger('demo', 'silent') });
  try {
    await mongo.ready;
    const account = await openDemoAccount(dataFolder);
    return { account, operator: await openDemoOperator(dataFolder, account.accountId) };
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    const message = isConfig ? error.message : `The demo account could not be made: ${reasonOf(error)}`;
    throw new Failure(message, { exitCode: isConfig ? EXIT_CONFIG : EXIT_FAILED, cause: error });
  } finally {
    await mongo.close();
  }
}

export async function openDemoAccount(dataFolder: string): Promise<DemoAccount> {
  const file = join(dataFolder, 'demo.json');
  const { accountId, key } = await readPrivate<DemoAccount>(file);
  if (accountId && key && (await findUsableKey(key))) return { accountId, key };
  // The key was revoked or belongs to another database, which may be as new as this account.
  await ensureIndexes();
  const { id } = await createAccount({ name: 'Demo' });
  await Account.updateOne({ _id: id }, { $set: DEMO_PROFILE });
  const made = await createKey({ account: id, name: 'demo', scopes: '*' });
  const demo = { accountId: id, key: made.key };
  await writePrivately(file, demo);
  return demo;
}

// Opens the operator of the dashboard. It is made once per demo account, because a new account means a new database.
export async function openDemoOperator(dataFolder: string, accountId: string): Promise<DemoOperator> {
  const file = join(dataFolder, 'operator.json');
  const kept = await readPrivate<DemoOperator & { createdAt: string }>(file);
  const { name, password } = kept;
  if (kept.accountId === accountId && name && password) {
    const known = (await listOperators()).find((one) => one.name === name);
    // A changed password is respected. A removed operator is created again.
    if (known)
      return !kept.createdAt || kept.createdAt === known.created_at
        ? { accountId, name, password }
        : { accountId, name };
  }
  const made = await createOperator({ name: 'demo', role: 'operator', replace: true });
  const operator = { accountId, name: made.name, password: made.password ?? '' };
  await writePrivately(file, { ...operator, createdAt: made.created_at });
  return operator;
}

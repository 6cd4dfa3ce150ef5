// Readies a new installation under compose, and does nothing in an old one: makes the database a replica set and draws the secret key.
// Or changes that key: --take-secret-key FILE writes what comes on standard input.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import Joi from 'joi';
import { type Db, MongoClient } from 'mongodb';
import { ConfigError, EXIT_CONFIG } from '#libs/config-error.ts';
import { readEnv, variables } from '#libs/env.ts';
import { openSecretBox } from '#libs/secret-box.ts';

/** A journal to recover on a busy disk takes its time. */
const LIMIT_MS = 180_000;
const RETRY_MS = 500;
/** A database that takes a question and never answers is asked again. */
const ANSWER_LIMIT_MS = 10_000;
const NOT_YET_INITIALIZED = 94;
const NOT_A_MEMBER = 93;
const KEY_BYTES = 32;

const { values } = parseArgs({
  options: {
    mongodb: { type: 'string' }, // host:port, as the other services call it
    'replica-set': { type: 'string', default: 'rs0' },
    'secret-key': { type: 'string' }, // a file
    'take-secret-key': { type: 'string' }, // a file
  },
});
if (values['take-secret-key']) takeSecretKey(values['take-secret-key']);
if (values['secret-key']) keepSecretKey(values['secret-key']);
if (values.mongodb) await makeReplicaSet(values.mongodb, values['replica-set']);

function keepSecretKey(path: string) {
  if (existsSync(path)) return say(`${path} is kept`);
  writeKey(path, randomBytes(KEY_BYTES).toString('base64'));
  say(`${path} is new: keep a copy, apart from your backups; without it webhook secrets cannot be read`);
}

function takeSecretKey(path: string) {
  try {
    const given = { SECRET_KEY: readFileSync(0, 'utf8').trim() };
    const { SECRET_KEY } = readEnv(given, Joi.object({ SECRET_KEY: variables.SECRET_KEY }));
    keepDropped(path, SECRET_KEY);
    rmSync(`${path}.new`, { force: true });
    writeKey(`${path}.new`, SECRET_KEY);
    renameSync(`${path}.new`, path);
    const { keyIds } = openSecretBox(SECRET_KEY);
    say(`${path} holds ${keyIds.length} key(s), which services read when they start: ${keyIds.join(', ')}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_CONFIG;
  }
}

/** A slip of the pen in a list must not take the only copy of a key that is in use. */
function keepDropped(path: string, list: string) {
  const before = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  const { keyIds } = openSecretBox(list);
  for (const key of before.split(',').filter((text) => text !== '')) {
    const [id = ''] = openSecretBox(key).keyIds;
    if (keyIds.includes(id)) continue;
    const kept = `${path}.dropped-${id}`;
    if (!existsSync(kept)) writeKey(kept, key);
    say(`${id} is in the list no more: what was encrypted with it cannot be read. It is kept in ${kept}`);
  }
}

function writeKey(path: string, keys: string) {
  writeFileSync(path, `${keys}\n`, { mode: 0o400, flag: 'wx' });
}

async function makeReplicaSet(host: string, name: string) {
  // A direct connection: until the set is configured there is no set to discover.
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
    socketTimeoutMS: ANSWER_LIMIT_MS,
  });
  const until = Date.now() + LIMIT_MS;
  let problem: unknown;
  try {
    while (Date.now() < until) {
      try {
        await client.connect(); // A client that found nobody at its first question never looks again by itself.
        if (await isPrimary(client.db('admin'), host, name)) return say(`${host} is the primary of ${name}`);
      } catch (error) {
        problem = error; // Not listening yet, or electing: asked again.
      }
      await pause(RETRY_MS);
    }
    say(`${host} did not become a primary within ${LIMIT_MS / 1000} s: ${String(problem)}`);
    process.exitCode = 1;
  } finally {
    await client.close();
  }
}

async function isPrimary(admin: Db, host: string, name: string): Promise<boolean> {
  const hello = await admin.command({ hello: 1 });
  if (hello['isWritablePrimary']) return true;
  const members = [{ _id: 0, host }];
  try {
    await admin.command({ replSetGetStatus: 1 });
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === NOT_YET_INITIALIZED) {
      await admin.command({ replSetInitiate: { _id: name, members } });
    } else if (code === NOT_A_MEMBER) {
      // It did not find itself under the name it is stored with. Alone in its set, it may be told again.
      const { config } = await admin.command({ replSetGetConfig: 1 });
      if (config.members.length !== 1) throw error;
      await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true });
    } else throw error;
  }
  return false;
}

function say(line: string) {
  process.stdout.write(`${line}\n`);
}

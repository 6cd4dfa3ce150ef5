// Prepares an installation under compose, idempotently: initiates the replica set, repairs a member that lost its place
// in it, and generates the secret key. `--take-secret-key FILE` writes a key from standard input instead.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Joi from 'joi';
import { type Db, MongoClient } from 'mongodb';
import { openSecretBox } from '#libs/secret-box.ts';
import { readOptions } from '#libs/service/command-line.ts';
import { ConfigError, EXIT_CONFIG } from '#libs/service/config-error.ts';
import { readEnv, variables } from '#libs/service/env.ts';

/** The limit, because recovering the journal on a busy disk is slow. */
const LIMIT_MS = 180_000;
const RETRY_MS = 500;
/** The limit of one command. A database that does not respond is asked again. */
const ANSWER_LIMIT_MS = 10_000;
const NOT_YET_INITIALIZED = 94;
const NOT_A_MEMBER = 93;
const DEFAULT_PORT = 27_017;
const KEY_BYTES = 32;

const HELP = `Usage: prepare [--mongodb HOST:PORT] [--replica-set NAME] [--secret-key FILE]
       prepare --take-secret-key FILE < LIST

  --mongodb          makes it the primary of a replica set, under the name by which the services reach it
  --replica-set      its name (default: rs0)
  --secret-key       writes a new key into FILE, unless it exists
  --take-secret-key  writes the keys of standard input into FILE, and keeps those that they replace beside it
`;

const values = readOptions({
  mongodb: { type: 'string' },
  'replica-set': { type: 'string', default: 'rs0' },
  'secret-key': { type: 'string' },
  'take-secret-key': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
});
if (values.help) process.stdout.write(HELP);
else {
  if (values['take-secret-key']) takeSecretKey(values['take-secret-key']);
  if (values['secret-key']) keepSecretKey(values['secret-key']);
  if (values.mongodb) await makeReplicaSet(values.mongodb, values['replica-set']);
}

function keepSecretKey(path: string) {
  if (existsSync(path)) return say(`${path} is kept`);
  writeWhole(path, randomBytes(KEY_BYTES).toString('base64'));
  say(`${path} is new: keep a copy, apart from your backups; without it the secrets in the database cannot be read`);
}

function takeSecretKey(path: string) {
  try {
    const given = { SECRET_KEY: readFileSync(0, 'utf8').trim() };
    const { SECRET_KEY } = readEnv(given, Joi.object({ SECRET_KEY: variables.SECRET_KEY }));
    keepDropped(path, SECRET_KEY);
    writeWhole(path, SECRET_KEY);
    const { keyIds } = openSecretBox(SECRET_KEY);
    say(`${path} holds ${keyIds.length} key(s), which services read when they start: ${keyIds.join(', ')}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = EXIT_CONFIG;
  }
}

/** Keeps a copy of a key that is dropped. A typing mistake must not destroy the only copy of a key in use. */
function keepDropped(path: string, list: string) {
  const before = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  const { keyIds } = openSecretBox(list);
  for (const key of before.split(',').filter((text) => text !== '')) {
    const [id = ''] = openSecretBox(key).keyIds;
    if (keyIds.includes(id)) continue;
    const kept = `${path}.dropped-${id}`;
    if (!existsSync(kept)) writeWhole(kept, key);
    say(`${id} is in the list no more: what was encrypted with it cannot be read. It is kept in ${kept}`);
  }
}

/** Writes the file as a whole. Half a key, which a full disk may leave behind, would be kept by the next run. */
function writeWhole(path: string, keys: string) {
  rmSync(`${path}.new`, { force: true });
  writeFileSync(`${path}.new`, `${keys}\n`, { mode: 0o400, flag: 'wx', flush: true });
  renameSync(`${path}.new`, path);
}

async function makeReplicaSet(host: string, name: string) {
  // The connection is direct, because an unconfigured set cannot be discovered.
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
    socketTimeoutMS: ANSWER_LIMIT_MS,
  });
  const until = Date.now() + LIMIT_MS;
  let problem = 'it was never asked';
  try {
    while (Date.now() < until) {
      try {
        await client.connect(); // A client that finds no server at first never looks again.
        const missing = await approachPrimary(client.db('admin'), host, name);
        if (!missing) return say(`${host} is the primary of ${name}`);
        if (missing !== problem) say(missing);
        problem = missing;
      } catch (error) {
        problem = String(error); // It does not listen yet, or is electing, so this retries.
      }
      await pause(RETRY_MS);
    }
    say(`${host} did not become a primary within ${LIMIT_MS / 1000} s: ${problem}`);
    process.exitCode = 1;
  } finally {
    await client.close();
  }
}

/** Takes one step towards a primary named `host`. @returns the missing step, or undefined when it is primary. */
async function approachPrimary(admin: Db, host: string, name: string): Promise<string | undefined> {
  const hello = await admin.command({ hello: 1 });
  if (hello['isWritablePrimary'] && hello['me'] === host) return undefined;
  const state = await memberState(admin);
  if (state === 'UNINITIALIZED') {
    await admin.command({ replSetInitiate: { _id: name, members: [{ _id: 0, host }] } });
    return `${host} had no replica set: it is made`;
  }
  const { config } = await admin.command({ replSetGetConfig: 1 });
  const isAlone = config.members.length === 1;
  if (!isAlone) {
    if (hello['isWritablePrimary']) return undefined;
    return `${host} is ${state} in a set of ${config.members.length} members, which has to be repaired by hand`;
  }
  const [{ host: stored }] = config.members;
  if (state !== 'REMOVED' && stored === host) return `${host} is ${state}: it is not elected yet`;
  // The member did not find itself under its stored name. It checks only names that are new to it. So where the stored
  // name is right, another name that is certainly its own comes first.
  const next = stored === host ? `127.0.0.1:${await listeningPort(admin)}` : host;
  const members = [{ ...config.members[0], host: next }];
  await admin.command({ replSetReconfig: { ...config, version: config.version + 1, members }, force: true });
  return `${host} is ${state}: it is not reached as ${stored}, by which its set knows it, and is called ${next} now`;
}

async function listeningPort(admin: Db): Promise<number> {
  const { parsed } = await admin.command({ getCmdLineOpts: 1 });
  return parsed.net?.port ?? DEFAULT_PORT;
}

/**
 * Returns a state such as PRIMARY or RECOVERING. REMOVED means that the member is missing from its own configuration.
 */
async function memberState(admin: Db): Promise<string> {
  try {
    const { members } = await admin.command({ replSetGetStatus: 1 });
    return members.find(({ self }: { self?: boolean }) => self)?.stateStr ?? 'UNKNOWN';
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === NOT_YET_INITIALIZED) return 'UNINITIALIZED';
    if (code === NOT_A_MEMBER) return 'REMOVED';
    throw error;
  }
}

function say(line: string) {
  process.stdout.write(`${line}\n`);
}

// Backup and restore: the data is restored byte for byte and works; damaged backups and occupied targets are rejected.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { BSON, Double, Long, MongoClient } from 'mongodb';
import mongoose from 'mongoose';
import { BackupError } from '../../../deploy/backup/archive.ts';
import { inWords } from '../../../deploy/backup/in-words.ts';
import { restore } from '../../../deploy/backup/restore.ts';
import { save } from '../../../deploy/backup/save.ts';
import { compiledCode } from '../../../deploy/local/service-env.ts';
import { errorLineOf } from '../../support/error-line.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { spawnService } from '../../support/spawn-service.ts';
import { type Workspace, withDatabase } from '../../support/workspace.ts';
import { manifest } from '../../unit/deploy/manifests.ts';

const execute = promisify(execFile);
let gateway: TestGateway;
let workspace: Workspace;
let folder: string;
let client: MongoClient;
const databases: string[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  ({ workspace } = gateway);
  folder = await mkdtemp(join(tmpdir(), 'billhook-backup-'));
  client = await new MongoClient(workspace.mongodbUri).connect();
  // Values that a careless copy would change: a whole number stored as a double, a long, an instant, and more than one batch.
  await client
    .db()
    .collection('odd')
    .insertMany([
      { whole: new Double(2), long: Long.fromString('9007199254740993'), instant: new Date(0), none: null },
      ...Array.from({ length: 1_200 }, (_, index) => ({ index })),
    ]);
});
afterAll(async () => {
  for (const name of databases) await client.db(name).dropDatabase();
  await client.close();
  await rm(folder, { recursive: true });
  await gateway.close();
});

function newDatabase(): string {
  const name = `restored_${databases.length}_${workspace.redisPrefix}`;
  databases.push(name);
  return withDatabase(workspace.mongodbUri, name);
}

const environment = (uri: string) => ({ PATH: process.env['PATH'], ...compiledCode(process.env), MONGODB_URI: uri });

/** Runs the command as a process. */
async function backup(command: string, path: string, uri: string) {
  const env = environment(uri);
  return await execute('node', ['deploy/backup/main.ts', command, path], { env }).catch((error) => error);
}

/** Saves or restores in this process. @throws the error that the command prints. */
async function run(work: typeof save | typeof restore, path: string, uri: string): Promise<void> {
  const own = new MongoClient(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    await work(own, path);
  } catch (error) {
    throw inWords(error);
  } finally {
    await own.close();
  }
}

const refusalOf = (work: Promise<void>) => errorLineOf(work, BackupError);

const cut = (bytes: Buffer = Buffer.alloc(0), end: number) => bytes.subarray(0, end);

async function contentsOf(uri: string) {
  const database = client.db(new URL(uri).pathname.slice(1));
  const names = (await database.listCollections().toArray()).map(({ name }) => name).sort();
  const bytes = async (name: string) =>
    (
      await database
        .collection(name)
        .find({}, { raw: true, sort: { _id: 1 } })
        .toArray()
    ).map((one) => Buffer.from(one as never).toString('hex'));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await bytes(name)] as const)));
}

test('when a backup is restored into a new database, then it is identical byte for byte, and the API keys of that time still work', async () => {
  const created = await gateway.post('/api/v1/clients', { name: 'Ada Lovelace', email: 'ada@example.com' });
  // Larger than what is read at once, with small ones between them, and together more than is written at once.
  const large = client.db().collection('large');
  await large.insertMany(
    Array.from({ length: 16 }, (_, index) => ({ bytes: randomBytes(index % 2 ? 1_300_000 : 20) })),
  );
  const path = join(folder, 'of-this-year', 'whole');
  const restoredUri = newDatabase();

  expect((await backup('save', path, workspace.mongodbUri)).stdout).toMatch(/^save: \d+ collections, \d+ documents$/m);
  expect((await backup('restore', path, restoredUri)).stdout).toMatch(/^restore: \d+ collections, \d+ documents$/m);

  const { backup_records: recorded, ...original } = await contentsOf(workspace.mongodbUri);
  // The save recorded itself, after its files were complete.
  expect(recorded).toHaveLength(1);
  expect(original['odd']).toHaveLength(1_201);
  // Empty collections are not restored: migrate creates them.
  expect(await contentsOf(restoredUri)).toEqual(
    Object.fromEntries(Object.entries(original).filter(([, all]) => all.length > 0)),
  );
  await large.drop();

  await execute('node', ['services/admin/main.ts', 'migrate'], { env: environment(restoredUri) });
  const again = await spawnService('gateway', { ...workspace, mongodbUri: restoredUri });
  const read = await callerOf(again.url, gateway.account.key)('GET', `/api/v1/clients/${created.body.data.id}`);
  await again.stop();
  expect(read).toMatchObject({ status: 200, body: { data: { name: 'Ada Lovelace' } } });
});

test('when documents are written during a save, then the backup has the state of one instant', async () => {
  // Two collections that only change together: read at different instants, they would differ.
  const [left, right] = ['left', 'right'].map((name) => client.db().collection<{ _id: number }>(name));
  let isSaving = true;
  let written = 0;
  const writing = (async () => {
    for (; isSaving; written += 1) {
      await client.withSession((session) =>
        session.withTransaction(async () => {
          await left?.insertOne({ _id: written }, { session });
          await right?.insertOne({ _id: written }, { session });
        }),
      );
    }
  })();
  const path = join(folder, 'busy');
  await eventually(() => written > 20);
  await run(save, path, workspace.mongodbUri);
  isSaving = false;
  await writing;

  const { collections } = JSON.parse(await readFile(join(path, 'backup.json'), 'utf8'));
  expect(collections.left.count).toBe(collections.right.count);
  expect(collections.left.count).toBeGreaterThan(20);
  expect(written).toBeGreaterThan(collections.left.count);
  expect(gunzipSync(await readFile(join(path, 'left.bson.gz')))).toHaveLength(
    collections.left.count * BSON.calculateObjectSize({ _id: 1 }),
  );
});

describe('a damaged backup', () => {
  const path = () => join(folder, 'damaged');
  const file = () => join(path(), 'odd.bson.gz');
  const list = () => join(path(), 'backup.json');
  let original: Map<string, Buffer>;
  beforeAll(async () => {
    await run(save, path(), workspace.mongodbUri);
    original = new Map(await Promise.all([file(), list()].map(async (one) => [one, await readFile(one)] as const)));
  });
  afterEach(async () => {
    for (const [one, bytes] of original) await writeFile(one, bytes);
  });

  const inList = (change: (list: { collections: Record<string, unknown> }) => unknown) => async () =>
    await writeFile(list(), JSON.stringify(change(JSON.parse(String(original.get(list()))))));

  test.each<[string, string, () => Promise<unknown>]>([
    ['a file is truncated', 'odd.bson.gz is damaged', () => writeFile(file(), cut(original.get(file()), -20))],
    ['a file is missing', 'odd.bson.gz is damaged (ENOENT', () => rm(file())],
    ['a file is empty', 'odd.bson.gz is damaged', () => writeFile(file(), '')],
    ['a file holds garbage', 'odd.bson.gz is damaged', () => writeFile(file(), randomBytes(1_000))],
    ['a file holds no BSON', 'odd.bson.gz is damaged (not BSON)', () => writeFile(file(), gzipSync(Buffer.alloc(99)))],
    [
      'a file was replaced by another one',
      'odd.bson.gz is not what was saved',
      () => writeFile(file(), gzipSync(BSON.serialize({}))),
    ],
    ['the list is truncated', 'backup.json is damaged', () => writeFile(list(), cut(original.get(list()), -20))],
    ['the list names no collections', 'backup.json is damaged', inList(() => ({ format: 1, savedAt: 'now' }))],
    [
      'the list has no checksum',
      'backup.json is damaged',
      inList((whole) => ({ ...whole, collections: { ...whole.collections, odd: {} } })),
    ],
    ['the list is of a later version', 'is of another format', inList((whole) => ({ ...whole, format: 2 }))],
  ])('when %s, then one line names it and nothing is restored', async (_, words, damage) => {
    await damage();
    const uri = newDatabase();

    expect(await refusalOf(run(restore, path(), uri))).toContain(words);

    expect(await contentsOf(uri)).toEqual({});
  });

  test('when the command finds it, then it prints that line and exits with 1', async () => {
    await rm(file());

    const { code, stderr } = await backup('restore', path(), newDatabase());

    expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]*odd\.bson\.gz is damaged[^\n]*\n$/)]);
  });
});

test('when the database is in use or the folder exists, then neither is changed', async () => {
  const path = join(folder, 'once');
  await run(save, path, workspace.mongodbUri);

  expect(await refusalOf(run(save, path, workspace.mongodbUri))).toContain('never overwrites');
  expect(await refusalOf(run(restore, path, workspace.mongodbUri))).toContain('is not empty');
  expect(await refusalOf(run(restore, folder, newDatabase()))).toContain('holds no backup');
  expect((await backup('restore', path, '')).code).toBe(78);
  expect((await backup('erase', path, workspace.mongodbUri)).stderr).toContain('Usage:');
});

describe('a save that fails', () => {
  // Errors are injected into the connections of one appName: the command uses that of this process.
  const sameName = () => {
    const { appName = '' } = mongoose.connection.getClient().options;
    return `${workspace.mongodbUri}${workspace.mongodbUri.includes('?') ? '&' : '?'}appName=${encodeURIComponent(appName)}`;
  };
  const failWith = (given: object) => (path: string) =>
    withErrors({ failCommands: ['find'], ...given }, () => run(save, path, sameName()));
  const SNAPSHOT_TOO_OLD = 239;
  const UNAUTHORIZED = 13;

  test.each<[string, string, (path: string) => Promise<void>]>([
    ['no server responds', 'MongoDB cannot be reached', (path) => run(save, path, 'mongodb://127.0.0.1:1/billhook')],
    ['the connection is closed twice', 'MongoDB cannot be reached', failWith({ closeConnection: true, times: 2 })],
    [
      'the snapshot is no longer available',
      'raise minSnapshotHistoryWindowInSeconds',
      failWith({ errorCode: SNAPSHOT_TOO_OLD }),
    ],
    ['reading is not allowed', 'MongoDB refuses to go on', failWith({ errorCode: UNAUTHORIZED })],
  ])('when %s, then one line says so, and the next save can use the same folder', async (what, words, saving) => {
    const path = join(folder, what);

    expect(await refusalOf(saving(path))).toContain(words);

    await expect(access(path)).rejects.toThrow('ENOENT');
    await run(save, path, workspace.mongodbUri);
    expect(await readdir(path)).toContain('backup.json');
  });

  test('when the command finds that it may not read, then it prints that line and exits with 1', async () => {
    const { code, stderr } = await withErrors({ failCommands: ['find'], errorCode: UNAUTHORIZED }, () =>
      backup('save', join(folder, 'refused'), sameName()),
    );

    expect([code, stderr]).toEqual([1, expect.stringMatching(/^MongoDB refuses to go on [^\n]+\n$/)]);
  });

  test('when the folder exists already, then its content stays', async () => {
    const path = join(folder, 'before');
    await run(save, path, workspace.mongodbUri);
    const list = await readFile(join(path, 'backup.json'), 'utf8');

    expect(await refusalOf(run(save, path, 'mongodb://127.0.0.1:1/billhook'))).toContain('never overwrites');

    expect(await readFile(join(path, 'backup.json'), 'utf8')).toBe(list);
  });
});

test('when the nightly backup of Kubernetes is saved, then old backups are deleted, and only then', async () => {
  const [, , script] = manifest('CronJob', 'backup').spec.jobTemplate.spec.template.spec.containers[0].command;
  const volume = join(folder, 'volume');
  const old = ['2020-01-01T021700Z', 'of-another-tool'].map((name) => join(volume, name));
  for (const path of old) {
    await mkdir(path, { recursive: true });
    await utimes(path, new Date('2020-01-01'), new Date('2020-01-01'));
  }
  const nightly = (uri: string) =>
    execute('sh', ['-ec', script.replaceAll('/backups', volume)], { env: { ...environment(uri), KEEP_DAYS: '30' } });

  await expect(nightly('mongodb://127.0.0.1:1/none?serverSelectionTimeoutMS=100')).rejects.toThrow();
  expect(await readdir(volume)).toEqual(old.map((path) => basename(path)));

  await nightly(workspace.mongodbUri);
  const [made = '', ...others] = await readdir(volume);
  expect(others).toEqual(['of-another-tool']);
  expect(await readdir(join(volume, made))).toContain('backup.json');
});

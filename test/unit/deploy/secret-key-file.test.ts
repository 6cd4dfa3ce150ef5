// The file of the secret key under compose, on a disk that is full at first: no run takes half a file for a key.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { scratchFolders } from '../../support/scratch.ts';

const scratch = scratchFolders();
const newKey = () => randomBytes(32).toString('base64');

/** @param blocks of 512 bytes that a file may have: none is what a full disk leaves. */
function prepare(args: readonly string[], { blocks = 'unlimited', input = '' } = {}) {
  const command = `ulimit -f ${blocks}; exec "$0" deploy/docker/prepare.ts "$@"`;
  return spawnSync('sh', ['-c', command, process.execPath, ...args], { input, encoding: 'utf8' });
}

test('when there is no room for a new key, then the next run makes one', async () => {
  const file = join(await scratch(), 'secret-key');

  expect(prepare(['--secret-key', file], { blocks: '0' }).stderr).toContain('EFBIG');
  expect(prepare(['--secret-key', file]).stdout).toContain('is new');

  expect(Buffer.from(await readFile(file, 'utf8'), 'base64')).toHaveLength(32);
});

test('when there is no room for the key that another replaces, then the next run keeps it', async () => {
  const folder = await scratch();
  const file = join(folder, 'secret-key');
  const old = newKey();
  await writeFile(file, `${old}\n`);

  expect(prepare(['--take-secret-key', file], { blocks: '0', input: newKey() }).stderr).toContain('EFBIG');
  expect(await readFile(file, 'utf8')).toBe(`${old}\n`);
  expect(prepare(['--take-secret-key', file], { input: newKey() }).stdout).toContain('It is kept in');

  const [dropped = ''] = (await readdir(folder)).filter((name) => name.startsWith('secret-key.dropped-'));
  expect(await readFile(join(folder, dropped), 'utf8')).toBe(`${old}\n`);
});

// The comparison of the packages in an image with the lock file: nothing but the locked bytes passes.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const locked = {
  '': { version: '0.1.0' },
  'node_modules/here': { version: '1.0.0', integrity: 'sha512-here' },
  'node_modules/elsewhere': { version: '1.0.0', integrity: 'sha512-elsewhere', optional: true },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-packages-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function check(installed: object) {
  await writeFile(join(folder, 'lock.json'), JSON.stringify({ packages: locked }));
  await writeFile(join(folder, '.package-lock.json'), JSON.stringify({ packages: installed }));
  const { status, stderr } = spawnSync('node', ['deploy/docker/check-packages.ts', join(folder, 'lock.json'), folder], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('when every installed package is locked, then the check passes, also without packages for other platforms', async () => {
  const { status } = await check({ 'node_modules/here': locked['node_modules/here'] });

  expect(status).toBe(0);
});

test.each([
  ['another version', { 'node_modules/here': { version: '1.0.1', integrity: 'sha512-here' } }, /here 1\.0\.1.*1\.0\.0/],
  ['other bytes', { 'node_modules/here': { version: '1.0.0', integrity: 'sha512-other' } }, /here 1\.0\.0/],
  [
    'a package that is not locked',
    { 'node_modules/new': { version: '1.0.0', integrity: 'sha512-new' } },
    /new 1\.0\.0.*nothing/,
  ],
  ['nothing', {}, /nothing is installed/],
])('when %s is installed, then the build fails and says so', async (_what, installed, message) => {
  expect(await check(installed)).toEqual({ status: 1, stderr: expect.stringMatching(message) });
});

// The data folder: only its owner can open it, and files of other programs stay unchanged.
import { chmod, mkdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openDataFolder } from '../../../deploy/local/data-folder.ts';
import { openSocketFolder } from '../../../deploy/local/socket-folder.ts';
import { scratchFolders } from '../../support/scratch.ts';

const newFolder = scratchFolders();
const open = openDataFolder;
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('when other users may enter an empty folder, then their access is removed', async () => {
  const folder = join(await newFolder(), 'data');
  await mkdir(folder, { mode: 0o755 });

  await (await open(folder)).release();

  expect(await modeOf(folder)).toBe(0o700);
});

test('when other users got access to a data folder since the last start, then it is removed again', async () => {
  const folder = join(await newFolder(), 'data');
  await mkdir(folder);
  await writeFile(join(folder, 'supervisor.pid'), '1\n');
  await chmod(folder, 0o777);

  await (await open(folder)).release();

  expect(await modeOf(folder)).toBe(0o700);
});

test('when other users may enter a folder with other files, then it is rejected and stays unchanged', async () => {
  const folder = join(await newFolder(), 'home');
  await mkdir(folder, { mode: 0o755 });
  await writeFile(join(folder, 'letter.txt'), 'Dear Ada');

  await expect(open(folder)).rejects.toThrow(/other users may enter it, and it holds things that are not ours/);

  expect(await modeOf(folder)).toBe(0o755);
});

test('when the path is short, then the sockets are in the folder itself', async () => {
  const folder = await realpath(await newFolder());

  expect(await openSocketFolder(folder)).toBe(folder);
});

test.each([
  ['too long for a socket', 'd'.repeat(100)],
  ['not of plain characters', 'a%2Fb c'],
])('when the path is %s, then the sockets are in a short folder that only its owner can enter', async (_why, name) => {
  const folder = join(await newFolder(), name);
  await mkdir(folder);

  const sockets = await openSocketFolder(folder);

  expect(sockets).toMatch(/^\/[\w./+@-]+$/);
  expect(sockets.length).toBeLessThan(80);
  expect(await modeOf(sockets)).toBe(0o700);
  expect(await openSocketFolder(folder)).toBe(sockets);
});

test('when something else has the name of the short folder, then it is not trusted', async () => {
  const folder = join(await newFolder(), 'e'.repeat(100));
  await mkdir(folder);
  const sockets = await openSocketFolder(folder);
  await rm(sockets, { recursive: true });
  await symlink(tmpdir(), sockets);

  await expect(openSocketFolder(folder)).rejects.toThrow(/belongs to another user/);

  await rm(sockets);
});

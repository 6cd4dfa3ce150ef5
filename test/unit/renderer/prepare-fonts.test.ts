// The fonts of Chromium, which may run as another user than the renderer, below the umask of `npm start`.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { prepareFonts } from '../../../services/renderer/fonts/fonts.ts';

let folder: string;
let umask: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-fonts-'));
  umask = process.umask(0o077);
});
afterEach(async () => {
  process.umask(umask);
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['read where they are', []],
  ['copied, because that user may not read them', ['false']],
])(
  'when new files are for their owner alone and faces are %s, then every user can read them',
  async (_how, wrapper) => {
    const isolation = { wrapper, owner: undefined, hasEmptyNetwork: false, hasSandbox: false };
    const file = await prepareFonts(folder, isolation);
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    const faces = join(folder, 'faces');
    const modes = await Promise.all((await readdir(faces)).map((name) => modeOf(join(faces, name))));

    expect([await modeOf(file), await modeOf(faces)]).toEqual(['644', '755']);
    expect(modes.length).toBeGreaterThan(50);
    expect(modes.filter((mode) => !/[4-7][4-7]$/.test(mode))).toEqual([]);
  },
);

// Programs that are fetched side by side: each has a lock of its own, and gives it back.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { keepInCache } from '../../../deploy/backends/cache.ts';
import { asSearch, type Search } from '../../../deploy/backends/program.ts';

const NAMES = ['mongodb', 'redis', 'chromium'];

let root: string;
let search: Search;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'billhook-cache-'));
  search = asSearch({ env: { ...process.env, BILLHOOK_CACHE_DIR: root } });
});
afterEach(() => rm(root, { recursive: true, force: true }));

const keep = (name: string, isFilled: Promise<unknown>, fills: string[] = []) =>
  keepInCache({ name, proof: { pattern: /v(1\.0)/, atLeast: [1, 0] } }, 'a test', search, async (folder) => {
    fills.push(name);
    await isFilled;
    await writeFile(join(folder, 'program'), '#!/bin/sh\necho v1.0\n', { mode: 0o755 });
    return 'program';
  });
const locks = async () => (await readdir(root)).filter((name) => name.endsWith('.lock'));

test('when several programs are fetched at once, then each is locked until it is there, and no lock is left', async () => {
  const { promise: isFilled, resolve } = Promise.withResolvers<void>();
  const fills: string[] = [];
  const kept = NAMES.map((name) => keep(name, isFilled, fills));
  while (fills.length < NAMES.length) await new Promise((done) => setTimeout(done, 5));

  expect((await locks()).toSorted()).toEqual(NAMES.map((name) => `${name}.lock`).toSorted());
  resolve();
  const programs = await Promise.all(kept);

  expect(programs.map(({ command }) => command)).toEqual(NAMES.map((name) => join(root, name, 'program')));
  expect(await locks()).toEqual([]);
});

test('when one program is fetched twice at once, then the second finds what the first has put there', async () => {
  const fills: string[] = [];
  const kept = [keep('mongodb', Promise.resolve(), fills), keep('mongodb', Promise.resolve(), fills)];

  expect((await Promise.all(kept)).map(({ version }) => version)).toEqual(['1.0', '1.0']);
  expect(fills).toEqual(['mongodb']);
  expect(await locks()).toEqual([]);
});

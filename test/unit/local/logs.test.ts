// A log that grew large is set aside while the part that writes it runs on.
import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { setLargeLogsAside } from '../../../deploy/local/data-folder.ts';
import { scratchFolders } from '../../support/scratch.ts';

const LARGE = 10 * 1024 * 1024 + 1;
const scratch = scratchFolders();

test('when a log is large, then its lines move to the old file, and processes that have it open continue in the new one', async () => {
  const folder = await scratch();
  const file = join(folder, 'mongodb.log');
  await using log = await open(file, 'a');
  await log.write('x'.repeat(LARGE));

  await setLargeLogsAside(folder);
  await log.write('after\n');

  expect(await readFile(file, 'utf8')).toBe('after\n');
  expect((await stat(`${file}.old`)).size).toBe(LARGE);
});

test('when a log is small, then it stays', async () => {
  const folder = await scratch();
  await writeFile(join(folder, 'redis.log'), 'before\n');

  await setLargeLogsAside(folder);

  expect(await readFile(join(folder, 'redis.log'), 'utf8')).toBe('before\n');
});

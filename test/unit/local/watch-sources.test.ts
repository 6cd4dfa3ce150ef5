// `npm run dev` restarts the services that read a changed file, once for all files of one change.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchSources } from '../../../deploy/local/watch-sources.ts';
import { eventually } from '../../support/eventually.ts';

let root: string;
let changes: [string | undefined, string][];
let sources: { close(): void };
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'billhook-watch-'));
  for (const folder of ['services/gateway/http', 'services/renderer', 'libs/mongo']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  changes = [];
  sources = watchSources(root, (...change) => void changes.push(change));
});
afterEach(async () => {
  sources.close();
  await rm(root, { recursive: true });
});

const save = (file: string) => writeFile(join(root, file), '// changed');

test('when files of a service are saved together, then that service is named once', async () => {
  await save('services/gateway/http/commit.ts');
  await save('services/gateway/http/page.ts');

  await eventually(() => changes.length > 0);
  expect(changes).toEqual([['gateway', expect.stringMatching(/^services\/gateway\/http\//)]]);
});

test('when a file of libs is saved, then all services restart, even if a file of one service was saved too', async () => {
  await save('services/renderer/main.ts');
  await save('libs/mongo/start.ts');

  await eventually(() => changes.length > 0);
  expect(changes).toEqual([[undefined, 'libs/mongo/start.ts']]);
});

test('when an editor writes a file of its own, then no service is named', async () => {
  await save('services/gateway/http/.commit.ts.swp');
  await save('services/gateway/http/commit.ts~');
  await save('services/renderer/main.ts');

  await eventually(() => changes.length > 0);
  expect(changes).toEqual([['renderer', 'services/renderer/main.ts']]);
});

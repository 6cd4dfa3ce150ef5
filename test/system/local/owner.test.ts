// A data folder belongs to one supervisor while it lives, and can be taken over afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { openDataFolder } from '../../../deploy/local/data-folder.ts';
import { scratchFolders } from '../../support/scratch.ts';

const DATA_FOLDER = join(import.meta.dirname, '..', '..', '..', 'deploy', 'local', 'data-folder.ts');
const OPEN = `const { openDataFolder } = await import(${JSON.stringify(DATA_FOLDER)}); await openDataFolder(process.argv[1]);`;
const scratch = scratchFolders();
const owners: ChildProcess[] = [];
afterEach(() => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
});

test('when the owner is suspended by Ctrl-Z, then opening the folder fails', async () => {
  const folder = await scratch();
  const owner = await ownerOf(folder);
  owner.kill('SIGSTOP');

  for (let time = 0; time < 3; time += 1)
    await expect(openDataFolder(folder)).rejects.toThrow(
      `already runs on the data folder ${folder} (process ${owner.pid})`,
    );
});

test('when the owner was killed, then the folder is free, and belongs to the next one', async () => {
  const folder = await scratch();
  const owner = await ownerOf(folder);
  owner.kill('SIGKILL');
  await once(owner, 'exit');

  const next = await openDataFolder(folder);

  await expect(openDataFolder(folder)).rejects.toThrow(`(process ${process.pid})`);
  await next.release();
});

test('when the owner has released the folder, then it is free', async () => {
  const folder = await scratch();
  await (await openDataFolder(folder)).release();

  await (await openDataFolder(folder)).release();
});

// A process that owns the folder.
async function ownerOf(folder: string): Promise<ChildProcess> {
  const lives = `${OPEN} console.log('opened');`;
  const owner = spawn(process.execPath, ['-e', lives, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(owner);
  await once(owner.stdout, 'data');
  return owner;
}

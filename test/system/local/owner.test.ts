// A data folder belongs to one supervisor while it lives, and can be taken over afterwards.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { openDataFolder } from '../../../deploy/local/data-folder.ts';
import { eventually } from '../../support/eventually.ts';
import { scratchFolders } from '../../support/scratch.ts';

const OWNER = join(import.meta.dirname, '..', '..', '..', 'deploy', 'local', 'owner.ts');
const RECORD = `const { recordOwner } = await import(${JSON.stringify(OWNER)}); await recordOwner(process.argv[1]);`;
const scratch = scratchFolders();
const owners: ChildProcess[] = [];
afterEach(() => {
  for (const owner of owners.splice(0)) owner.kill('SIGKILL');
});

test('when the recorded owner is alive, though its lock is stale, then opening the folder fails', async () => {
  const folder = await scratch();
  const owner = await ownerOf(folder);
  owner.kill('SIGSTOP');

  await expect(open(folder)).rejects.toThrow(`already runs on the data folder ${folder} (process ${owner.pid})`);
});

test('when the owner was killed, then the folder is free', async () => {
  const folder = await scratch();
  const owner = await ownerOf(folder);
  owner.kill('SIGKILL');
  await once(owner, 'exit');

  await (await open(folder)).release();
});

test('when the process id of the owner belongs to another process now, then the folder is free', async () => {
  const folder = await scratch();
  const { pid } = await ownerOf(folder);
  const stranger = await ownerOf(await scratch());
  const record = await readFile(join(folder, 'supervisor.pid'), 'utf8');
  await writeFile(join(folder, 'supervisor.pid'), record.replace(`${pid}\n`, `${stranger.pid}\n`));

  await (await open(folder)).release();
});

const onLinux = process.platform === 'linux' ? test : test.skip; // The test looks into /proc.
onLinux('when the owner ended and its parent has not reaped it, then the folder is free', async () => {
  const folder = await scratch();
  // The shell becomes a program that never reaps its child.
  const script = `"${process.execPath}" -e '${RECORD}' "$1" & exec sleep 600`;
  owners.push(spawn('sh', ['-c', script, 'sh', folder], { stdio: 'ignore' }));
  const pid = await eventually(async () =>
    Number((await readFile(join(folder, 'supervisor.pid'), 'utf8')).split('\n')[0]),
  );
  await eventually(async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') Z '));

  await (await open(folder)).release();
});

function open(folder: string) {
  return openDataFolder(folder, { say: () => {}, note: () => {} }, () => {});
}

// A process that is recorded as the folder's owner.
async function ownerOf(folder: string): Promise<ChildProcess> {
  const lives = `${RECORD} console.log('recorded'); setInterval(() => {}, 60_000);`;
  const owner = spawn(process.execPath, ['-e', lives, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(owner);
  await once(owner.stdout, 'data');
  return owner;
}

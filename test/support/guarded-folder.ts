// A folder for the databases and services of a test: however the test ends, they end with it.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postGuardian } from '../../deploy/local/guardian.ts';
import { MARK, markOf } from '../../deploy/local/orphans.ts';

export interface GuardedFolder {
  path: string;
  /** Returns the environment of a process that ends when this one is killed. @param name is shown to people who look at what runs. */
  markedAs(name: string): Record<string, string>;
  /** After everything was stopped. A killed test leaves its folder, with what the logs in it tell, in memory until the next test. */
  close(): Promise<void>;
}

/** @param root where it is made. Measurements of stores belong on a disk, tests of them need none: see memory-folder.ts. */
export async function openGuardedFolder(name: string, root = tmpdir()): Promise<GuardedFolder> {
  if (root !== tmpdir()) await removeAbandoned(root);
  const path = await mkdtemp(join(root, `billhook-${name}-${process.pid}-`));
  const guardian = postGuardian(path);
  return {
    path,
    markedAs: (process) => ({ [MARK]: markOf(path, process) }),
    async close() {
      guardian.dismiss();
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** A killed test leaves a folder of up to three hundred megabytes, which is in memory. */
async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = Number(/^billhook-.+-(\d+)-\w{6}$/.exec(name)?.[1]);
    // A folder of another user cannot be removed.
    if (pid && !isAlive(pid)) await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

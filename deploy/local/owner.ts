// The owner of a data folder. It tells a live supervisor, even one stopped by Ctrl-Z, from another process with its id.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Owner {
  pid: number;
  isAlive: boolean;
}

/** A file that exists in every data folder since its first start. */
export const OWNER_RECORD = 'supervisor.pid';

const execute = promisify(execFile);

export async function recordOwner(dataFolder: string): Promise<void> {
  await writeFile(recordIn(dataFolder), `${process.pid}\n${(await birthOf(process.pid)) ?? ''}\n`);
}

// Returns the last supervisor of the folder, or undefined when there was none.
export async function findOwner(dataFolder: string): Promise<Owner | undefined> {
  const [first = '', birth = ''] = (await readFile(recordIn(dataFolder), 'utf8').catch(() => '')).split('\n');
  const pid = Number.parseInt(first, 10);
  if (Number.isNaN(pid)) return undefined;
  return { pid, isAlive: birth !== '' && birth === (await birthOf(pid)) };
}

function recordIn(dataFolder: string): string {
  return join(dataFolder, OWNER_RECORD);
}

// Returns a text that identifies the process, or undefined when it has ended. Process ids are reused, but not with the
// same start time.
async function birthOf(pid: number): Promise<string | undefined> {
  try {
    const { state, birth } = process.platform === 'linux' ? await readProc(pid) : await askPs(pid);
    const hasEnded = state === undefined || /^[ZX]/.test(state); // Z is a zombie.
    return hasEnded ? undefined : birth;
  } catch {
    return undefined; // There is no such process.
  }
}

async function readProc(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  // The format is in proc(5). The program name in parentheses may contain anything, so this parses after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], birth: `${boot.trim()} ${fields[19]}` };
}

async function askPs(pid: number) {
  // The locale is fixed, so that the text is comparable.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { stdout } = await execute('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], { env });
  const [state, ...birth] = stdout.trim().split(/\s+/);
  return { state, birth: birth.join(' ') };
}

// The processes of the system as the kernel shows them: parents, open files, and leftovers.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface SystemProcess {
  pid: number;
  parent: number;
  state: string;
  command: string;
}

/** All processes whose environment names the folder, and what descends from them: pages of a browser overwrite theirs. */
export async function processesOf(folder: string): Promise<SystemProcess[]> {
  const read = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(readProcess));
  const all = read.filter((one) => one !== undefined);
  const own = new Set(all.filter(({ environment }) => environment.includes(folder)).map(({ pid }) => pid));
  for (let size = 0; size < own.size; ) {
    size = own.size;
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid);
  }
  // Ours, too, when they have ended and we did not ask about them.
  return all.filter(({ pid, parent, state }) => own.has(pid) || (state === 'Z' && parent === process.pid));
}

async function readProcess(name: string) {
  try {
    const [stat, command, environment] = await Promise.all([
      readFile(`/proc/${name}/stat`, 'utf8'),
      readFile(`/proc/${name}/cmdline`, 'utf8'),
      readFile(`/proc/${name}/environ`, 'utf8').catch(() => ''),
    ]);
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(name), parent: Number(parent), state, command: command.replaceAll('\0', ' '), environment };
  } catch {
    return undefined; // It ended while we looked.
  }
}

export const isBrowser = ({ command, state }: SystemProcess) =>
  state !== 'Z' &&
  command.includes('--remote-debugging-pipe') &&
  !command.includes('--type=') &&
  !command.startsWith('unshare');

/** The browser's first process, below a renderer. */
export async function browserOf(folder: string, renderer: number | undefined): Promise<number | undefined> {
  const found = (await processesOf(folder)).find((one) => one.parent === renderer && isBrowser(one));
  return found?.pid;
}

/** @returns the children of a browser of this type: renderer, gpu-process, utility, zygote. */
export async function childrenOf(folder: string, browser: number, type: string): Promise<number[]> {
  const all = await processesOf(folder);
  return all
    .filter((one) => one.command.includes(`--type=${type}`) && descendsFrom(one, browser, all))
    .map(({ pid }) => pid);
}

export function descendsFrom(one: SystemProcess, ancestor: number, all: readonly SystemProcess[]): boolean {
  const byPid = new Map(all.map((each) => [each.pid, each]));
  for (let at: SystemProcess | undefined = one; at; at = byPid.get(at.parent)) {
    if (at.pid === ancestor || at.parent === ancestor) return true;
  }
  return false;
}

/** How many descriptors are open that are no connections: those come and go with pools. */
export async function descriptorsOf(pid: number): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target !== '' && !target.startsWith('socket:')).length;
}

export async function socketsOf(pid: number): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.startsWith('socket:')).length;
}

/** Names of the limits in `/proc/<pid>/limits`. */
const LIMITS = { as: 'Max address space', fsize: 'Max file size', nofile: 'Max open files' };

/** The kernel's own limit for a process that runs; it may be gone meanwhile. @throws when the kernel refuses it. */
export async function limit(pid: number, what: keyof typeof LIMITS, value: number | string): Promise<void> {
  await execute('prlimit', ['--pid', String(pid), `--${what}=${value}:`]).catch((error: Error) => {
    if (existsSync(`/proc/${pid}`)) throw error;
  });
}

/** Ends what `limit` did, also in those that were started meanwhile: the process may have all that its hard limit allows, as it had before. */
export async function unlimit(pid: number, what: keyof typeof LIMITS): Promise<void> {
  const limits = await readFile(`/proc/${pid}/limits`, 'utf8').catch(() => '');
  const [, hard] = new RegExp(`${LIMITS[what]} +\\S+ +(\\S+)`).exec(limits) ?? [];
  if (hard) await limit(pid, what, hard);
}

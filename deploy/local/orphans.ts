// Finds and ends orphaned processes of a data folder. Each carries a mark in its environment, which its children
// inherit: process ids are reused, marks are not.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface Marked {
  pid: number;
  name: string; // name of the process, such as renderer-2
}

// A selection of processes. Without a filter it is all processes of the data folder.
export interface Which {
  supervisor?: number; // only those of the supervisor with this process id
  name?: string;
}

export const MARK = 'BILLHOOK_PROCESS';
const POLL_MS = 50;
const END_LIMIT_MS = 10_000;
const execute = promisify(execFile);

export function markOf(dataFolder: string, name: string): string {
  return `${dataFolder}#${process.pid}#${name}`;
}

// Returns the marked processes, except this one.
export async function findMarked(dataFolder: string, which: Which = {}): Promise<Marked[]> {
  const environments = process.platform === 'linux' ? await readProc() : await askPs();
  const start = `${MARK}=${dataFolder}#`;
  const found: Marked[] = [];
  for (const { pid, variables } of environments) {
    const mark = variables.find((variable) => variable.startsWith(start))?.slice(start.length);
    const [, supervisor, name] = /^(\d+)#([^#]*)$/.exec(mark ?? '') ?? [];
    if (name === undefined || pid === process.pid) continue;
    const isTheirs = which.supervisor === undefined || Number(supervisor) === which.supervisor;
    if (isTheirs && (which.name === undefined || name === which.name)) found.push({ pid, name });
  }
  return found;
}

// Sends SIGTERM, then SIGKILL after the limit. Returns the processes that it found.
export async function endMarked(dataFolder: string, which: Which = {}): Promise<Marked[]> {
  const found = await findMarked(dataFolder, which);
  for (const { pid } of found) send(pid, 'SIGTERM');
  const deadline = performance.now() + END_LIMIT_MS;
  let left = found;
  while (left.length > 0 && performance.now() < deadline) {
    await wait(POLL_MS);
    left = await findMarked(dataFolder, which);
  }
  for (const { pid } of left) send(pid, 'SIGKILL');
  return found;
}

// Ends the processes of this supervisor only, because a lost folder may belong to another one by now.
export async function endOurs(dataFolder: string, name?: string): Promise<void> {
  await endMarked(dataFolder, { supervisor: process.pid, ...(name === undefined ? {} : { name }) });
}

// Kills the processes at once, for the second Ctrl-C.
export async function killOurs(dataFolder: string): Promise<void> {
  for (const { pid } of await findMarked(dataFolder, { supervisor: process.pid })) send(pid, 'SIGKILL');
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

interface Environment {
  pid: number;
  variables: string[];
}

async function readProc(): Promise<Environment[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = async (pid: string) => ({
    pid: Number(pid),
    // The environment of other users' processes and of ended ones is unreadable. They do not belong to this system.
    variables: (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).split('\0'),
  });
  return await Promise.all(pids.map(read));
}

// Reads environments on other systems. ps shows them after the command, separated by spaces, so a data folder with a
// space is not found.
async function askPs(): Promise<Environment[]> {
  const { stdout } = await execute('ps', ['-axEww', '-o', 'pid=,command='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').map((line) => ({ pid: Number.parseInt(line, 10), variables: line.split(' ') }));
}

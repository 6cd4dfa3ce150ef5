// A server as a process of its own: started, measured by its processor time, stopped for sure.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { eventually } from '../../test/support/eventually.ts';

export interface ServerProcess {
  url: string;
  /** Milliseconds of processor time so far; NaN where the system does not tell. */
  cpuMs: () => Promise<number>;
  stop: () => Promise<void>;
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** @param args Node's: flags and the file. @param probe answers 2xx once the server is ready. */
export async function startServer(
  args: readonly string[],
  env: Record<string, string>,
  { url, probe }: { url: string; probe: string },
): Promise<ServerProcess> {
  // Its log goes nowhere, but is written as in production.
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
  });
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${args.at(-1)} exited with ${child.exitCode}`);
      return (await fetch(probe)).ok;
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { url, cpuMs: () => cpuOf(child), stop: () => stop(child) };
}

async function cpuOf({ pid }: ChildProcess): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // After the name in parentheses, which may hold anything: utime and stime are fields 14 and 15 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN; // Not Linux.
  }
}

async function stop(child: ChildProcess) {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}

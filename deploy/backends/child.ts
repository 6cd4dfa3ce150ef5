// A child process in its own process group. Ctrl-C then reaches only its parent, and stopping reaches all its
// descendants.
import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error; // it could not be started at all
}

export interface Child {
  pid: number;
  process: ChildProcess;
  exited: Promise<Exit>; // never rejects
  hasExited(): boolean;
  // Sends SIGTERM, and SIGKILL after `limitMs`. Resolves when the process has ended.
  stop(limitMs?: number): Promise<void>;
}

export interface ChildOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  logFile?: string; // both outputs are appended here; without it they are pipes of `process`
}

const STOP_LIMIT_MS = 15_000;

export async function startChild(command: string, args: string[], options: ChildOptions): Promise<Child> {
  const log = options.logFile ? await open(options.logFile, 'a') : undefined;
  const output = log ? log.fd : 'pipe';
  const { env } = options;
  const started = spawn(command, args, {
    env,
    ...(options.cwd ? { cwd: options.cwd } : {}),
    detached: true,
    stdio: ['ignore', output, output],
  });
  let gone = false;
  const exited = new Promise<Exit>((resolve) => {
    started.once('exit', (code, signal) => resolve({ code, signal }));
    started.once('error', (error) => resolve({ code: null, signal: null, error }));
  }).then((exit) => {
    gone = true;
    return exit;
  });
  await log?.close(); // The child has its own descriptor.
  if (started.pid === undefined) throw (await exited).error ?? new Error(`${command} did not start`);
  const pid = started.pid;

  async function stop(limitMs = STOP_LIMIT_MS) {
    if (!gone) started.kill('SIGTERM');
    const insist = setTimeout(() => signalGroup(pid, 'SIGKILL'), limitMs);
    await exited;
    clearTimeout(insist);
    // This ends the remaining processes of the group.
    signalGroup(pid, 'SIGKILL');
  }

  return { pid, process: started, exited, hasExited: () => gone, stop };
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no processes left.
  }
}

// Returns the last output lines of a program, for the message about its failed start.
export async function lastLines(logFile: string, count = 3): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

export function describeExit({ code, signal, error }: Exit): string {
  if (error) return error.message;
  return signal ? `ended by ${signal}` : `exit code ${code}`;
}

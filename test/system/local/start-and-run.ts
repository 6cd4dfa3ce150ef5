// Runs a supervisor as a process and waits for its output.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../../../deploy/local/banner.ts';
import { eventually } from '../../support/eventually.ts';
import { READY_LIMIT_MS } from '../../support/spawn-service.ts';

export const REAL = join(import.meta.dirname, '..', '..', '..', 'deploy', 'local', 'main.ts');
export const PRETENDED = join(import.meta.dirname, 'fixtures', 'system', 'main.ts');

export interface Start {
  child: ChildProcess;
  output(): string;
  exitCode: Promise<number | null>;
}

/** @param env added to ours, of which the variables that would select other stores are left out. */
export function start(main: string, args: string[], env: Record<string, string>): Start {
  const { MONGODB_URI: _uri, REDIS_URL: _url, npm_lifecycle_event: _event, ...rest } = process.env;
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...rest, PORT: '0', PORTAL_PORT: '0', NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  // "close" comes after the last output, "exit" may come before it.
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, exitCode };
}

/** Resolves when the banner is printed. @param formerSupervisor process id whose local.json does not count. */
export async function whenReady(started: Start, data: string, formerSupervisor?: number): Promise<Facts> {
  const ready = eventually(async () => {
    const facts = await factsIn(data);
    return facts.pids['supervisor'] !== formerSupervisor && started.output().includes('Ctrl-C') && facts;
  }, READY_LIMIT_MS).catch((cause) => {
    throw new Error(`it was not ready:\n${started.output()}`, { cause });
  });
  const ended = started.exitCode.then((code) => {
    throw new Error(`it ended with ${code}:\n${started.output()}`);
  });
  for (const promise of [ready, ended]) promise.catch(() => {}); // The result of the slower one is not needed.
  return await Promise.race([ready, ended]);
}

export async function factsIn(data: string): Promise<Facts> {
  return JSON.parse(await readFile(join(data, 'local.json'), 'utf8')) as Facts;
}

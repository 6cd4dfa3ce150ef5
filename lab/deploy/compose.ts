// The system that runs under compose, as the programs beside this one drive it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Where the gateway listens. */
export const API = `http://127.0.0.1:${process.env['PORT'] ?? 8080}`;

/** @returns what the program printed. @throws with what it said when it failed. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args);
  return stdout;
}

export function compose(...args: string[]): Promise<string> {
  return docker('compose', '-f', 'docker-compose.yml', '-f', 'lab/deploy/compose-trial.yml', ...args);
}

export function admin(...args: string[]): Promise<string> {
  return compose('run', '--rm', 'admin', ...args);
}

/** An account of its own. @returns its id and a key of it. */
export async function newAccount(): Promise<{ id: string; key: string }> {
  const { id } = JSON.parse(await admin('accounts', 'create', '--name', 'Studio North', '--json'));
  const { key } = JSON.parse(await admin('keys', 'create', '--account', id, '--json'));
  return { id, key };
}

export function say(what: string, detail = '') {
  process.stdout.write(`✓ ${what}${detail && `: ${detail}`}\n`);
}

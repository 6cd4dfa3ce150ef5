// Generators of clients from npm and PyPI, kept in the cache of this machine, apart from the dependencies of the project.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../deploy/backends/cache.ts';

const LIMIT_MS = 300_000;

/** Runs a program to its end. @throws an Error with all it wrote. */
export async function runTool(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const settings = { maxBuffer: 64 * 1024 * 1024, timeout: LIMIT_MS, ...options };
    const { stdout, stderr } = await promisify(execFile)(command, [...args], settings);
    return stdout + stderr;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

export type Tool = { folder: string } | { missing: string };

/** @returns the folder with these npm packages in its `node_modules`, or why there is none. */
export function npmTool(name: string, packages: readonly string[]): Promise<Tool> {
  return kept(name, async (folder) => {
    await runTool('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', ...packages]);
  });
}

/** @returns the folder with these PyPI packages, for PYTHONPATH, or why there is none. */
export function pythonTool(name: string, packages: readonly string[]): Promise<Tool> {
  return kept(name, async (folder) => {
    await runTool('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, ...packages]);
  });
}

/** @param name has the version: another one is another folder. */
async function kept(name: string, fill: (folder: string) => Promise<void>): Promise<Tool> {
  const root = cacheFolder(process.env);
  const folder = join(root, name);
  if (existsSync(folder)) return { folder };
  await mkdir(root, { recursive: true });
  const staging = await mkdtemp(join(root, `.${name}-`));
  try {
    await fill(staging);
    // Another process may have been faster: what it made is the same.
    await rename(staging, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
    return { folder };
  } catch (error) {
    const [first = ''] = String((error as Error).message).split('\n');
    return { missing: first };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

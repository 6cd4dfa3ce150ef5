// The last resort for Redis: compiled on this machine by redis-memory-server, which needs make, a C compiler and Redis' own download.
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Search } from './program.ts';

// Not a dependency of ours: its install script compiles at once, and `npm install` would fail wherever that fails.
export const COMPILER = { name: 'redis-memory-server', version: '0.17.1' } as const;
const REDIS_VERSION = '7.2.11'; // The newest of the last line under a BSD licence.
const INSTALL_LIMIT_MS = 2 * 60_000;
const COMPILE_LIMIT_MS = 15 * 60_000;
const execute = promisify(execFile);

const PROGRAM = `
const { default: RedisBinary } = require('redis-memory-server/lib/util/RedisBinary');
const [version, downloadDir] = process.argv.slice(1);
RedisBinary.getPath({ version, downloadDir }).then(
  (path) => process.stdout.write(path),
  (error) => { process.stderr.write(String(error.message)); process.exitCode = 1; },
);`;

// Puts a redis-server into `folder`.
export async function compileRedis(folder: string, search: Search): Promise<string> {
  const work = await mkdtemp(join(folder, 'compile-'));
  try {
    return await search.progress.during(`Compiling Redis ${REDIS_VERSION}`, 1, async () => {
      // Without a manifest of its own npm would look for one above.
      await writeFile(join(work, 'package.json'), '{ "private": true }');
      const install = [
        'install',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        `${COMPILER.name}@${COMPILER.version}`,
      ];
      await run('npm', install, INSTALL_LIMIT_MS);
      const made = await run(process.execPath, ['-e', PROGRAM, REDIS_VERSION, join(work, 'redis')], COMPILE_LIMIT_MS);
      await copyFile(made, join(folder, 'redis-server'));
      return 'redis-server';
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }

  async function run(command: string, args: string[], timeout: number): Promise<string> {
    try {
      return (await execute(command, args, { cwd: work, env: search.env, timeout })).stdout.trim();
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      if (code === 'ENOENT') throw new Error(`${command} is not there`);
      // npm says what it was in its first lines, and where its log is in the last.
      throw new Error(stderr?.trim().split('\n').slice(0, 2).join(' ') || String(error));
    }
  }
}

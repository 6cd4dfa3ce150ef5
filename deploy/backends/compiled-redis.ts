// The last resort for Redis: compiles its source, which needs tar, make and a C compiler.
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchFile } from './download.ts';
import type { Search } from './program.ts';

/** The newest patch of the last line under a BSD licence. */
export const COMPILED_VERSION = '7.2.11';
const NAME = `redis-${COMPILED_VERSION}`;
const COMPILE_LIMIT_MS = 15 * 60_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const execute = promisify(execFile);

// Puts a redis-server into `folder`.
export async function compileRedis(folder: string, search: Search): Promise<string> {
  const work = await mkdtemp(join(folder, 'compile-'));
  try {
    const archive = join(work, `${NAME}.tar.gz`);
    await fetchFile(`https://download.redis.io/releases/${NAME}.tar.gz`, archive, `Fetching ${NAME}`, search);
    await search.progress.during(`Compiling ${NAME}`, 1, async () => {
      await run('tar', ['-xzf', archive], work);
      // The C library's allocator is used, because compiling jemalloc would double the time.
      await run('make', ['-j', '2', 'MALLOC=libc', 'redis-server'], join(work, NAME, 'src'));
    });
    await copyFile(join(work, NAME, 'src', 'redis-server'), join(folder, 'redis-server'));
    return 'redis-server';
  } finally {
    await rm(work, { recursive: true, force: true });
  }

  async function run(command: string, args: string[], cwd: string): Promise<void> {
    const options = { cwd, env: search.env, timeout: COMPILE_LIMIT_MS, maxBuffer: OUTPUT_BYTES_MAX };
    try {
      await execute(command, args, options);
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      if (code === 'ENOENT') throw new Error(`${command} is not there`);
      throw new Error(stderr?.trim().split('\n').slice(-2).join(' ') || String(error));
    }
  }
}

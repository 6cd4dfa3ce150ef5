// A Redis with an append-only file that faults may kill, start again as it was, or start empty.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedis } from '../../../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../../../deploy/backends/start-redis.ts';

export interface KeptRedis {
  port: number;
  description: string;
  pid(): number;
  kill(): Promise<void>;
  /** SIGTERM: it writes its file to the end first. */
  stop(): Promise<void>;
  start(options?: { empty: boolean }): Promise<void>;
  /** Past the proxy. */
  command(...words: string[]): Promise<unknown>;
}

export async function startKeptRedis(folder: string, env: NodeJS.ProcessEnv, port: number): Promise<KeptRedis> {
  const { command, version } = await findRedis({ env: { ...env, REDIS_URL: '' } });
  const program = await unkillableByFullDisk(folder, command);
  const data = join(folder, 'redis');
  let running: RunningRedis = await startRedis({ command: program, folder: data, env, port });
  return {
    port,
    description: `Redis ${version} with an append-only file`,
    pid: () => running.pid,
    async kill() {
      running.child.process.kill('SIGKILL');
      await running.child.exited;
    },
    stop: () => running.stop(),
    async start({ empty } = { empty: false }) {
      if (empty) await rm(data, { recursive: true, force: true });
      running = await startRedis({ command: program, folder: data, env, port });
    },
    async command(...words) {
      const [name = '', ...rest] = words;
      const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => null, lazyConnect: true });
      redis.on('error', () => {}); // The command's own rejection says it.
      try {
        await redis.connect();
        return await redis.call(name, ...rest);
      } finally {
        redis.disconnect();
      }
    },
  };
}

/** A limit on the size of files stands for a full disk. By itself it would end the process; ignored, its writes fail. */
async function unkillableByFullDisk(folder: string, command: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const script = join(folder, 'redis-server.sh');
  await writeFile(script, `#!/bin/sh\ntrap '' XFSZ\nexec '${command}' "$@"\n`, { mode: 0o755 });
  return script;
}

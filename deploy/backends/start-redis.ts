// Starts a Redis that loses at most a second: append-only file, no eviction.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import getPort from 'get-port';
import { openRedis } from '#libs/redis/connection.ts';
import { type Child, describeExit, lastLines, startChild } from './child.ts';
import { Failure } from './failure.ts';

export interface RedisOptions {
  command: string;
  folder: string; // the data; made when it is not there
  env: NodeJS.ProcessEnv;
  port?: number; // the port of the last start when it is free, else any free one
  socketFolder?: string; // closed to others: listens on a socket in it and on no port, so that file permissions decide which users may connect
  logFile?: string;
  acl?: { text: string; url: (url: string) => string }; // an ACL file, and the address with a user that may run INFO
}

export interface RunningRedis {
  url: string;
  port: number; // 0 when it has none
  pid: number;
  child: Child;
  stop(): Promise<void>;
}

const READY_LIMIT_MS = 60_000; // A large append-only file is loaded first.
const RETRY_MS = 50;

export async function startRedis(options: RedisOptions): Promise<RunningRedis> {
  const { command, folder, env, logFile = join(options.folder, 'redis.log') } = options;
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  const place = await choosePlace(options);
  const args = [...place.args, '--dir', data, '--daemonize', 'no'];
  if (options.acl) args.push('--aclfile', await writeAcl(folder, options.acl.text));
  args.push('--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction');
  // Setting the process title would overwrite the environment that identifies orphans.
  args.push('--set-proc-title', 'no');

  const child = await startChild(command, args, { env, logFile });
  try {
    await answers(options.acl?.url(place.url) ?? place.url, child, logFile);
  } catch (error) {
    await child.stop();
    throw error;
  }
  if (place.port) await writeFile(join(folder, 'port'), `${place.port}\n`);
  return { url: place.url, port: place.port, pid: child.pid, child, stop: () => child.stop() };
}

async function writeAcl(folder: string, text: string): Promise<string> {
  const file = join(folder, 'users.acl');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

async function choosePlace({ socketFolder, folder, port: wanted }: RedisOptions) {
  if (socketFolder) {
    const path = join(socketFolder, 'redis.sock');
    const args = ['--port', '0', '--unixsocket', path, '--unixsocketperm', '600'];
    return { url: `unix://${path}`, port: 0, args };
  }
  const port = wanted ?? (await rememberedPort(folder));
  return { url: `redis://127.0.0.1:${port}`, port, args: ['--port', String(port), '--bind', '127.0.0.1'] };
}

async function rememberedPort(folder: string): Promise<number> {
  const last = Number(await readFile(join(folder, 'port'), 'utf8').catch(() => Number.NaN));
  return await getPort({ host: '127.0.0.1', ...(Number.isInteger(last) ? { port: last } : {}) });
}

async function answers(url: string, child: Child, logFile: string) {
  // ioredis waits until the data is loaded.
  const redis = openRedis(url, { retryStrategy: () => RETRY_MS, maxRetriesPerRequest: null });
  redis.on('error', () => {}); // Connections fail until it listens; the deadline below decides.
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Failure(`redis-server was not ready after ${READY_LIMIT_MS / 1000} s, see ${logFile}`)),
    READY_LIMIT_MS,
  );
  const died = child.exited.then(async (exit) => {
    throw new Failure(
      `redis-server did not start (${describeExit(exit)}), see ${logFile}\n${await lastLines(logFile)}`,
    );
  });
  died.catch(() => {}); // It also ends at a regular stop, long after this.
  try {
    const server = await Promise.race([redis.info('server'), died, late.promise]);
    // If the port is taken, another Redis responds, and the one started here ends a moment later.
    if (!server.includes(`process_id:${child.pid}\r\n`)) await Promise.race([died, late.promise]);
  } finally {
    clearTimeout(timer);
    redis.disconnect();
  }
}

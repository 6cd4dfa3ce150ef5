// Connections to Redis: one kind fails fast, for waiting callers; the other retries without a limit, for workers.
import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';
import { ConfigError } from '../service/config-error.ts';
import type { Logger } from '../service/logger.ts';
import { withTimeout } from '../with-timeout.ts';

export type { Redis };

/** How long one command may take before it fails because Redis is unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
/** A packet to a pod or node that has just gone is lost without an answer: the attempt ends and the next one begins. */
const CONNECT_TIMEOUT_MS = 2_000;
/** A connection whose commands get no answer for so long is replaced: TCP alone would wait as long again as the network was gone. */
const SILENCE_MS = 2_000;
/** The same for workers, whose blocking reads wait up to ten seconds for a job. */
const WORKER_SILENCE_MS = 15_000;
/** An idle subscriber sends nothing that could get no answer: the kernel asks for it after so long, and gives up ten seconds later. */
const KEEP_ALIVE_MS = 5_000;
/** A service that waits for Redis is ready this long after it at the most. Each try is one refused packet. */
const RECONNECT_MAX_MS = 250;

/** A Unix socket in the form of redis-py and others. ioredis itself accepts only the two TCP schemes. */
const SOCKET_URL = /^unix:\/\/(?:([^:@/]*):([^:@/]*)@)?(\/[^?#]*)(?:\?db=(\d+))?$/;

const reconnect = { retryStrategy: (times: number) => Math.min(times * 50, RECONNECT_MAX_MS) };

/**
 * For work with a waiting caller: no offline queue, one try, 1 s per command. Rejects while Redis is unavailable and recovers by itself.
 * Connects in the background; `redis.status` shows when it is ready.
 */
export function connectFailFast(url: string, log: Logger): Redis {
  const redis = openRedis(url, {
    ...reconnect,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
  });
  return watched(url, limitCommands(redis, COMMAND_TIMEOUT_MS), log);
}

/**
 * For workers and subscribers: commands wait until Redis is available, as BullMQ's blocking reads require.
 * @param silenceMs after so long without an answer the connection is replaced.
 */
export function connectWaiting(url: string, log: Logger, silenceMs = WORKER_SILENCE_MS): Redis {
  return watched(
    url,
    openRedis(url, {
      ...reconnect,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      socketTimeout: silenceMs,
    }),
    log,
  );
}

export interface ConnectionOptions {
  retryStrategy?: (times: number) => number | null;
  maxRetriesPerRequest?: number | null;
  enableOfflineQueue?: boolean;
  connectTimeout?: number;
  /** By default INFO tells whether the data is loaded. */
  enableReadyCheck?: boolean;
  socketTimeout?: number;
}

/** Without CLIENT SETINFO, which the users of the services may not send: Redis would log a rejected command for every connection. */
const COMMON_OPTIONS = { disableClientInfo: true, keepAlive: KEEP_ALIVE_MS } as const;

/** @param url `redis://`, `rediss://`, or `unix://[user:password@]/path/of/the.sock[?db=0]`. */
export function openRedis(url: string, options: ConnectionOptions = {}): Redis {
  const [, username, password, path, db] = SOCKET_URL.exec(url) ?? [];
  if (path === undefined) return new Redis(url, { ...COMMON_OPTIONS, ...options });
  const user = username ? { username: decodeURIComponent(username) } : {};
  const secret = password ? { password: decodeURIComponent(password) } : {};
  return new Redis({
    ...COMMON_OPTIONS,
    ...options,
    ...user,
    ...secret,
    path: decodeURIComponent(path),
    db: Number(db ?? 0),
  });
}

/** Resolves when the connection is ready, rejects after `limitMs`. */
export async function whenReady(redis: Redis, limitMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  redis.once('ready', resolve);
  try {
    await withTimeout(limitMs, ready, { error: () => new Error(`Redis was not ready within ${limitMs} ms`) });
  } finally {
    redis.off('ready', resolve);
  }
}

/**
 * For the start of a service: resolves once the connection is ready, however long that takes.
 * @param limitMs resolves after this time in any case, for a service that can run without Redis.
 * @throws ConfigError when Redis rejects the credentials of REDIS_URL, which waiting cannot repair.
 */
export async function whenAvailable(redis: Redis, limitMs?: number): Promise<void> {
  if (redis.status === 'ready') return;
  const limit = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs);
  await new Promise<void>((resolve, reject) => {
    const settle = (finish: () => void) => {
      redis.off('ready', onReady).off('error', onError);
      limit?.removeEventListener('abort', onReady);
      finish();
    };
    const onReady = () => settle(resolve);
    const onError = ({ message }: Error) => {
      const [code = ''] = REJECTED.exec(message) ?? [];
      if (code === '') return;
      const problem = `REDIS_URL: Redis rejects its user name or password (${code})`;
      settle(() => reject(new ConfigError([problem])));
    };
    redis.on('ready', onReady).on('error', onError);
    limit?.addEventListener('abort', onReady);
  });
}

/** How Redis responds to missing and to wrong credentials. */
const REJECTED = /^(WRONGPASS|NOAUTH|ERR invalid password)/;

/** The lost connections of this process, by URL, so that one outage is one log line and not one per connection. */
const unavailable = new Map<string, Set<Redis>>();

// Without an error listener an unreachable Redis would crash the process.
function watched(url: string, redis: Redis, log: Logger): Redis {
  const lost = unavailable.get(url) ?? new Set();
  unavailable.set(url, lost);
  redis.on('error', (error: Error) => {
    if (lost.size === 0) log.warn({ err: error }, 'redis is unavailable');
    lost.add(redis);
  });
  redis.on('connect', () => batchWrites(redis));
  redis.on('ready', () => {
    if (lost.delete(redis) && lost.size === 0) log.info('redis is available');
  });
  redis.on('end', () => lost.delete(redis));
  return redis;
}

/**
 * Rejects commands that have no answer after `limitMs`. After a pause of this process the timers are due before the socket is read:
 * unlike ioredis's own commandTimeout this one reads first, because the answer is there.
 */
function limitCommands(redis: Redis, limitMs: number): Redis {
  const send = redis.sendCommand;
  redis.sendCommand = (command, stream) => {
    const fail = () => command.reject(new Error('Command timed out'));
    const timer = setTimeout(() => setImmediate(fail), limitMs);
    const stop = () => clearTimeout(timer);
    command.promise.then(stop, stop);
    return send.call(redis, command, stream);
  };
  return redis;
}

/** Batches the commands of one event-loop turn into one write. Otherwise each costs a system call and wakes Redis. */
function batchWrites({ stream }: { stream?: Duplex }): void {
  if (!stream) return;
  const write = stream.write;
  let isCorked = false;
  stream.write = ((...args: Parameters<typeof write>) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    return write.apply(stream, args);
  }) as typeof write;
}

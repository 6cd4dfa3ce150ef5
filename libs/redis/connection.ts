// Connections to Redis. One kind fails fast, for waiting callers; the other retries without a limit, for workers.
import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';
import { ConfigError } from '../service/config-error.ts';
import type { Logger } from '../service/logger.ts';
import { withTimeout } from '../with-timeout.ts';

export type { Redis };

/** The time that one command may take before it fails because Redis is unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
/** The time of one attempt to connect. A packet to a pod or node that has just gone is lost without an answer. */
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * The time without an answer after which a connection is replaced. TCP alone would wait as long again as the network
 * was gone.
 */
const SILENCE_MS = 2_000;
/** The same limit for workers, whose blocking reads wait up to ten seconds for a job. */
const WORKER_SILENCE_MS = 15_000;
/**
 * The idle time after which the kernel probes a subscriber's connection, which sends nothing that could get an answer.
 * It gives up ten seconds later.
 */
const KEEP_ALIVE_MS = 5_000;
/**
 * The longest pause between two tries, so that a waiting service is ready soon after Redis is. Each try is one refused
 * packet.
 */
const RECONNECT_MAX_MS = 250;

/** A Unix socket in the form of redis-py and others. ioredis itself accepts only the two TCP schemes. */
const SOCKET_URL = /^unix:\/\/(?:([^:@/]*):([^:@/]*)@)?(\/[^?#]*)(?:\?db=(\d+))?$/;

const reconnect = { retryStrategy: (times: number) => Math.min(times * 50, RECONNECT_MAX_MS) };

/**
 * Connects for work with a waiting caller: no offline queue, one try, 1 s per command. Commands reject while Redis is
 * unavailable, and the connection recovers by itself. It connects in the background; `redis.status` shows when it is
 * ready.
 * @param name of the connection, see processes.ts.
 */
export function connectFailFast(url: string, log: Logger, name?: string): Redis {
  const redis = openRedis(url, {
    ...reconnect,
    ...(name ? { connectionName: name } : {}),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MS,
  });
  return watched(url, limitCommands(redis, COMMAND_TIMEOUT_MS), log);
}

/**
 * Connects for workers and subscribers: commands wait until Redis is available, as BullMQ's blocking reads require.
 * @param silenceMs the time without an answer after which the connection is replaced.
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
  /** INFO tells if the data is loaded. By default it is asked. */
  enableReadyCheck?: boolean;
  socketTimeout?: number;
  connectionName?: string;
}

/**
 * CLIENT SETINFO is off, because the users of the services may not send it: Redis would log a rejected command for
 * every connection.
 */
const COMMON_OPTIONS = { disableClientInfo: true, keepAlive: KEEP_ALIVE_MS } as const;

/** Opens a connection. @param url `redis://`, `rediss://`, or `unix://[user:password@]/path/of/the.sock[?db=0]`. */
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

/** Resolves when the connection is ready. Rejects after `limitMs`. */
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

/** The tries after which a service that can run without Redis starts. One try may be lost to a pause of the process. */
const TRIES = 2;
/**
 * The same for a Redis that loads its data, which accepts a connection and keeps it, and so no try ends: this many turns
 * of the event loop, a tenth of a second apart. Each turn reads what has come, so a pause of the process is one turn.
 */
const TURNS = 50;
const TURN_MS = 100;

/**
 * Waits for Redis at the start of a service, however long that takes.
 * @throws ConfigError when Redis rejects the credentials of REDIS_URL, which waiting cannot repair.
 */
export async function whenAvailable(redis: Redis): Promise<void> {
  await untilAccepted(redis);
}

/**
 * Waits at the start of a service that can run without Redis until Redis is available, or two tries to connect failed.
 * It counts tries, because a time may pass in a pause of the process, before the answer of Redis is read.
 * @throws ConfigError when Redis rejects the credentials of REDIS_URL.
 */
export async function whenTried(redis: Redis): Promise<void> {
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  let failed = 0;
  const onClose = () => {
    failed += 1;
    if (failed === TRIES) resolve();
  };
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
    if (turns === TURNS) resolve();
  }, TURN_MS);
  redis.on('close', onClose);
  await untilAccepted(redis, tried).finally(() => {
    clearInterval(timer);
    redis.off('close', onClose);
  });
}

async function untilAccepted(redis: Redis, givenUp?: Promise<void>): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise: accepted, resolve, reject } = Promise.withResolvers<void>();
  const onError = ({ message }: Error) => {
    const [code = ''] = REJECTED.exec(message) ?? [];
    if (code !== '') reject(new ConfigError([`REDIS_URL: Redis rejects its user name or password (${code})`]));
  };
  redis.on('ready', resolve).on('error', onError);
  try {
    await (givenUp ? Promise.race([accepted, givenUp]) : accepted);
  } finally {
    redis.off('ready', resolve).off('error', onError);
  }
}

/** The responses of Redis to absent and to wrong credentials. */
const REJECTED = /^(WRONGPASS|NOAUTH|ERR invalid password)/;

/** The lost connections of this process by URL, so that one outage is one log line and not one per connection. */
const unavailable = new Map<string, Set<Redis>>();

// The error listener keeps an unreachable Redis from crashing the process.
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
 * Rejects commands that have no answer after `limitMs`. After a pause of the process its timers are due before the
 * socket is read. Unlike ioredis's own commandTimeout this one reads first, because the answer may be there.
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

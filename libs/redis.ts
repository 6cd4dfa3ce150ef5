// Connections to Redis in the two manners the system needs: fail at once, or wait for ever.
import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';
import type { Logger } from './logger.ts';

export type { Redis };

/** How long one command may take before the caller is told that Redis is away. */
const COMMAND_TIMEOUT_MS = 1_000;
const RECONNECT_MAX_MS = 1_000;

const reconnect = { retryStrategy: (times: number) => Math.min(times * 50, RECONNECT_MAX_MS) };

/**
 * For work that somebody waits for: no offline queue, one try, 1 s per command. Rejects while Redis is away and recovers by itself.
 * Opens in the background: `redis.status` tells when it is ready.
 */
export function connectImpatient(url: string, log: Logger): Redis {
  return watched(
    new Redis(url, {
      ...reconnect,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: COMMAND_TIMEOUT_MS,
    }),
    log,
  );
}

/** For workers and subscribers: commands wait until Redis is back, which BullMQ's blocking reads require. */
export function connectPatient(url: string, log: Logger): Redis {
  return watched(new Redis(url, { ...reconnect, maxRetriesPerRequest: null }), log);
}

/** Resolves when the connection is ready, rejects after `limitMs`. */
export async function whenReady(redis: Redis, limitMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    const onReady = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      redis.off('ready', onReady);
      reject(new Error(`Redis was not ready within ${limitMs} ms`));
    }, limitMs);
    redis.once('ready', onReady);
  });
}

// Without a listener an unreachable Redis would end the process; one line per outage is enough.
function watched(redis: Redis, log: Logger): Redis {
  let isAway = false;
  redis.on('error', (error: Error) => {
    if (!isAway) log.warn({ err: error }, 'redis is away');
    isAway = true;
  });
  redis.on('connect', () => sendTogether(redis));
  redis.on('ready', () => {
    if (isAway) log.info('redis is back');
    isAway = false;
  });
  return redis;
}

/** Commands given in the same turn of the event loop leave in one write: by itself each costs a system call and wakes Redis up. */
function sendTogether({ stream }: { stream?: Duplex }): void {
  if (!stream) return;
  const write = stream.write;
  let isHeld = false;
  stream.write = ((...args: Parameters<typeof write>) => {
    if (!isHeld) {
      isHeld = true;
      stream.cork();
      process.nextTick(() => {
        isHeld = false;
        stream.uncork();
      });
    }
    return write.apply(stream, args);
  }) as typeof write;
}

// Counts for the rate limits in Redis, fetched in batches: one round trip serves many requests, and all gateways share the sum.
import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { Redis } from '#libs/redis/connection.ts';
import { withTimeout } from '#libs/with-timeout.ts';

/** Pause after a failure, so that a Redis that hangs costs one wait per second, not one per request. */
const PAUSE_MS = 1_000;

interface Batch {
  /** The sum before this batch's next hit. */
  counted: number;
  left: number;
  resetTime: Date;
}

/**
 * A store for express-rate-limit.
 * @param options.batch hits fetched at once: with n gateways a key may be rejected up to n × batch hits early, never late.
 * @param options.readLimitMs a request waits at most this long for its count; one whose count cannot be read passes.
 */
export function batchedCounter(options: {
  redis: Redis;
  prefix: string;
  windowMs: number;
  batch: number;
  readLimitMs: number;
}): Store {
  const { redis, prefix, windowMs, batch, readLimitMs } = options;
  const batches = new LRUCache<string, Batch>({ max: 50_000 });
  const fetching = new Map<string, Promise<void>>();
  let pausedUntil = 0;

  async function fetchBatch(key: string): Promise<void> {
    if (redis.status !== 'ready' || performance.now() < pausedUntil) throw new Error('the rate limits cannot be read');
    try {
      const replies = await withTimeout(
        readLimitMs,
        redis.multi().set(key, 0, 'PX', windowMs, 'NX').incrby(key, batch).pttl(key).exec(),
      );
      const [, [error, sum] = [], [, ttlMs] = []] = replies ?? [];
      if (error) throw error;
      // A window without an end was not made here and would last for ever: a new one begins.
      const isEndless = Number(ttlMs) < 0;
      if (isEndless) await withTimeout(readLimitMs, redis.set(key, batch, 'PX', windowMs));
      const resetTime = new Date(Date.now() + (isEndless ? windowMs : Number(ttlMs)));
      batches.set(key, { counted: isEndless ? 0 : Number(sum) - batch, left: batch, resetTime });
    } catch (error) {
      pausedUntil = performance.now() + PAUSE_MS;
      throw error;
    }
  }

  return {
    prefix,
    async increment(name): Promise<ClientRateLimitInfo> {
      const key = prefix + name;
      for (;;) {
        const known = batches.get(key);
        if (known && known.left > 0 && Date.now() < known.resetTime.getTime()) {
          known.left -= 1;
          known.counted += 1;
          return { totalHits: known.counted, resetTime: known.resetTime };
        }
        let running = fetching.get(key);
        if (!running) {
          running = fetchBatch(key).finally(() => fetching.delete(key));
          fetching.set(key, running);
        }
        await running;
      }
    },
    decrement(name) {
      const known = batches.get(prefix + name);
      if (!known || Date.now() >= known.resetTime.getTime()) return;
      known.left += 1;
      known.counted -= 1;
    },
    // express-rate-limit calls it only for options that are not used here.
    resetKey: async (name) => void (await redis.del(prefix + name)),
  };
}

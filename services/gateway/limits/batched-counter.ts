// Counts for the rate limits in Redis, fetched in portions: one round trip serves many requests, and all gateways share the sum.
import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import { LRUCache } from 'lru-cache';
import type { Redis } from '#libs/redis/connection.ts';
import { withTimeout } from '#libs/with-timeout.ts';

/** A request waits no longer for its count: a limit that cannot be asked lets it pass. */
const ANSWER_LIMIT_MS = 100;
/** After a failure the limit is not asked for so long, so that a Redis that hangs costs one wait per second, not one per request. */
const REST_MS = 1_000;

interface Portion {
  /** What the sum was before this portion's next hit. */
  counted: number;
  left: number;
  resetTime: Date;
}

/**
 * A store for express-rate-limit.
 * @param options.portion hits fetched at once: with n gateways a key may be refused up to n × portion hits early, never late.
 */
export function batchedCounter(options: { redis: Redis; prefix: string; windowMs: number; portion: number }): Store {
  const { redis, prefix, windowMs, portion } = options;
  const portions = new LRUCache<string, Portion>({ max: 50_000 });
  const fetching = new Map<string, Promise<void>>();
  let restsUntil = 0;

  async function fetchPortion(key: string): Promise<void> {
    if (redis.status !== 'ready' || performance.now() < restsUntil) throw new Error('the rate limits cannot be asked');
    try {
      const replies = await withTimeout(
        ANSWER_LIMIT_MS,
        redis.multi().set(key, 0, 'PX', windowMs, 'NX').incrby(key, portion).pttl(key).exec(),
      );
      const [, [, sum] = [], [, ttlMs] = []] = replies ?? [];
      const resetTime = new Date(Date.now() + Math.max(0, Number(ttlMs)));
      portions.set(key, { counted: Number(sum) - portion, left: portion, resetTime });
    } catch (error) {
      restsUntil = performance.now() + REST_MS;
      throw error;
    }
  }

  return {
    prefix,
    async increment(name): Promise<ClientRateLimitInfo> {
      const key = prefix + name;
      for (;;) {
        const known = portions.get(key);
        if (known && known.left > 0 && Date.now() < known.resetTime.getTime()) {
          known.left -= 1;
          known.counted += 1;
          return { totalHits: known.counted, resetTime: known.resetTime };
        }
        let running = fetching.get(key);
        if (!running) {
          running = fetchPortion(key).finally(() => fetching.delete(key));
          fetching.set(key, running);
        }
        await running;
      }
    },
    decrement(name) {
      const known = portions.get(prefix + name);
      if (!known || Date.now() >= known.resetTime.getTime()) return;
      known.left += 1;
      known.counted -= 1;
    },
    // Only asked by options that are not used here.
    resetKey: async (name) => void (await redis.del(prefix + name)),
  };
}

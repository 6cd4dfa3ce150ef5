// A part of a job's payload that Redis keeps in memory alone: it is never written to the append-only file, nor sent to a replica.
// After a restart or a failover the job is there without it; the gateway that waits for the job enqueues both again.
import type { Redis } from '../redis/connection.ts';

/** How long after its deadline it may still be asked for: by a worker that is late with the last attempt. */
const GRACE_MS = 60_000;

/**
 * Begins a script whose writes are for memory alone. Redis 6.2 lets a script choose only after `replicate_commands`; later versions
 * always do. A service that knows neither saves the writes, as it saves everything.
 */
export const MEMORY_ONLY = 'pcall(redis.replicate_commands) pcall(redis.set_repl, redis.REPL_NONE)';
const KEEP = `${MEMORY_ONLY} redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`;

/** @param until milliseconds since the epoch after which it is not needed. */
export async function keepUnsaved(redis: Redis, key: string, value: unknown, until: number): Promise<void> {
  const lifeMs = Math.max(0, until - Date.now()) + GRACE_MS;
  await redis.eval(KEEP, 1, key, JSON.stringify(value), Math.round(lifeMs));
}

/** @returns undefined when Redis has lost it. */
export async function readUnsaved(redis: Redis, key: string): Promise<unknown> {
  const text = await redis.get(key);
  return text === null ? undefined : JSON.parse(text);
}

export const unsavedKey = (prefix: string, queue: string, id: string) => `${prefix}:unsaved:${queue}:${id}`;

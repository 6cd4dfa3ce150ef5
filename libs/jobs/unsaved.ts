// Keeps one field of a job in the memory of Redis only: it is neither written to the append-only file nor sent to a
// replica. After a restart or failover the job exists without it, and the gateway that waits for the job enqueues both
// again.
import { agreedTime } from '../clock.ts';
import type { Redis } from '../redis/connection.ts';

/** The time after the deadline during which a late worker may still read the field. */
const GRACE_MS = 60_000;

/**
 * The start of a script whose writes stay in memory. Redis 6.2 permits this only after `replicate_commands`, later
 * versions always. A compatible server without these commands saves the writes.
 */
export const MEMORY_ONLY = 'pcall(redis.replicate_commands) pcall(redis.set_repl, redis.REPL_NONE)';
const KEEP = `${MEMORY_ONLY} redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`;

/** Stores the field. @param until milliseconds since the epoch, by the agreed clock, after which it is not needed. */
export async function keepUnsaved(redis: Redis, key: string, value: unknown, until: number): Promise<void> {
  const lifeMs = Math.max(0, until - agreedTime()) + GRACE_MS;
  await redis.eval(KEEP, 1, key, JSON.stringify(value), Math.round(lifeMs));
}

/** Returns the field, or undefined when Redis no longer has it. */
export async function readUnsaved(redis: Redis, key: string): Promise<unknown> {
  const text = await redis.get(key);
  return text === null ? undefined : JSON.parse(text);
}

export const unsavedKey = (prefix: string, queue: string, id: string) => `${prefix}:unsaved:${queue}:${id}`;

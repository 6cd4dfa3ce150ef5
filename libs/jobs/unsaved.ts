// A part of a job's payload that Redis keeps in memory alone: it is never written to the append-only file, nor sent to a replica.
// After a restart or a failover the job is there without it; whoever waits for the job puts both in again.
import type { Redis } from '../redis.ts';

/** How long after its deadline it may still be asked for: by a worker that is late with the last attempt. */
const GRACE_MS = 60_000;

/**
 * Redis 6.2 lets a script choose only after `replicate_commands`; later ones always do. A service that knows neither saves it, as it
 * saves everything.
 */
const NOT_SAVED = 'pcall(redis.replicate_commands) pcall(redis.set_repl, redis.REPL_NONE)';
const KEEP = `${NOT_SAVED} redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`;

/** @param until milliseconds since the epoch after which nobody needs it. */
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

/** What a script begins with whose writes are for memory alone. */
export const MEMORY_ONLY = NOT_SAVED;

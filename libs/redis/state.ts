// Reads the state of Redis that the system depends on.
import type { Redis } from './connection.ts';

export interface RedisState {
  /** The version of Redis that the server is compatible with. */
  version: string;
  /** The server's own version, which differs for Valkey. */
  serverVersion: string;
  isValkey: boolean;
  /** The eviction policy. It must be `noeviction`: with any other Redis deletes jobs when it is full. */
  policy: string;
  usedBytes: number;
  /** The memory limit. 0 means no limit. */
  maxBytes: number;
  isAppendOnly: boolean;
  clients: number;
  /** The offset of its clock from this one, corrected by half of the round trip. Positive when it is ahead. */
  clockAheadMs: number;
  roundTripMs: number;
}

/** BullMQ's minimum version. */
export const REDIS_MIN_VERSION = '6.2';

/** Reads the state with TIME and INFO. @throws when Redis does not answer. */
export async function readRedisState(redis: Redis): Promise<RedisState> {
  const startedAt = Date.now();
  const [seconds, microseconds] = await redis.time();
  const roundTripMs = Date.now() - startedAt;
  const info = fieldsOf(await redis.info());
  const number = (name: string) => Number(info.get(name) ?? 0);
  const version = info.get('redis_version') ?? 'unknown';
  return {
    serverVersion: info.get('valkey_version') ?? version,
    isValkey: info.has('valkey_version'),
    version,
    policy: info.get('maxmemory_policy') ?? 'unknown',
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
    isAppendOnly: info.get('aof_enabled') === '1',
    clients: number('connected_clients'),
    clockAheadMs: Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - startedAt - roundTripMs / 2),
    roundTripMs,
  };
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(
    info
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}

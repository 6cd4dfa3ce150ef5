// Reads the state of Redis that the system depends on, server by server.
import { isCluster, nodeName, type Redis, type Server } from './connection.ts';

export interface RedisState {
  /** `Redis`, or `Redis HOST:PORT` for a server of a cluster. */
  name: string;
  isPrimary: boolean;
  /** The replicas that are connected to it. */
  replicas: number;
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

/** Reads the state of each primary, and of each replica of a cluster that answers. @throws when a primary does not. */
export async function readRedisStates(redis: Redis): Promise<RedisState[]> {
  if (!isCluster(redis)) return [await readServer(redis, 'Redis')];
  const read = (server: Server) => readServer(server, `Redis ${nodeName(server)}`);
  const primaries = await Promise.all(redis.nodes('master').map(read));
  const replicas = await Promise.allSettled(redis.nodes('slave').map(read));
  return [...primaries, ...replicas.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))];
}

/** Reads the state with TIME and INFO. */
async function readServer(redis: Server, name: string): Promise<RedisState> {
  const startedAt = Date.now();
  const [seconds, microseconds] = await redis.time();
  const roundTripMs = Date.now() - startedAt;
  const info = fieldsOf(await redis.info());
  const number = (name: string) => Number(info.get(name) ?? 0);
  const version = info.get('redis_version') ?? 'unknown';
  return {
    name,
    isPrimary: info.get('role') !== 'slave',
    replicas: number('connected_slaves'),
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

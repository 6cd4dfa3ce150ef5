// Connections to Redis. One kind fails fast, for waiting callers; the other retries without a limit, for workers.
import type { Duplex } from 'node:stream';
import { Cluster, type ClusterOptions, type RedisOptions, Redis as Server } from 'ioredis';
import { ConfigError } from '../service/config-error.ts';
import type { Logger } from '../service/logger.ts';
import { TimeoutError, withTimeout } from '../with-timeout.ts';
import { type Host, readRedisUrl } from './address.ts';

/** One server, the primary that Sentinel names, or a whole cluster. */
export type Redis = Server | Cluster;
export type { Server };

/** The time that one command may take before it fails because Redis is unavailable. */
const COMMAND_TIMEOUT_MS = 1_000;
/** The time of one attempt to connect. A packet to a pod or node that has just gone is lost without an answer. */
const CONNECT_TIMEOUT_MS = 2_000;
/**
 * The time without an answer after which a connection is replaced. TCP alone would wait as long again as the network
 * was gone.
 */
const SILENCE_MS = 2_000;
/** The same limit for workers, which lose nothing by waiting, and a tried command is sent again. */
const WORKER_SILENCE_MS = 5_000;
/** The same limit for blocking reads of workers, which wait up to ten seconds for a job. */
const BLOCKING_SILENCE_MS = 15_000;
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

/** The interval at which a cluster's client reads which node has which slots, besides when a node tells it to. */
const SLOTS_EVERY_MS = 5_000;
/** The same for workers, whose blocking reads notice a silent primary late. */
const WORKER_SLOTS_EVERY_MS = 2_000;
/**
 * The most redirects and tries, a tenth of a second apart, of a worker's command in a cluster. They outlast any failover,
 * as a command for a single Redis does.
 */
const WORKER_REDIRECTS_MAX = 1_000;

/** A server that was demoted answers so until it closes the connection. */
const isDemoted = ({ message }: Error) => message.startsWith('READONLY');

const reconnect = {
  reconnectOnError: isDemoted,
  retryStrategy: (times: number) => Math.min(times * 50, RECONNECT_MAX_MS),
};

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

/** Options of connections whose commands wait until Redis is available, as BullMQ's blocking reads require. */
const waiting = { ...reconnect, connectTimeout: CONNECT_TIMEOUT_MS, maxRetriesPerRequest: null };

/**
 * Connects for a worker.
 * @param silenceMs the time without an answer after which the connection is replaced.
 */
export function connectWorker(url: string, log: Logger, silenceMs = WORKER_SILENCE_MS): Redis {
  const redis = openRedis(url, { ...waiting, socketTimeout: silenceMs });
  keepBlockingReads(redis);
  return watched(url, redis, log);
}

/** BullMQ duplicates the connection of a worker for its blocking reads, which are silent for longer. */
function keepBlockingReads(redis: Redis) {
  const socketTimeout = BLOCKING_SILENCE_MS;
  const { duplicate } = redis as { duplicate: (...args: unknown[]) => unknown };
  const own = isCluster(redis)
    ? (nodes: unknown, options: ClusterOptions = {}) =>
        duplicate.call(redis, nodes, { ...options, redisOptions: { ...options.redisOptions, socketTimeout } })
    : (options: RedisOptions = {}) => duplicate.call(redis, { ...options, socketTimeout });
  Object.assign(redis, { duplicate: own });
}

/**
 * Connects to subscribe to channels. In a cluster one server is enough, because each tells all others what is published:
 * the next host of the address is tried whenever the connection is lost.
 */
export function connectSubscriber(url: string, log: Logger): Redis {
  const { address } = readRedisUrl(url);
  if (address?.kind !== 'cluster') return watched(url, openRedis(url, waiting), log);
  const { hosts, isTls, kind: _kind, ...login } = address;
  const next = Math.floor(Math.random() * hosts.length);
  const redis = new Server({
    ...COMMON_OPTIONS,
    ...waiting,
    ...hosts[next],
    ...login,
    ...(isTls ? { tls: {} } : {}),
    retryStrategy(times) {
      Object.assign(redis.options, hosts[(next + times) % hosts.length]);
      return reconnect.retryStrategy(times);
    },
  });
  return watched(url, redis, log);
}

export interface ConnectionOptions {
  retryStrategy?: (times: number) => number | null;
  reconnectOnError?: (error: Error) => boolean;
  maxRetriesPerRequest?: number | null;
  enableOfflineQueue?: boolean;
  connectTimeout?: number;
  /** INFO tells if the data is loaded. By default it is asked. */
  enableReadyCheck?: boolean;
  socketTimeout?: number;
  connectionName?: string;
  /** True to connect with the first command. */
  lazyConnect?: boolean;
}

/**
 * CLIENT SETINFO is off, because the users of the services may not send it: Redis would log a rejected command for
 * every connection.
 */
const COMMON_OPTIONS = { disableClientInfo: true, keepAlive: KEEP_ALIVE_MS } as const;

/** Opens a connection. @param url see readRedisUrl. @throws ConfigError for another form. */
export function openRedis(url: string, options: ConnectionOptions = {}): Redis {
  const { address, problems } = readRedisUrl(url);
  if (!address) throw new ConfigError(problems.map((problem) => `REDIS_URL ${problem}`));
  const common = { ...COMMON_OPTIONS, ...options };
  switch (address.kind) {
    case 'single':
      return new Server(address.url, common);
    case 'socket': {
      const { kind: _kind, ...place } = address;
      return new Server({ ...common, ...place });
    }
    case 'sentinel': {
      const { kind: _kind, hosts, isTls, sentinel, ...primary } = address;
      const { username, password } = sentinel;
      return new Server({
        ...common,
        ...primary,
        sentinels: hosts,
        ...(username ? { sentinelUsername: username } : {}),
        ...(password ? { sentinelPassword: password } : {}),
        sentinelRetryStrategy: reconnect.retryStrategy,
        // A sentinel that hangs accepts a connection and never answers.
        sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
        ...(isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
      });
    }
    case 'cluster': {
      const { kind: _kind, hosts, isTls, ...login } = address;
      return openCluster(hosts, { ...common, ...login, ...(isTls ? { tls: {} } : {}) });
    }
  }
}

function openCluster(
  hosts: Host[],
  {
    retryStrategy,
    enableOfflineQueue = true,
    lazyConnect = false,
    ...redisOptions
  }: ConnectionOptions & Pick<RedisOptions, 'username' | 'password' | 'tls'>,
) {
  return new Cluster(hosts, {
    redisOptions,
    enableOfflineQueue,
    lazyConnect,
    ...(retryStrategy ? { clusterRetryStrategy: (times) => retryStrategy(times) ?? null } : {}),
    ...(enableOfflineQueue ? { maxRedirections: WORKER_REDIRECTS_MAX } : {}),
    slotsRefreshTimeout: COMMAND_TIMEOUT_MS,
    slotsRefreshInterval: enableOfflineQueue ? WORKER_SLOTS_EVERY_MS : SLOTS_EVERY_MS,
    // A certificate names hosts, so names are left for the connection to resolve.
    dnsLookup: (name, callback) => callback(null, name),
  });
}

export function isCluster(redis: Redis): redis is Cluster {
  return redis instanceof Cluster;
}

/** True where Sentinel or a cluster replaces a lost primary. */
export function failsOver(redis: Redis): boolean {
  return isCluster(redis) || (redis.options.sentinels ?? []).length > 0;
}

/** Returns a connection for each primary that is known now: one, unless Redis is a cluster. */
export function primariesOf(redis: Redis): Server[] {
  return isCluster(redis) ? redis.nodes('master') : [redis];
}

/** Returns `host:port` of a server. */
export function nodeName({ options: { host, port } }: Server): string {
  return `${host}:${port}`;
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
  redis.on('ready', resolve);
  for (const event of ERROR_EVENTS) redis.on(event, onError);
  try {
    await (givenUp ? Promise.race([accepted, givenUp]) : accepted);
  } finally {
    redis.off('ready', resolve);
    for (const event of ERROR_EVENTS) redis.off(event, onError);
  }
}

/** The responses of Redis to absent and to wrong credentials. A sentinel's is the end of a message of ioredis. */
const REJECTED = /WRONGPASS|NOAUTH|ERR invalid password/;
/** The errors of the connection, of one sentinel, and of one node of a cluster. */
const ERROR_EVENTS = ['error', 'sentinelError', 'node error'] as const;

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
  // The other sentinels may answer, or no failover have ended yet.
  redis.on('sentinelError', (error: Error) => log.debug({ err: error }, 'a sentinel of redis does not help'));
  redis.on('ready', () => {
    if (lost.delete(redis) && lost.size === 0) log.info('redis is available');
  });
  redis.on('end', () => lost.delete(redis));
  if (isCluster(redis)) watchNodes(redis, log);
  else redis.on('connect', () => batchWrites(redis));
  return redis;
}

/** Connects to every primary before the first command needs it, because a command for one that connects is retried later. */
function watchNodes(cluster: Cluster, log: Logger) {
  const connect = (node: Server) => {
    if (node.status === 'wait' && !node.options.readOnly) node.connect().catch(() => undefined);
  };
  cluster.on('+node', (node: Server) => {
    node.on('connect', () => batchWrites(node));
    if (cluster.status === 'ready') connect(node);
  });
  cluster.on('ready', () => cluster.nodes('master').forEach(connect));
  cluster.on('node error', (error: Error, node: string) =>
    log.debug({ err: error, node }, 'a node of redis is unavailable'),
  );
}

/**
 * Rejects commands that have no answer after `limitMs`. After a pause of the process its timers are due before the
 * socket is read. Unlike ioredis's own commandTimeout this one reads first, because the answer may be there.
 */
function limitCommands(redis: Redis, limitMs: number): Redis {
  const send: Cluster['sendCommand'] = redis.sendCommand;
  redis.sendCommand = (...args: Parameters<typeof send>) => {
    const [command] = args;
    const fail = () => command.reject(new TimeoutError('Command timed out'));
    const timer = setTimeout(() => setImmediate(fail), limitMs);
    const stop = () => clearTimeout(timer);
    command.promise.then(stop, stop);
    return send.apply(redis as Cluster, args);
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

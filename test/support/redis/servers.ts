// Servers of the real redis-server that a test kills, pauses and starts again on their ports.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openRedis, primariesOf, type Server } from '#libs/redis/connection.ts';
import { type Child, startChild } from '../../../deploy/backends/child.ts';
import { eventually } from '../eventually.ts';
import { steadyPort } from '../steady-port.ts';

export interface RedisServer {
  port: number;
  /** The port on which the servers of a cluster speak to each other. */
  busPort: number;
  /** A connection for orders to this server alone. */
  orders: Server;
  start(): Promise<void>;
  /** Kills it: it closes its connections and writes nothing more. */
  kill(): Promise<void>;
  /** Stops its process, which keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export interface TlsFiles {
  key: string;
  cert: string;
}

export interface ServerOptions {
  /** The program, redis-server or valkey-server. */
  command: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Arguments before all others: the file of a sentinel, which rewrites it. */
  first?: string[];
  /** Further arguments, once its ports are known. */
  args: (ports: { port: number; busPort: number }) => string[];
  /** The files of its certificate. Without them its connections are plain. */
  tls?: TlsFiles | undefined;
  /** The address for orders. */
  urlOf?: (url: string) => string;
}

const READY_LIMIT_MS = 60_000;
const RETRY_MS = 50;

/** Starts a server with an append-only file. */
export async function startServer(options: ServerOptions): Promise<RedisServer> {
  const { command, folder, env, first, args, tls, urlOf = (url: string) => url } = options;
  await mkdir(folder, { recursive: true });
  const [port, busPort] = [await steadyPort(), await steadyPort()];
  const data = ['--appendonly', 'yes', '--maxmemory-policy', 'noeviction', '--repl-diskless-sync-delay', '0'];
  const all = [...(first ?? []), ...portArgs(port, tls), '--bind', '127.0.0.1', '--dir', folder];
  // Setting the process title would overwrite the environment that identifies orphans.
  all.push('--save', '', '--set-proc-title', 'no', ...(first ? [] : data), ...args({ port, busPort }));
  let child: Child | undefined;
  const orders = openOrders(urlOf(`${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`));
  const start = async () => {
    child = await startChild(command, all, { env, logFile: join(folder, 'redis.log') });
    await eventually(async () => (await orders.ping()) === 'PONG', READY_LIMIT_MS);
  };
  await start();
  return {
    port,
    busPort,
    orders,
    start,
    async kill() {
      child?.process.kill('SIGKILL');
      await child?.exited;
    },
    pause: () => void child?.process.kill('SIGSTOP'),
    resume: () => void child?.process.kill('SIGCONT'),
    async close() {
      orders.disconnect();
      child?.process.kill('SIGCONT');
      await child?.stop(1_000);
    },
  };
}

function portArgs(port: number, tls: TlsFiles | undefined): string[] {
  if (!tls) return ['--port', String(port)];
  const files = ['--tls-key-file', tls.key, '--tls-cert-file', tls.cert, '--tls-ca-cert-file', tls.cert];
  const between = ['--tls-auth-clients', 'no', '--tls-replication', 'yes', '--tls-cluster', 'yes'];
  return ['--port', '0', '--tls-port', String(port), ...files, ...between];
}

/** Opens a connection that is made again after each loss and forgets what it could not send. */
function openOrders(url: string): Server {
  const redis = openRedis(url, {
    retryStrategy: () => RETRY_MS,
    maxRetriesPerRequest: 0,
    // A paused server accepts a connection and then answers nothing, not even a TLS handshake.
    connectTimeout: 1_000,
    socketTimeout: 1_000,
    enableReadyCheck: false,
  });
  redis.on('error', () => undefined); // Its server is killed on purpose.
  const [server] = primariesOf(redis);
  if (!server) throw new Error(`${url} names no server`);
  return server;
}

// Starts a MongoDB replica set of one node with persistent data. Transactions need a replica set.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import getPort from 'get-port';
import { type Db, MongoClient } from 'mongodb';
import { type Child, describeExit, startChild } from './child.ts';
import { Failure } from './failure.ts';

export interface MongodbOptions {
  command: string;
  folder: string; // the data; made when it is not there
  env: NodeJS.ProcessEnv;
  port?: number; // the port of the last start when it is free, else any free one
  socketFolder?: string; // closed to others: listens on a socket in it and on no port, so that file permissions decide which users may connect
  logFile?: string;
  testCommands?: boolean; // lets a test order failures from the server (configureFailPoint)
}

export interface RunningMongodb {
  uri: string;
  port: number; // 0 when it has none
  pid: number;
  child: Child;
  stop(): Promise<void>;
}

const SET_NAME = 'billhook';
const READY_LIMIT_MS = 60_000; // Recovery on a slow disk; usually a second.
const RETRY_MS = 50;
const CALL_LIMIT_MS = 5_000;
const NOT_YET_INITIALIZED = 94;

export async function startMongodb(options: MongodbOptions): Promise<RunningMongodb> {
  const { command, folder, env, logFile = join(options.folder, 'mongod.log') } = options;
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  const place = await choosePlace(options);
  const args = ['--dbpath', data, '--replSet', SET_NAME, ...place.args];
  // mongod would take half of the machine's memory. 256 MB leaves some for Chromium.
  args.push('--wiredTigerCacheSizeGB', '0.25');
  // Diagnostics every half second are not needed here.
  args.push('--setParameter', 'diagnosticDataCollectionEnabled=false');
  if (options.testCommands) args.push('--setParameter', 'enableTestCommands=1');

  const child = await startChild(command, args, { env, logFile });
  try {
    await becomePrimary(place.host, child, logFile);
  } catch (error) {
    await child.stop();
    throw error;
  }
  if (place.port) await writeFile(join(folder, 'port'), `${place.port}\n`);
  // The connection is direct, because the driver lower-cases discovered members, which breaks socket paths.
  const direct = place.port ? '' : '&directConnection=true';
  const uri = `mongodb://${asAuthority(place.host)}/billhook?replicaSet=${SET_NAME}${direct}`;
  return { uri, port: place.port, pid: child.pid, child, stop: () => child.stop() };
}

interface Place {
  host: string; // the host in the form that the set's member and the driver use
  port: number; // 0 when it has none
  args: string[];
}

// Encodes the path of a socket. The colon before a port stays.
function asAuthority(host: string): string {
  return host.startsWith('/') ? encodeURIComponent(host) : host;
}

async function choosePlace({ socketFolder, folder, port: wanted }: MongodbOptions): Promise<Place> {
  if (socketFolder) {
    const host = join(socketFolder, 'mongodb.sock');
    // mongod makes a second socket in the folder of --unixSocketPrefix, by default /tmp.
    return { host, port: 0, args: ['--bind_ip', host, '--unixSocketPrefix', socketFolder] };
  }
  const port = wanted ?? (await rememberedPort(folder));
  const args = ['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'];
  return { host: `127.0.0.1:${port}`, port, args };
}

// Returns the port of the last start. Reusing it avoids a reconfiguration of the set.
async function rememberedPort(folder: string): Promise<number> {
  const last = Number(await readFile(join(folder, 'port'), 'utf8').catch(() => Number.NaN));
  return await getPort({ host: '127.0.0.1', ...(Number.isInteger(last) ? { port: last } : {}) });
}

async function becomePrimary(host: string, child: Child, logFile: string) {
  // The connection is direct, because an unconfigured set cannot be discovered.
  const client = new MongoClient(`mongodb://${asAuthority(host)}/?directConnection=true`, {
    serverSelectionTimeoutMS: CALL_LIMIT_MS,
    socketTimeoutMS: CALL_LIMIT_MS,
    minHeartbeatFrequencyMS: RETRY_MS, // The default of half a second is longer than the whole start.
  });
  const died = child.exited.then(async () => Promise.reject(await failedStart(child, logFile)));
  died.catch(() => {}); // It also ends at a regular stop, long after this.
  try {
    const deadline = performance.now() + READY_LIMIT_MS;
    let problem: unknown;
    while (performance.now() < deadline) {
      // mongod does not listen yet, or is in transition, so this retries until the deadline. Each try has a new client,
      // because a client that finds no server at first never looks again.
      const asked = client
        .connect()
        .then(() => isPrimary(client.db('admin'), child.pid, host))
        .catch((error) => {
          problem = error;
          return false;
        });
      if (await Promise.race([asked, died])) return;
      await wait(RETRY_MS);
    }
    throw new Failure(`mongod was not ready after ${READY_LIMIT_MS / 1000} s, see ${logFile}`, { cause: problem });
  } finally {
    await client.close();
  }
}

async function isPrimary(admin: Db, pid: number, host: string): Promise<boolean> {
  // If the port is taken, another mongod responds, and the one started here ends a moment later.
  const status = await admin.command({ serverStatus: 1, metrics: 0, wiredTiger: 0, repl: 0 });
  if (Number(status['pid']) !== pid) return false;
  const hello = await admin.command({ hello: 1 });
  if (hello['isWritablePrimary'] && hello['me'] === host) return true;
  const config = await readSetConfig(admin);
  const member = { _id: 0, host };
  if (!config) {
    await admin.command({ replSetInitiate: { _id: SET_NAME, members: [member] } });
  } else if (config.members.length !== 1 || config.members[0]?.host !== host) {
    // The data was last served on another port. The node is the only member and may force the new configuration.
    const moved = { ...config, version: config.version + 1, members: [member] };
    await admin.command({ replSetReconfig: moved, force: true });
  }
  return false;
}

interface SetConfig {
  version: number;
  members: { host: string }[];
}

async function readSetConfig(admin: Db): Promise<SetConfig | undefined> {
  try {
    return (await admin.command({ replSetGetConfig: 1 }))['config'] as SetConfig; // The type is that of the server's own configuration.
  } catch (error) {
    if ((error as { code?: unknown }).code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}

async function failedStart(child: Child, logFile: string): Promise<Failure> {
  const why = await lastError(logFile);
  return new Failure(
    `mongod did not start (${describeExit(await child.exited)}), see ${logFile}${why ? `\n  ${why}` : ''}`,
  );
}

// Returns the last error. mongod logs JSON lines; "E" and "F" are errors, such as data of an incompatible version.
async function lastError(logFile: string): Promise<string | undefined> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-200);
  for (const line of lines.reverse()) {
    if (!/"s":"[EF]"/.test(line)) continue;
    try {
      const { msg, attr } = JSON.parse(line) as { msg: string; attr?: { error?: unknown } };
      return attr?.error ? `${msg}: ${JSON.stringify(attr.error)}` : msg;
    } catch {
      return line; // Truncated by the crash, still the best information.
    }
  }
  return undefined;
}

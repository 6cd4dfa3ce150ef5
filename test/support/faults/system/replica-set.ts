// A MongoDB replica set of three, reached through the fault proxies, whose members can be killed, stopped and started again.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Db, MongoClient } from 'mongodb';
import { type Child, startChild } from '../../../../deploy/backends/child.ts';
import { findMongodb } from '../../../../deploy/backends/mongodb.ts';
import { eventually } from '../../eventually.ts';

export interface Member {
  index: number;
  pid(): number;
  isRunning(): boolean;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Runs a command on this member, past the proxies. */
  command(command: object): Promise<Record<string, unknown>>;
}

export interface ReplicaSet {
  uri: string;
  description: string;
  members: Member[];
  /** Waits until there is one. */
  primary(): Promise<Member>;
  /** Counts the elections so far. */
  term(): Promise<number>;
  /** Waits until there are a primary and two secondaries. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicaSetOptions {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Where the members listen, and where they are found. */
  ports: readonly number[];
  proxyPorts: readonly number[];
  electionTimeoutMs: number;
  /**
   * The address on which each member finds all members, so that each pair of them has ways of its own. The services find
   * them on 127.0.0.1, as all do without it.
   */
  views?: readonly string[];
}

const NAME = 'rs0';
const LIMIT_MS = 90_000;
const CALL_LIMIT_MS = 2_000;
const PRIMARY = 1;
const SECONDARY = 2;

export async function startReplicaSet(options: ReplicaSetOptions): Promise<ReplicaSet> {
  const { command, version } = await findMongodb({ env: { ...options.env, MONGODB_URI: '' } });
  const members = await Promise.all(
    options.ports.map((port, index) =>
      openMember({ index, port, command, folder: options.folder, env: options.env, view: options.views?.[index] }),
    ),
  );
  const host = options.views ? 'localhost' : '127.0.0.1';
  const hosts = options.proxyPorts.map((port) => `${host}:${port}`);
  const config = {
    _id: NAME,
    members: hosts.map((host, _id) => ({ _id, host })),
    settings: { electionTimeoutMillis: options.electionTimeoutMs, heartbeatIntervalMillis: 500 },
  };
  const [first] = members;
  await eventually(async () => (await first?.command({ replSetInitiate: config }))?.['ok'] === 1, LIMIT_MS);
  // By itself, a new set waits for its whole election timeout before the first election.
  await eventually(async () => {
    await first?.command({ replSetStepUp: 1 }).catch(() => undefined); // Refused until the others know the set.
    return (await first?.command({ hello: 1 }))?.['isWritablePrimary'];
  }, LIMIT_MS);

  const set: ReplicaSet = {
    uri: `mongodb://${hosts.join(',')}/?replicaSet=${NAME}`,
    description: `MongoDB ${version}, three members`,
    members,
    async primary() {
      return await eventually(async () => {
        for (const member of members) {
          const hello = await member.command({ hello: 1 }).catch(() => undefined);
          if (hello?.['isWritablePrimary']) return member;
        }
        return undefined;
      }, LIMIT_MS);
    },
    async term() {
      const status = await (await set.primary()).command({ replSetGetStatus: 1 });
      return Number(status['term']);
    },
    async whole() {
      await eventually(async () => {
        const status = await (await set.primary()).command({ replSetGetStatus: 1 });
        const states = (status['members'] as { state: number }[]).map(({ state }) => state).toSorted();
        return String(states) === String([PRIMARY, SECONDARY, SECONDARY]);
      }, LIMIT_MS);
    },
    async stop() {
      await Promise.all(members.map((member) => member.kill()));
    },
  };
  await set.whole();
  return set;
}

async function openMember(options: {
  index: number;
  port: number;
  command: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  view: string | undefined;
}): Promise<Member> {
  const data = join(options.folder, `mongodb-${options.index}`);
  await mkdir(data, { recursive: true });
  const args = ['--dbpath', data, '--port', String(options.port), '--bind_ip', '127.0.0.1', '--replSet', NAME];
  args.push('--wiredTigerCacheSizeGB', '0.25', '--nounixsocket', '--oplogSize', '200');
  args.push('--setParameter', 'diagnosticDataCollectionEnabled=false', '--setParameter', 'enableTestCommands=1');
  const uri = `mongodb://127.0.0.1:${options.port}/?directConnection=true`;
  const program = await withView(options, args, `${data}.hosts`);
  let child: Child;

  async function start() {
    child = await startChild(program.command, program.args, { env: options.env, logFile: `${data}.log` });
    await eventually(() => command({ ping: 1 }), LIMIT_MS);
  }

  // A client for each call: a member that was killed or stopped must not leave one that believes it is still so.
  async function command(order: object): Promise<Record<string, unknown>> {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: CALL_LIMIT_MS, socketTimeoutMS: CALL_LIMIT_MS });
    try {
      return await (client.db('admin') as Db).command(order as Record<string, unknown>);
    } finally {
      await client.close(true);
    }
  }

  await start();
  return {
    index: options.index,
    pid: () => child.pid,
    isRunning: () => !child.hasExited(),
    start,
    command,
    async kill() {
      child.process.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** Runs the program with a hosts file of its own, in which `localhost` is the address of the view. */
async function withView(
  { command, view }: { command: string; view: string | undefined },
  args: readonly string[],
  file: string,
): Promise<{ command: string; args: string[] }> {
  if (!view) return { command, args: [...args] };
  await writeFile(file, `${view} localhost\n`);
  const script = 'mount --bind "$0" /etc/hosts && exec "$@"';
  const namespaces = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user'];
  return { command: 'unshare', args: [...namespaces, 'sh', '-c', script, file, command, ...args] };
}

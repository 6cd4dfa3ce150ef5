// Redis as it fails over: a primary with a replica behind three sentinels, or a cluster of three primaries with a replica each.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawRedisUsers, type RedisUsers } from '../../../deploy/redis/passwords.ts';
import type { RedisUser } from '../../../deploy/redis/users.ts';
import { eventually } from '../eventually.ts';
import { type RedisServer, startServer, type TlsFiles } from './servers.ts';

export interface Topology {
  /** The address with the login of one user, as a service gets it. */
  urlOf(user: RedisUser): string;
  servers: RedisServer[];
  /** Returns the primary of the queue, as the sentinels or most servers of the cluster know it now. */
  primaryOf(queue: string): Promise<RedisServer | undefined>;
  /** Resolves when every server takes part again, and each primary has its replica. */
  whole(): Promise<void>;
  /** Orders the replica of a queue's primary to take over without a loss. */
  switchOver(queue: string): Promise<void>;
  close(): Promise<void>;
}

export interface TopologyOptions {
  command: string;
  folder: string;
  env: NodeJS.ProcessEnv;
  prefix: string;
  tls?: TlsFiles | undefined;
}

/** The silence after which a primary counts as lost. It is shorter than anyone would choose: tests wait for it. */
const LOST_AFTER_MS = 1_500;
const NAME = 'billhook-primary';
const SENTINEL_PASSWORD = 'only-for-sentinels';
const SENTINELS = 3;
const SLOTS = 16_384;
const FORM_LIMIT_MS = 60_000;
/** Reads what clients send, moves slots and orders failovers, which no service may. */
const AUDITOR = 'user auditor on >auditor ~* &* +@all';

const asAuditor = (url: string) => url.replace('://', '://auditor:auditor@');

export async function startSentinels(options: TopologyOptions): Promise<Topology> {
  const { command, folder, env, prefix, tls } = options;
  const users = drawRedisUsers(prefix, 'sentinel');
  const acl = await writeAcl(folder, users);
  const data = (name: string, more: string[] = []) =>
    startServer({
      command,
      env,
      tls,
      folder: join(folder, name),
      urlOf: asAuditor,
      args: () => ['--aclfile', acl, ...replicationArgs(users), ...more],
    });
  const servers: RedisServer[] = [];
  const sentinels: RedisServer[] = [];
  const close = () => closeAll([...sentinels, ...servers]);
  try {
    const primary = await data('first');
    servers.push(primary);
    servers.push(await data('second', ['--replicaof', `127.0.0.1 ${primary.port}`]));
    for (let index = 0; index < SENTINELS; index += 1)
      sentinels.push(await startSentinel(options, users, `sentinel-${index}`, primary.port));
    const all = () => Promise.all(sentinels.map(({ orders }) => orders.call('SENTINEL', 'CKQUORUM', NAME)));
    await eventually(async () => (await all()).length === SENTINELS, FORM_LIMIT_MS);
    await eventually(async () => replicaCount(await primary.orders.info('replication')) === 1, FORM_LIMIT_MS);
  } catch (error) {
    await close();
    throw error;
  }
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = `${tls ? 'rediss' : 'redis'}+sentinel://${hosts}/${NAME}?sentinelPassword=${SENTINEL_PASSWORD}`;
  return {
    urlOf: (user) => users.urlOf(user, url),
    servers,
    async primaryOf() {
      const answers = await Promise.all(
        sentinels.map(async ({ orders }) => await orders.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)),
      );
      const ports = answers.map((answer) => Number((answer as string[])[1]));
      const port = ports.find((one) => ports.filter((other) => other === one).length * 2 > SENTINELS);
      const server = servers.find((one) => one.port === port);
      return server && (await isPrimary(server)) ? server : undefined;
    },
    async whole() {
      await eventually(async () => {
        const infos = await Promise.all(servers.map(({ orders }) => orders.info('replication')));
        return infos.reduce((sum, info) => sum + replicaCount(info), 0) === servers.length - 1;
      }, FORM_LIMIT_MS);
    },
    async switchOver() {
      // A sentinel looks at the replicas every ten seconds, and knows no good one right after another failover.
      await eventually(() => sentinels[0]?.orders.call('SENTINEL', 'FAILOVER', NAME), FORM_LIMIT_MS);
    },
    close,
  };
}

async function startSentinel(
  { command, folder, env, tls }: TopologyOptions,
  users: RedisUsers,
  name: string,
  port: number,
) {
  const config = join(folder, `${name}.conf`);
  const lines = [
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${port} 2`,
    `sentinel auth-user ${NAME} sentinel`,
    `sentinel auth-pass ${NAME} ${users.passwordOf('sentinel')}`,
    `sentinel down-after-milliseconds ${NAME} ${LOST_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 6000`,
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  return await startServer({
    command,
    env,
    tls,
    folder: join(folder, name),
    urlOf: (url) => url.replace('://', `://:${SENTINEL_PASSWORD}@`),
    first: [config],
    args: () => ['--sentinel'],
  });
}

export interface ClusterTopology extends Topology {
  slotOf(queue: string): Promise<number>;
  /** Moves a hash slot with its keys to the next primary, as `redis-cli --cluster reshard` does. */
  moveSlot(slot: number): Promise<void>;
}

/** @param primaries each with a replica, unless there is only one. */
export async function startCluster(
  { command, folder, env, prefix, tls }: TopologyOptions,
  primaries = 3,
): Promise<ClusterTopology> {
  const users = drawRedisUsers(prefix, 'cluster');
  const acl = await writeAcl(folder, users);
  const servers: RedisServer[] = [];
  const close = () => closeAll(servers);
  const count = primaries > 1 ? primaries * 2 : 1;
  try {
    for (let index = 0; index < count; index += 1)
      servers.push(
        await startServer({
          command,
          env,
          tls,
          folder: join(folder, `node-${index}`),
          urlOf: asAuditor,
          args: ({ busPort }) => [
            ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--aclfile', acl],
            // A server that no other one has met does not know its own address.
            ...['--cluster-announce-ip', '127.0.0.1'],
            ...['--cluster-node-timeout', String(LOST_AFTER_MS), '--cluster-replica-validity-factor', '0'],
            ...replicationArgs(users),
          ],
        }),
      );
    await formCluster(servers, primaries);
  } catch (error) {
    await close();
    throw error;
  }
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');

  const primaryOfSlot = (slot: number) => findPrimary(servers, slot);
  const slotOf = async (queue: string) => {
    const [any] = await living(servers);
    if (!any) throw new Error('no server of the cluster answers');
    return Number(await any.orders.cluster('KEYSLOT', `{${queue}}`));
  };
  const primaryOf = async (queue: string) => primaryOfSlot(await slotOf(queue));
  return {
    urlOf: (user) => users.urlOf(user, `${tls ? 'rediss' : 'redis'}+cluster://${hosts}`),
    servers,
    primaryOf,
    slotOf,
    whole: () => whole(servers, primaries),
    async switchOver(queue) {
      const primary = await primaryOf(queue);
      const id = primary && (await idOf(primary));
      for (const server of await living(servers)) {
        const own = (await nodesOf(server)).find(({ flags }) => flags.includes('myself'));
        if (id && own?.primaryId === id) await server.orders.cluster('FAILOVER');
      }
    },
    async moveSlot(slot) {
      const from = await primaryOfSlot(slot);
      const candidates = await asyncFilter(await living(servers), isPrimary);
      const to = candidates[((from ? candidates.indexOf(from) : 0) + 1) % candidates.length];
      if (!from || !to || from === to) throw new Error(`slot ${slot} has no place to go`);
      await moveSlot(slot, from, to, candidates);
    },
    close,
  };
}

async function formCluster(servers: RedisServer[], primaries: number) {
  const [first, ...others] = servers as [RedisServer, ...RedisServer[]];
  for (const { port, busPort } of others)
    await first.orders.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPort));
  const share = Math.ceil(SLOTS / primaries);
  for (const [index, { orders }] of servers.slice(0, primaries).entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await orders.call('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
    await orders.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)).catch(() => undefined);
  }
  await eventually(async () => {
    const known = await Promise.all(servers.map(nodesOf));
    return known.every(
      (nodes) => nodes.length === servers.length && nodes.every(({ flags }) => !/handshake/.test(flags)),
    );
  }, FORM_LIMIT_MS);
  for (const [index, server] of servers.slice(primaries).entries())
    await server.orders.call('CLUSTER', 'REPLICATE', await idOf(servers[index] as RedisServer));
  await whole(servers, primaries);
}

async function whole(servers: RedisServer[], primaries: number) {
  const replicas = servers.length - primaries;
  await eventually(async () => {
    const states = await Promise.all(servers.map(({ orders }) => orders.cluster('INFO')));
    if (!states.every((state) => String(state).includes('cluster_state:ok'))) return false;
    const infos = await Promise.all(servers.map(({ orders }) => orders.info('replication')));
    if (infos.reduce((sum, info) => sum + replicaCount(info), 0) < replicas) return false;
    // A range of slots is followed by its servers: clients learn of a replica from there.
    const ranges = (await Promise.all(servers.map(({ orders }) => orders.cluster('SLOTS')))) as unknown[][][];
    return replicas === 0 || ranges.flat().every(({ length }) => length > 3);
  }, FORM_LIMIT_MS);
}

/** The steps of https://redis.io/docs/latest/commands/cluster-setslot/, with commands of clients between them. */
async function moveSlot(slot: number, from: RedisServer, to: RedisServer, primaries: RedisServer[]) {
  const [fromId, toId] = [await idOf(from), await idOf(to)];
  const setSlot = (server: RedisServer, ...words: string[]) =>
    server.orders.call('CLUSTER', 'SETSLOT', String(slot), ...words);
  await setSlot(to, 'IMPORTING', fromId);
  await setSlot(from, 'MIGRATING', toId);
  for (;;) {
    const keys = (await from.orders.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '20')) as string[];
    if (keys.length === 0) break;
    for (const key of keys)
      await from.orders.call(
        ...(['MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'AUTH2', 'auditor', 'auditor'] as const),
        ...['KEYS', key],
      );
  }
  await setSlot(to, 'NODE', toId);
  await setSlot(from, 'NODE', toId);
  for (const other of primaries) if (other !== to && other !== from) await setSlot(other, 'NODE', toId);
}

interface Node {
  id: string;
  port: number;
  flags: string;
  primaryId: string;
  slots: [number, number][];
}

async function nodesOf({ orders }: RedisServer): Promise<Node[]> {
  const text = String(await orders.cluster('NODES'));
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', address = '', flags = '', primaryId = '', , , , , ...slots] = line.split(' ');
      const ranges = slots.filter((slot) => /^\d/.test(slot)).map((slot) => slot.split('-').map(Number));
      return {
        id,
        port: Number(/:(\d+)@/.exec(address)?.[1]),
        flags,
        primaryId,
        slots: ranges.map(([from = 0, to = from]) => [from, to] as [number, number]),
      };
    });
}

async function findPrimary(servers: RedisServer[], slot: number): Promise<RedisServer | undefined> {
  const views = await Promise.all((await living(servers)).map(nodesOf));
  const ports = views.map(
    (nodes) => nodes.find(({ slots }) => slots.some(([from, to]) => from <= slot && slot <= to))?.port,
  );
  const port = ports.find((one) => ports.filter((other) => other === one).length * 2 > ports.length);
  const server = servers.find((one) => one.port === port);
  return server && (await isPrimary(server)) ? server : undefined;
}

async function idOf({ orders }: RedisServer): Promise<string> {
  return String(await orders.call('CLUSTER', 'MYID'));
}

async function isPrimary({ orders }: RedisServer): Promise<boolean> {
  const [role] = (await orders.call('ROLE').catch(() => [])) as unknown[];
  return role === 'master';
}

const living = (servers: RedisServer[]) =>
  asyncFilter(servers, async ({ orders }) => (await orders.ping().catch(() => '')) === 'PONG');

async function asyncFilter<Value>(values: Value[], test: (value: Value) => Promise<boolean>): Promise<Value[]> {
  const passed = await Promise.all(values.map(test));
  return values.filter((_value, index) => passed[index]);
}

function replicaCount(info: string): number {
  return (info.match(/^slave\d+:.*state=online/gm) ?? []).length;
}

async function writeAcl(folder: string, users: RedisUsers): Promise<string> {
  const file = join(folder, 'users.acl');
  await writeFile(file, `${users.acl}${AUDITOR}\n`);
  return file;
}

const replicationArgs = (users: RedisUsers) => [
  ...['--masteruser', 'replication', '--masterauth', users.passwordOf('replication')],
];

async function closeAll(servers: RedisServer[]) {
  await Promise.all(servers.map((server) => server.close()));
}

// `npm run failover`: breaks Redis with Sentinel, Redis Cluster and a replica set of MongoDB under load, and judges each. `--help` says how.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findRedis } from '../../deploy/backends/redis.ts';
import { startBackends } from '../../test/support/backends.ts';
import { certifyLocalhost } from '../../test/support/certificate.ts';
import { openGuardedFolder } from '../../test/support/guarded-folder.ts';
import {
  type FaultOutcome,
  faultsOf,
  type Services,
  startLoadServices,
  startLoadUnderFaults,
} from '../../test/support/redis/failover.ts';
import type { TlsFiles } from '../../test/support/redis/servers.ts';
import { startCluster, startSentinels, type Topology } from '../../test/support/redis/topologies.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { readCommandLine } from '../command-line.ts';
import { breakReplicaSet } from './break-replica-set.ts';

const HELP = `Runs a gateway, a renderer and a webhook service on Redis with Sentinel (a primary, a replica, three sentinels) and on Redis Cluster (three
primaries with a replica each), breaks Redis under load in every way, and judges that nothing acknowledged was lost. Then runs all services on a
replica set of MongoDB with three members, whose primary is killed, stepped down, paused and cut off, and whose secondary is slow or gone. Accounts
go through their whole business meanwhile, from time to a receipt: nothing of it may be lost or come twice. Cutting members off needs unshare(1).

Usage: npm run failover -- [options]

  --kind KIND      sentinel, cluster or replica-set (default: one after the other)
  --only WORD      the faults with this word in their names, such as kill, pause, switch, move or slow
  --rounds N       every fault N times (default 2)
  --server FILE    the redis-server or valkey-server to run (default: that of npm start)
  --tls            all connections to Redis, and between its servers, are encrypted: the server must be built with TLS

Ends with 1 when something was lost or came twice, or documents were not printed again within 5 s of the new primary.
`;

/** The promise for the time from a new primary to the next document. */
const READY_WITHIN_MS = 5_000;

const { values } = readCommandLine(HELP, {
  options: {
    kind: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '2' },
    server: { type: 'string' },
    tls: { type: 'boolean', default: false },
  },
});
const KINDS = ['sentinel', 'cluster'] as const;
const kinds = KINDS.filter((kind) => values.kind === undefined || values.kind === kind);
const breaksMongodb = values.kind === undefined || values.kind === 'replica-set';
const say = (line: string) => void process.stdout.write(`${line}\n`);

// The guardian ends all processes that this one started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const backends = await startBackends(process.env);
const command = values.server ?? (await findRedis({ env: { ...process.env, REDIS_URL: '' } })).command;
let isSound = kinds.length > 0 || breaksMongodb;
try {
  if (kinds.length > 0) isSound = await breakRedis();
  if (breaksMongodb) {
    const how = { only: values.only, rounds: Number(values.rounds), say };
    isSound = (await breakReplicaSet(backends, how)) && isSound;
  }
} finally {
  await backends.stop();
}
process.exitCode = isSound ? 0 : 1;

async function breakRedis(): Promise<boolean> {
  let isWhole = true;
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  try {
    for (const kind of kinds) isWhole = (await breakKind(kind, workspace)) && isWhole;
  } finally {
    await workspace.close();
  }
  return isWhole;
}

async function breakKind(kind: (typeof KINDS)[number], workspace: Workspace): Promise<boolean> {
  const guarded = await openGuardedFolder(`failover-${kind}`);
  const env = { ...process.env, ...guarded.markedAs(kind) };
  const tls = values.tls ? await makeCertificate(guarded.path) : undefined;
  const options = { command, folder: guarded.path, env, prefix: workspace.redisPrefix, tls };
  let topology: Topology | undefined;
  const services: Partial<Services> = {};
  try {
    topology = await (kind === 'sentinel' ? startSentinels(options) : startCluster(options));
    say(`\n${kind}: ${await versionOf(topology)}${tls ? ' with TLS' : ''}`);
    say('| Fault | New primary after | Document after that | Documents refused |\n|---|---:|---:|---:|');
    await startLoadServices(workspace, topology, services, tls ? { NODE_EXTRA_CA_CERTS: tls.cert } : {});
    return await breakUnderLoad(kind, workspace, topology, services as Services);
  } finally {
    await Promise.all(Object.values(services).map((service) => service.stop()));
    await topology?.close();
    await guarded.close();
  }
}

async function breakUnderLoad(
  kind: (typeof KINDS)[number],
  workspace: Workspace,
  topology: Topology,
  services: Services,
): Promise<boolean> {
  const load = await startLoadUnderFaults(workspace, topology, services);
  try {
    const startedAt = performance.now();
    const outcomes: FaultOutcome[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const fault of faultsOf(kind).filter((name) => name.includes(values.only))) {
        const outcome = await load.suffer(fault);
        outcomes.push(outcome);
        const { electedMs, readyMs, refused } = outcome;
        say(`| ${fault} | ${electedMs === undefined ? '–' : `${electedMs} ms`} | ${readyMs} ms | ${refused} |`);
      }
    }
    const { breaches, clients, documents, printed, refused } = await load.judge();
    say(
      `${clients} clients in ${Math.round((performance.now() - startedAt) / 1_000)} s, all events delivered: ${breaches.length === 0}; ${documents} documents answered, ${printed} printed, ${refused} refused`,
    );
    const late = outcomes.filter(({ readyMs }) => readyMs > READY_WITHIN_MS);
    for (const breach of breaches) say(`BROKEN ${breach}`);
    for (const { fault, readyMs } of late) say(`LATE ${fault}: ${readyMs} ms`);
    return breaches.length === 0 && late.length === 0;
  } finally {
    await load.close();
  }
}

/** Makes a certificate that this process trusts. */
async function makeCertificate(folder: string): Promise<TlsFiles> {
  const { key, cert, trust } = certifyLocalhost('IP:127.0.0.1');
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
  await Promise.all([writeFile(files.key, key), writeFile(files.cert, cert)]);
  trust();
  return files;
}

async function versionOf({ servers }: Topology): Promise<string> {
  const info = (await servers[0]?.orders.info('server')) ?? '';
  const [, name, version] = /^(redis|valkey)_version:(\S+)/m.exec(info) ?? [];
  const [, valkey] = /^valkey_version:(\S+)/m.exec(info) ?? [];
  return valkey ? `Valkey ${valkey}` : `${name} ${version}`;
}

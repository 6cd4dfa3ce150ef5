// The system that faults are made in: three databases, one Redis, two of each service, and proxies between them and their stores.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from '../../../../deploy/backends/chromium.ts';
import { silentProgress } from '../../../../deploy/backends/progress.ts';
import { openGuardedFolder } from '../../guarded-folder.ts';
import type { ServiceName } from '../../spawn-service.ts';
import { steadyPort } from '../../steady-port.ts';
import { openWorkspace, type Workspace } from '../../workspace.ts';
import type { NetworkFault } from '../kinds/network-fault.ts';
import { type KeptRedis, startKeptRedis } from './kept-redis.ts';
import { type KeptService, keepService } from './kept-service.ts';
import { openNetwork } from './proxy-process.ts';
import { type ReplicaSet, startReplicaSet } from './replica-set.ts';
import { openTown, type Town } from './town.ts';

export interface FaultSystem {
  /** Everything the system leaves anywhere is in here. */
  folder: string;
  workspace: Workspace;
  services: KeptService[];
  gateways: KeptService[];
  renderers: KeptService[];
  webhooks: KeptService[];
  redis: KeptRedis;
  mongodb: ReplicaSet;
  town: Town;
  /** The network to Redis, and to each member of the set (which the members themselves use too). */
  network: { redis(fault?: NetworkFault): Promise<void>; mongodb(member: number, fault?: NetworkFault): Promise<void> };
  /** The parts of the system, for the report. */
  description: string;
  /** Waits until every part says that it is well. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export interface SystemOptions {
  seed: number;
  electionTimeoutMs: number;
  /** Called with what the supervisors of the services do. */
  note: (line: string) => void;
  env?: Record<string, string>;
  root?: string | undefined;
}

const EACH = 2;
const MEMBERS = [0, 1, 2];
const REDIS_WAY = MEMBERS.length;
/** Waits between attempts and leases are a tenth and a third of the real ones: a round must not take an hour. */
const SETTINGS = {
  // Counted, as in production, but never reached.
  RATE_LIMIT_REQUESTS: '10000000',
  RATE_LIMIT_DOCUMENTS: '10000000',
  RENDER_CONCURRENCY: '2',
  WEBHOOK_TIMEOUT_MS: '4000',
  WEBHOOK_RETRY_SCALE: '0.1',
  LOG_LEVEL: 'info',
};

export async function startFaultSystem(options: SystemOptions): Promise<FaultSystem> {
  const guarded = await openGuardedFolder('faults', options.root);
  const folder = guarded.path;
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  // Chromium may run as another user, which needs access to its own folder.
  await Promise.all([chmod(folder, 0o755), chmod(temporary, 0o755)]);
  // Without a chance to close, the guardian ends the processes; the folder is left to us.
  const leave = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', leave);
  const closers: (() => Promise<unknown>)[] = [];
  async function close() {
    for (const closer of closers.toReversed()) await closer().catch((error: unknown) => options.note(String(error)));
    process.off('exit', leave);
    await guarded.close();
  }
  try {
    return await open();
  } catch (error) {
    await close();
    throw error;
  }

  async function open(): Promise<FaultSystem> {
    const env = { ...process.env, ...guarded.markedAs('faults') };
    const ports = await Promise.all([...MEMBERS, REDIS_WAY].map(steadyPort));
    const proxyPorts = await Promise.all([...MEMBERS, REDIS_WAY].map(steadyPort));
    const ways = ports.map((target, index) => ({ port: proxyPorts[index] as number, target }));
    const network = await openNetwork(ways, options.seed, env);
    closers.push(network.close);
    const redis = await startKeptRedis(folder, env, ports[REDIS_WAY] as number);
    closers.push(redis.stop);
    const mongodb = await startReplicaSet({
      folder,
      env,
      ports: ports.slice(0, REDIS_WAY),
      proxyPorts: proxyPorts.slice(0, REDIS_WAY),
      electionTimeoutMs: options.electionTimeoutMs,
    });
    closers.push(mongodb.stop);
    const chromium = await findChromium({ env, progress: silentProgress });
    const redisUrl = `redis://127.0.0.1:${proxyPorts[REDIS_WAY]}`;
    Object.assign(process.env, {
      TEST_MONGODB_URI: mongodb.uri,
      TEST_REDIS_URL: redisUrl,
      TEST_CHROMIUM_PATH: chromium.command,
    });
    const workspace = { ...(await openWorkspace()), secretKey: randomBytes(32).toString('base64') };
    closers.push(workspace.close);
    const town = await openTown();
    closers.push(town.close);

    const services: KeptService[] = [];
    closers.push(() => Promise.all(services.map((service) => service.stop())));
    const keep = async (service: ServiceName, count: number) => {
      const name = `${service}-${count}`;
      const settings = { ...SETTINGS, ...options.env, TMPDIR: temporary, ...guarded.markedAs(name) };
      const logFile = join(folder, `${name}.log`);
      services.push(await keepService(service, { name, workspace, env: settings, logFile, note: options.note }));
    };
    await keep('gateway', 1); // The first one makes the indexes.
    for (let count = 1; count <= EACH; count += 1) {
      await Promise.all([
        ...(count > 1 ? [keep('gateway', count)] : []),
        keep('renderer', count),
        keep('webhooks', count),
        keep('scheduler', count),
      ]);
    }
    services.sort((one, other) => one.name.localeCompare(other.name));
    const of = (service: ServiceName) => services.filter((kept) => kept.service === service);
    return {
      folder,
      workspace,
      services,
      gateways: of('gateway'),
      renderers: of('renderer'),
      webhooks: of('webhooks'),
      redis,
      mongodb,
      town,
      network: {
        redis: (fault) => network.become(REDIS_WAY, fault),
        mongodb: (member, fault) => network.become(member, fault),
      },
      description: `${mongodb.description}; ${redis.description}; Chromium ${chromium.version}; ${EACH} of each service`,
      async ready() {
        await mongodb.whole();
        await Promise.all(services.map((service) => service.ready()));
      },
      close,
    };
  }
}

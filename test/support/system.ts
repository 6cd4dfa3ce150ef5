// The whole system as processes, as it runs in production, on backends that a test may kill.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedis } from '../../deploy/backends/redis.ts';
import { type RunningRedis, startRedis } from '../../deploy/backends/start-redis.ts';
import { callerOf } from './gateway.ts';
import { type ServiceName, type SpawnedService, spawnService } from './spawn-service.ts';
import { openWorkspace, type TestAccount, type Workspace } from './workspace.ts';

export interface TestSystem {
  workspace: Workspace;
  account: TestAccount;
  gateway: SpawnedService;
  renderers: SpawnedService[];
  webhooks: SpawnedService;
  /** Calls the gateway as the account. */
  call: ReturnType<typeof callerOf>;
  /** Starts one more service; it stops with the system. */
  spawn(service: ServiceName): Promise<SpawnedService>;
  /** A Redis of this system alone. */
  redis: { kill(): Promise<void>; start(): Promise<void>; pid(): number };
  close(): Promise<void>;
}

/** @param options.renderers how many processes print, 1 unless said. @param options.env goes to every service. */
export async function startSystem(
  options: { renderers?: number; env?: Record<string, string> } = {},
): Promise<TestSystem> {
  const shared = await openWorkspace();
  const folder = await mkdtemp(join(tmpdir(), 'billhook-system-'));
  const { command } = await findRedis({ env: process.env });
  let redis: RunningRedis = await startRedis({ command, folder, env: process.env });
  const workspace = { ...shared, redisUrl: redis.url };
  const started: SpawnedService[] = [];
  const spawn = async (service: ServiceName) => {
    const running = await spawnService(service, workspace, options.env);
    started.push(running);
    return running;
  };

  async function close() {
    const ended = started.flatMap((service) => service.lastWords() ?? []);
    await Promise.all(started.map((service) => service.stop()));
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
    await shared.close();
    // A call that broke off says nothing of why.
    if (ended.length > 0) throw new Error(ended.join('\n'));
  }

  try {
    const gateway = await spawn('gateway');
    const [webhooks, ...renderers] = await Promise.all([
      spawn('webhooks'),
      ...Array.from({ length: options.renderers ?? 1 }, () => spawn('renderer')),
    ]);
    const account = await workspace.account();
    return {
      workspace,
      account,
      gateway,
      renderers,
      webhooks: webhooks as SpawnedService, // The first of the list is always there.
      call: callerOf(gateway.url, account.key),
      spawn,
      redis: {
        pid: () => redis.pid,
        async kill() {
          process.kill(redis.pid, 'SIGKILL');
          await redis.stop();
        },
        async start() {
          redis = await startRedis({ command, folder, env: process.env, port: redis.port });
        },
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

// A service as the real process it is in production, on free ports, killed for sure at the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

import { nodeEnvironmentOf, nodeFlagsOf } from '../../deploy/local/node-flags.ts';
import { compiledCode } from '../../deploy/local/service-env.ts';
import { eventually } from './eventually.ts';
import { unplannedIn } from './shards/unplanned.ts';
import { steadyPort } from './steady-port.ts';
import type { Workspace } from './workspace.ts';

export interface SpawnedService {
  pid: number;
  /** The URL of the port it serves: the gateway's API, the portal or the operations dashboard. */
  url: string;
  healthUrl: string;
  /** Everything it logged so far. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Returns what a service said last that ended although no test asked it to. */
  lastWords(): string | undefined;
  /** SIGTERM and the exit code; a service that does not end is killed. */
  stop(): Promise<number | null>;
  exited: Promise<number | null>;
}

const STOP_LIMIT_MS = 45_000;

/** The services that run. A test whose hook ran out of time does not stop those that it started. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
/** Only ends a hang: on a machine that is busy with other suites a start takes its time. Under the limit of the test runner, so that what was said is seen. */
export const READY_LIMIT_MS = 150_000;

export type ServiceName = 'gateway' | 'mail' | 'operations' | 'portal' | 'renderer' | 'scheduler' | 'webhooks';

/** The variable with the port that a service serves, by its name. */
const PORTS: Partial<Record<ServiceName, string>> = { operations: 'OPERATIONS_PORT', portal: 'PORTAL_PORT' };

/** The part of a workspace that a service needs. It suffices for one whose stores do not run yet. */
export type ServiceWorkspace = Pick<
  Workspace,
  'mongodbUri' | 'redisUrl' | 'redisPrefix' | 'chromiumPath' | 'secretKey'
>;

/**
 * @param env on top of what every service needs; PORT may be given to start again on the same one.
 * @param logFile takes what it says, for a service that says much; what is there already stays.
 * @returns once /readyz says so.
 */
export async function spawnService(
  service: ServiceName,
  workspace: ServiceWorkspace,
  env: Record<string, string> = {},
  logFile?: string,
): Promise<SpawnedService> {
  const launched = await launchService(service, workspace, env, logFile);
  let code: number | null | undefined;
  void launched.exited.then((exitCode) => (code = exitCode));
  try {
    const outcome = await eventually(async () => {
      if (code !== undefined) return 'ended';
      return (await fetch(`${launched.healthUrl}/readyz`)).ok && 'ready';
    }, READY_LIMIT_MS);
    if (outcome === 'ended') throw new Error(`${service} exited with ${code}`);
  } catch (error) {
    launched.kill('SIGKILL');
    throw new Error(`${service} did not become ready:\n${launched.output().slice(-4_000)}`, { cause: error });
  }
  return launched;
}

/** Starts a service as `spawnService` does, but does not wait until it is ready: it may never be. */
export async function launchService(
  service: ServiceName,
  workspace: ServiceWorkspace,
  env: Record<string, string> = {},
  logFile?: string,
): Promise<SpawnedService> {
  const port = Number(env['PORT'] ?? (await steadyPort()));
  const healthPort = Number(env['HEALTH_PORT'] ?? (await steadyPort()));
  const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
  // A service that is measured runs as in production, with no watcher of its commands.
  const isWatched = service !== 'renderer' && env['NODE_ENV'] !== 'production';
  const preload = isWatched ? ['--import', './test/support/shards/preload.ts'] : [];
  const child = spawn('node', [...nodeFlagsOf(service), ...preload, `services/${service}/main.ts`], {
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...compiledCode(process.env),
      ...nodeEnvironmentOf(service),
      ...settings(service, workspace),
      [PORTS[service] ?? 'PORT']: String(port),
      HEALTH_PORT: String(healthPort),
      ...env,
    },
  });
  if (typeof log === 'number') closeSync(log); // The child has its own copy.
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += String(chunk)));
  const output = () => (logFile === undefined ? said : readFileSync(logFile, 'utf8'));
  // The last lines of a process may be read after its exit, and always before `close`.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  let isAsked = false;
  let isOver = false;
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    isOver = !isAsked;
  });
  return {
    pid: child.pid as number, // Node itself starts everywhere.
    url: `http://127.0.0.1:${port}`,
    healthUrl: `http://127.0.0.1:${healthPort}`,
    output,
    kill(signal) {
      isAsked = true;
      child.kill(signal);
    },
    lastWords: () =>
      isOver ? `${service} ended with ${child.exitCode ?? child.signalCode}:\n${output().slice(-4_000)}` : undefined,
    async stop() {
      isAsked = true;
      const code = await stop(child, exited);
      const unplanned = unplannedIn(output());
      if (unplanned.length > 0) throw new Error(`${service} said:\n${unplanned.join('\n')}`);
      return code;
    },
    exited,
  };
}

function settings(service: string, workspace: ServiceWorkspace): Record<string, string> {
  const common = {
    HOST: '127.0.0.1',
    HEALTH_HOST: '127.0.0.1',
    REDIS_URL: workspace.redisUrl,
    REDIS_PREFIX: workspace.redisPrefix,
    OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
    LOG_LEVEL: 'info',
  };
  if (service === 'renderer') return { ...common, CHROMIUM_PATH: workspace.chromiumPath };
  const records = { ...common, MONGODB_URI: workspace.mongodbUri };
  const shown = { ...records, OPERATIONS_HOST: '127.0.0.1', PORTAL_HOST: '127.0.0.1' };
  const seals = ['gateway', 'mail', 'portal', 'webhooks'].includes(service);
  return seals ? { ...shown, SECRET_KEY: workspace.secretKey } : shown;
}

async function stop(child: ChildProcess, exited: Promise<number | null>): Promise<number | null> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  const code = await exited;
  clearTimeout(timer);
  return code;
}

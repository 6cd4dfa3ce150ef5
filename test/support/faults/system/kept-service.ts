// One service as a supervisor keeps it: on the same ports, started again whenever it ends by itself.
import { setTimeout as pause } from 'node:timers/promises';
import { supervise } from '../../../../deploy/local/supervise.ts';
import { eventually } from '../../eventually.ts';
import { type ServiceName, type SpawnedService, spawnService } from '../../spawn-service.ts';
import { steadyPort } from '../../steady-port.ts';
import type { Workspace } from '../../workspace.ts';
import { setClock, withClock } from './clock-files.ts';

export interface KeptService {
  name: string;
  service: ServiceName;
  /** The URL of the public port. Only the gateway has one. */
  url: string;
  healthUrl: string;
  logFile: string;
  /** Undefined while it is down. */
  pid(): number | undefined;
  /** How often it was started. */
  starts(): number;
  /** Does nothing to one that is down. @returns false then. */
  signal(signal: NodeJS.Signals): boolean;
  /** The next start, and no other, gets these variables too. */
  startNextWith(env: Record<string, string>): void;
  /** Sets its clock so many milliseconds ahead (back, when negative) of the right time, 0 for right. */
  setClock(offsetMs: number): Promise<void>;
  /** Waits until it says that it is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/** After so many seconds of a busy machine it is a hang. */
const READY_LIMIT_MS = 120_000;
const READY_STEP_MS = 100;

export async function keepService(
  service: ServiceName,
  options: {
    name: string;
    workspace: Workspace;
    env: Record<string, string>;
    logFile: string;
    note: (line: string) => void;
  },
): Promise<KeptService> {
  const { name, workspace, logFile } = options;
  const ports = { PORT: String(await steadyPort()), HEALTH_PORT: String(await steadyPort()) };
  const healthUrl = `http://127.0.0.1:${ports.HEALTH_PORT}`;
  const clock = `${logFile}.clock`;
  let starts = 0;
  let once: Record<string, string> = {};
  let current: SpawnedService | undefined;

  async function start() {
    starts += 1;
    const clockEnv = withClock(clock);
    const imports = [clockEnv['NODE_OPTIONS'], once['NODE_OPTIONS']].filter(Boolean).join(' ');
    const env = { ...options.env, ...ports, ...clockEnv, ...once, NODE_OPTIONS: imports };
    once = {};
    const spawned = await spawnService(service, workspace, env, logFile);
    current = spawned;
    return {
      pid: spawned.pid,
      exited: spawned.exited.then((code) => ({ code, signal: null })),
      stop: async () => void (await spawned.stop()),
    };
  }

  const terminal = { say: options.note, note: (who: string, line: string) => options.note(`${who} ${line}`) };
  const kept = await supervise({ name, start, terminal, onChange: () => undefined });
  return {
    name,
    service,
    url: `http://127.0.0.1:${ports.PORT}`,
    healthUrl,
    logFile,
    pid: kept.pid,
    starts: () => starts,
    signal(signal) {
      const pid = kept.pid();
      if (pid === undefined) return false;
      process.kill(pid, signal);
      return true;
    },
    startNextWith(env) {
      once = env;
    },
    setClock: (offsetMs) => setClock(clock, offsetMs),
    async ready() {
      await eventually(async () => {
        const isReady = kept.pid() !== undefined && (await fetch(`${healthUrl}/readyz`)).ok;
        if (!isReady) await pause(READY_STEP_MS);
        return isReady;
      }, READY_LIMIT_MS);
    },
    async stop() {
      current?.kill('SIGCONT'); // One that is paused would not hear that it should end.
      await kept.stop();
    },
  };
}

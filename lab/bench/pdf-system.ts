// The system that the benchmarks of documents ask: one gateway, one renderer by default, no limits by the minute.
import { type SpawnedService, spawnService } from '../../test/support/spawn-service.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { openPdfCaller, type PdfCaller } from './pdf-caller.ts';
import { cpuMsOf } from './process-cpu.ts';

export interface PdfSystem {
  workspace: Workspace;
  caller: PdfCaller;
  gateway: SpawnedService;
  renderers: SpawnedService[];
  /** Returns the processor time of gateway, renderers with their browsers, Redis and MongoDB. The caller's is left out. */
  cpuMs(): number;
  close(): Promise<void>;
}

/** Settings of a production system. The rate limits are off. */
const SETTINGS = { NODE_ENV: 'production', RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0' };

export interface PdfSystemOptions {
  renderers?: number;
  /** For the renderers. */
  env?: Record<string, string>;
  gatewayEnv?: Record<string, string>;
}

export async function startPdfSystem(options: BenchOptions, settings: PdfSystemOptions = {}): Promise<PdfSystem> {
  const workspace = await openBenchWorkspace(options);
  const system = await startServices(workspace, settings);
  return {
    ...system,
    async close() {
      await system.close();
      await workspace.close();
    },
  };
}

/** The services alone: closing them leaves the workspace open. */
export async function startServices(
  workspace: Workspace,
  { renderers: count = 1, env = {}, gatewayEnv = {} }: PdfSystemOptions = {},
): Promise<PdfSystem> {
  const [gateway, ...renderers] = await Promise.all([
    spawnService('gateway', workspace, { ...SETTINGS, ...gatewayEnv }),
    ...Array.from({ length: count }, () => spawnService('renderer', workspace, { ...SETTINGS, ...env })),
  ]);
  const caller = openPdfCaller(gateway.url);
  return {
    workspace,
    caller,
    gateway,
    renderers,
    cpuMs: () => cpuMsOf([process.pid]) - ownCpuMs(),
    async close() {
      caller.close();
      await Promise.all([gateway, ...renderers].map((service) => service.stop()));
    },
  };
}

/** Returns the processor time of this process. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** `count` runs of `work`, at most `callers` at once. @returns milliseconds it took. */
export async function together(callers: number, count: number, work: (caller: number) => Promise<unknown>) {
  const startedAt = performance.now();
  let begun = 0;
  const loop = async (caller: number) => {
    while (begun < count) {
      begun += 1;
      await work(caller);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_none, caller) => loop(caller)));
  return performance.now() - startedAt;
}

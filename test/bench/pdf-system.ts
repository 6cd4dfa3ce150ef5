// The system that the benchmarks of documents ask: one gateway, one renderer unless told otherwise, nobody limited by the minute.
import { type SpawnedService, spawnService } from '../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import type { BenchOptions } from './main.ts';
import { openPdfCaller, type PdfCaller } from './pdf-caller.ts';
import { cpuMsOf } from './process-cpu.ts';

export interface PdfSystem {
  workspace: Workspace;
  caller: PdfCaller;
  gateway: SpawnedService;
  renderers: SpawnedService[];
  /** Of every process that has a part in a document but the caller: gateway, renderers with their browsers, Redis, MongoDB. */
  cpuMs(): number;
  close(): Promise<void>;
}

/** As operators run it. */
const SETTINGS = { NODE_ENV: 'production', RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0' };

/** @param env for the renderers. */
export async function startPdfSystem(
  { mongodbUri, redisUrl, chromiumPath }: BenchOptions,
  { renderers: count = 1, env = {} }: { renderers?: number; env?: Record<string, string> } = {},
): Promise<PdfSystem> {
  Object.assign(process.env, {
    TEST_MONGODB_URI: mongodbUri,
    TEST_REDIS_URL: redisUrl,
    TEST_CHROMIUM_PATH: chromiumPath,
  });
  const workspace = await openWorkspace();
  const [gateway, ...renderers] = await Promise.all([
    spawnService('gateway', workspace, SETTINGS),
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
      await workspace.close();
    },
  };
}

/** Of this process. */
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

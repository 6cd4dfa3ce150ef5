// Watches the services during a measurement: their memory, the time of /livez and the processor time.
import { setTimeout as pause } from 'node:timers/promises';
import type { SpawnedService } from '../../test/support/spawn-service.ts';
import { ownCpuMs } from '../bench/pdf-system.ts';
import { cpuMsOf, residentMegabytesOf } from '../bench/process-cpu.ts';

/** Processor time in parts of one core. */
interface Busy {
  gateway: number;
  /** With its browser. */
  renderer: number;
  /** MongoDB and Redis. */
  stores: number;
  neighbour: number;
}

export interface Seen {
  gatewayMegabytes: number;
  /** With its browser; memory that its processes share counts for each. */
  rendererMegabytes: number;
  livezMs: number;
  busy: Busy;
}

/** The highest of several rounds; processor time is their mean. */
export function highestOf(rounds: readonly Seen[]): Seen {
  const most = (of: (seen: Seen) => number) => Math.max(0, ...rounds.map(of));
  const mean = (of: (busy: Busy) => number) => rounds.reduce((sum, { busy }) => sum + of(busy), 0) / rounds.length;
  return {
    gatewayMegabytes: most(({ gatewayMegabytes }) => gatewayMegabytes),
    rendererMegabytes: most(({ rendererMegabytes }) => rendererMegabytes),
    livezMs: most(({ livezMs }) => livezMs),
    busy: {
      gateway: mean(({ gateway }) => gateway),
      renderer: mean(({ renderer }) => renderer),
      stores: mean(({ stores }) => stores),
      neighbour: mean(({ neighbour }) => neighbour),
    },
  };
}

/** Reading the memory of all processes takes some milliseconds of the process that measures, alone as well as beside a neighbour. */
const MEMORY_EVERY_MS = 500;
const LIVEZ_EVERY_MS = 100;
const LIVEZ_LIMIT_MS = 10_000;

export interface Watched {
  gateway: SpawnedService;
  renderer: SpawnedService;
  neighbourPid?: number | undefined;
}

/** @returns what ends the watch and tells. */
export function watch({ gateway, renderer, neighbourPid }: Watched): () => Promise<Seen> {
  const cpuMs = () => {
    const of = (pid: number | undefined) => (pid === undefined ? 0 : cpuMsOf([pid]));
    const known = { gateway: of(gateway.pid), renderer: of(renderer.pid), neighbour: of(neighbourPid) };
    const all = cpuMsOf([process.pid]) - ownCpuMs();
    return { ...known, stores: all - known.gateway - known.renderer - known.neighbour };
  };
  const seen = { gatewayMegabytes: 0, rendererMegabytes: 0, livezMs: 0 };
  const startedAt = performance.now();
  const before = cpuMs();
  let isOver = false;
  const memory = async () => {
    while (!isOver) {
      seen.gatewayMegabytes = Math.max(seen.gatewayMegabytes, residentMegabytesOf([gateway.pid]));
      seen.rendererMegabytes = Math.max(seen.rendererMegabytes, residentMegabytesOf([renderer.pid]));
      await pause(MEMORY_EVERY_MS);
    }
  };
  const livez = async () => {
    while (!isOver) {
      const askedAt = performance.now();
      const signal = AbortSignal.timeout(LIVEZ_LIMIT_MS);
      await fetch(`${gateway.healthUrl}/livez`, { signal }).catch(() => undefined);
      seen.livezMs = Math.max(seen.livezMs, performance.now() - askedAt);
      await pause(LIVEZ_EVERY_MS);
    }
  };
  const watching = [memory(), livez()];
  return async () => {
    const after = cpuMs();
    const tookMs = performance.now() - startedAt;
    isOver = true;
    await Promise.all(watching);
    const share = (of: keyof Busy) => (after[of] - before[of]) / tookMs;
    const busy = {
      gateway: share('gateway'),
      renderer: share('renderer'),
      stores: share('stores'),
      neighbour: share('neighbour'),
    };
    return { ...seen, busy };
  };
}

// What the services hold and how fast they say that they are alive, while something is measured.
import { setTimeout as pause } from 'node:timers/promises';
import type { SpawnedService } from '../../test/support/spawn-service.ts';
import { residentMegabytesOf } from '../bench/process-cpu.ts';

export interface Peaks {
  gatewayMegabytes: number;
  /** With its browser; memory that its processes share counts for each. */
  rendererMegabytes: number;
  livezMs: number;
}

export const noPeaks = (): Peaks => ({ gatewayMegabytes: 0, rendererMegabytes: 0, livezMs: 0 });

export function highest(one: Peaks, other: Peaks): Peaks {
  return {
    gatewayMegabytes: Math.max(one.gatewayMegabytes, other.gatewayMegabytes),
    rendererMegabytes: Math.max(one.rendererMegabytes, other.rendererMegabytes),
    livezMs: Math.max(one.livezMs, other.livezMs),
  };
}

const LOOK_MS = 150;
const LIVEZ_LIMIT_MS = 10_000;

/** @returns what ends the watch and tells. */
export function watch(gateway: SpawnedService, renderer: SpawnedService): () => Promise<Peaks> {
  const peaks = noPeaks();
  let isOver = false;
  const memory = async () => {
    while (!isOver) {
      peaks.gatewayMegabytes = Math.max(peaks.gatewayMegabytes, residentMegabytesOf([gateway.pid]));
      peaks.rendererMegabytes = Math.max(peaks.rendererMegabytes, residentMegabytesOf([renderer.pid]));
      await pause(LOOK_MS);
    }
  };
  const livez = async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const signal = AbortSignal.timeout(LIVEZ_LIMIT_MS);
      await fetch(`${gateway.healthUrl}/livez`, { signal }).catch(() => undefined);
      peaks.livezMs = Math.max(peaks.livezMs, performance.now() - startedAt);
      await pause(LOOK_MS);
    }
  };
  const watching = [memory(), livez()];
  return async () => {
    isOver = true;
    await Promise.all(watching);
    return peaks;
  };
}

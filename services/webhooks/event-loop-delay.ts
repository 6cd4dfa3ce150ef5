// How late this process's event loop is: what an attempt takes then is not its endpoint's doing alone.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
const EVERY_MS = 1_000;

export interface LoopLag {
  /** The mean of the last full second, in milliseconds; 0 before there was one. */
  ms(): number;
  close(): void;
}

export function openLoopLag(): LoopLag {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let lagMs = 0;
  const timer = setInterval(() => {
    // A loop that stood still for the whole second has seen nothing: NaN.
    lagMs = Math.max(0, (delay.mean || 0) / NANOSECONDS_PER_MS - RESOLUTION_MS);
    delay.reset();
  }, EVERY_MS);
  return {
    ms: () => lagMs,
    close() {
      clearInterval(timer);
      delay.disable();
    },
  };
}

// Measures the delay of this process's event loop. A delay makes attempts longer, which says nothing about their
// endpoints.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
const NANOSECONDS_PER_MS = 1e6;
const EVERY_MS = 1_000;

export interface EventLoopDelay {
  /** Returns the mean of the last full second in milliseconds. 0 before there was one. */
  ms(): number;
  close(): void;
}

export function openEventLoopDelay(): EventLoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  const timer = setInterval(() => {
    // The mean is NaN when the loop stood still for the whole second.
    delayMs = Math.max(0, (histogram.mean || 0) / NANOSECONDS_PER_MS - RESOLUTION_MS);
    histogram.reset();
  }, EVERY_MS);
  return {
    ms: () => delayMs,
    close() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}

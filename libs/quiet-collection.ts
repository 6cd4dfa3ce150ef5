// Lets V8 look through the whole heap while nobody waits. Why not leave it to V8: docs/adr/0019-collections-in-quiet-moments.md
import { performance } from 'node:perf_hooks';

const EVERY_MS = 5 * 60_000;
/** So long the event loop is watched before it is called quiet. */
const LOOK_MS = 100;
/** The share of that time it may have worked. */
const QUIET_SHARE = 0.1;
/** No quiet moment among so many: the process has much to do, and then V8 collects often by itself. */
const LOOKS_MAX = 50;

export interface QuietCollection {
  /** Milliseconds between two collections. */
  everyMs?: number;
  /** Node's own, there with `--expose-gc`; without it nothing is collected. */
  collect?: (() => unknown) | undefined;
}

/** Collects every five minutes, in the first tenth of a second in which the event loop had next to nothing to do. @returns what ends that. */
export function collectWhenQuiet({ everyMs = EVERY_MS, collect = globalThis.gc }: QuietCollection = {}): () => void {
  if (!collect) return () => undefined;
  let look: NodeJS.Timeout | undefined;

  function watch(looksLeft: number) {
    const before = performance.eventLoopUtilization();
    look = setTimeout(() => {
      if (performance.eventLoopUtilization(before).utilization <= QUIET_SHARE) collect?.();
      else if (looksLeft > 1) watch(looksLeft - 1);
    }, LOOK_MS).unref();
  }

  const clock = setInterval(() => {
    clearTimeout(look);
    watch(LOOKS_MAX);
  }, everyMs).unref();
  return () => {
    clearInterval(clock);
    clearTimeout(look);
  };
}

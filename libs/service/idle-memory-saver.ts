// Switches V8's memory saver mode on while the process is idle. Why: docs/adr/0022-release-memory-while-idle.md
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const EVERY_MS = 1_000;
/** Event-loop utilisation from which the process counts as busy: a gateway that prints as fast as its renderers can has a fifth. */
const BUSY_FROM = 0.15;
/** A busy second turns the mode off at once. After less rest a load that comes and goes would be collected all the time. */
const REST_MS = 10_000;

/**
 * While it is busy, what is live may grow by as much before it is collected. V8 would decide by itself, and after a collection that released
 * memory allows a sixth until the heap itself grows: bodies of requests lie beside it, so that each few of them caused a full collection.
 */
const GROWTH_PERCENT = 100;
const V8_DECIDES = 0;

/** @param options.restMs without a busy second before it is on. @returns a function that stops it and restores V8's default. */
export function saveMemoryWhileIdle({ restMs = REST_MS } = {}): () => void {
  let quietMs = 0;
  let last = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isQuiet = performance.eventLoopUtilization(now, last).utilization < BUSY_FROM;
    quietMs = isQuiet ? quietMs + EVERY_MS : 0;
    const saves = quietMs >= restMs;
    setMode(saves, saves ? V8_DECIDES : GROWTH_PERCENT);
    last = now;
  }, EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    setMode(false, V8_DECIDES);
  };
}

function setMode(saves: boolean, growthPercent: number): void {
  setFlagsFromString(saves ? '--memory-saver-mode' : '--no-memory-saver-mode');
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

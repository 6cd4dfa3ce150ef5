// V8 gives memory back while little happens, and takes what it wants while much does. Why: docs/adr/0022-memory-is-given-back-while-little-happens.md
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const EVERY_MS = 1_000;
/** Share of the time in which the event loop has something to do. */
const BUSY_FROM = 0.5;

/** @returns what ends it, and leaves V8 as it is without. */
export function saveMemoryWhileIdle(): () => void {
  let last = performance.eventLoopUtilization();
  const save = (wanted: boolean) => setFlagsFromString(wanted ? '--memory-saver-mode' : '--no-memory-saver-mode');
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    save(performance.eventLoopUtilization(now, last).utilization < BUSY_FROM);
    last = now;
  }, EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    save(false);
  };
}

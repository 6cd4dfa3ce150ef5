// Switches V8's memory saver mode on while the process is idle. Why: docs/adr/0022-release-memory-while-idle.md
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const EVERY_MS = 1_000;
/** Event-loop utilisation from which the process counts as busy: a gateway that prints as fast as its renderers can has a fifth. */
const BUSY_FROM = 0.15;

/** @returns a function that stops it and restores V8's default. */
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

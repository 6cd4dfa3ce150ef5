// Switches V8's memory saver mode on while the process is idle. Why: docs/adr/0022-release-memory-while-idle.md
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const EVERY_MS = 1_000;
/** Event-loop utilisation from which the process counts as busy: a gateway that prints as fast as its renderers can has a fifth. */
const BUSY_FROM = 0.15;
/** A busy second turns the mode off at once. After less rest a load that comes and goes would be collected all the time. */
const REST_MS = 10_000;

/** @param options.restMs without a busy second before it is on. @returns a function that stops it and restores V8's default. */
export function saveMemoryWhileIdle({ restMs = REST_MS } = {}): () => void {
  let quietMs = 0;
  let last = performance.eventLoopUtilization();
  const save = (wanted: boolean) => setFlagsFromString(wanted ? '--memory-saver-mode' : '--no-memory-saver-mode');
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isQuiet = performance.eventLoopUtilization(now, last).utilization < BUSY_FROM;
    quietMs = isQuiet ? quietMs + EVERY_MS : 0;
    save(quietMs >= restMs);
    last = now;
  }, EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    save(false);
  };
}

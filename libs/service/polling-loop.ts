// Does something again and again: at once when woken, else after a pause, and more and more slowly while it fails.
import type { Logger } from './logger.ts';

const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 5_000;

export interface Repetition {
  /** Runs now, or once more after the run in hand. While it fails its own pace counts. */
  wake(): void;
  /** Tells the run in hand to stop, and resolves when it has ended; there is none after it. */
  stop(): Promise<void>;
}

/** @param work returns true when there is more to do right now. Its signal is aborted when nobody wants the rest any more. */
export function repeat(
  work: (signal: AbortSignal) => Promise<boolean>,
  options: { name: string; everyMs: number; log: Logger },
): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  let isWoken = false;
  let failures = 0;

  async function run() {
    isWoken = false;
    let pauseMs = options.everyMs;
    try {
      if (await work(stopping.signal)) isWoken = true;
      if (failures > 0) options.log.info(`${options.name} goes on`);
      failures = 0;
    } catch (error) {
      failures += 1;
      // One line for an outage, not one for each try.
      if (failures === 1) options.log.warn({ err: error }, `${options.name} cannot work`);
      pauseMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** (failures - 1));
    }
    running = undefined;
    if (!stopping.signal.aborted) plan(isWoken && failures === 0 ? 0 : pauseMs);
  }

  function plan(afterMs: number) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = run();
    }, afterMs);
  }

  plan(0);
  return {
    wake() {
      if (stopping.signal.aborted || failures > 0) return;
      isWoken = true;
      if (!running) plan(0);
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

// Runs work in a loop: at once when woken, else after a pause, with exponential backoff while it fails.
import { errorText } from '../errors.ts';
import type { Logger } from './logger.ts';

const BACKOFF_MIN_MS = 500;
const BACKOFF_MAX_MS = 5_000;

export interface PollingLoop {
  /** Runs the work now, or once more after the current run. Ignored while the loop backs off. */
  wake(): void;
  /** Aborts the current run, resolves when it has ended, and starts no other. */
  stop(): Promise<void>;
}

/**
 * Starts a loop.
 * @param work returns true when there is more to do right now. Its signal aborts when the loop stops.
 */
export function startPollingLoop(
  work: (signal: AbortSignal) => Promise<boolean>,
  options: { name: string; everyMs: number; log: Logger },
): PollingLoop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  let isWoken = false;
  let failures = 0;
  /** The text of the latest failure. */
  let problem: string | undefined;

  async function run() {
    isWoken = false;
    let pauseMs = options.everyMs;
    try {
      if (await work(stopping.signal)) isWoken = true;
      if (failures > 0) options.log.info(`${options.name} works again`);
      failures = 0;
      problem = undefined;
    } catch (error) {
      failures += 1;
      // One line is logged per problem, not one per try.
      if (errorText(error) !== problem)
        options.log.warn({ err: error }, `${options.name} failed; it retries with backoff`);
      problem = errorText(error);
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

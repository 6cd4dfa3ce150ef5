// Tells a slow endpoint from a slow machine. An attempt waits in this process for a quick endpoint only.

/** The next attempt at an endpoint this quick waits right here, because deferring it costs more than the wait. */
const QUICK_MS = 50;
/**
 * The passes of an attempt through this process's event loop (name, call, head, body). While the loop is late, no
 * endpoint counts as slow for it.
 */
const LOOPS_PER_ATTEMPT = 5;
/**
 * An endpoint that takes less than this many times as long as the quickest one is not slow either. When all take long,
 * the reason is this machine or its network, and deferring would give it more work.
 */
const SLOWER = 8;
const QUICKEST_CACHED_MS = 100;

export interface SpeedOptions {
  now: () => number;
  eventLoopDelayMs: () => number;
  /** Returns the average durations of the endpoints whose last attempt succeeded. */
  averagesMs: () => number[];
}

export type SpeedJudge = ReturnType<typeof makeSpeedJudge>;

export function makeSpeedJudge({ now, eventLoopDelayMs, averagesMs }: SpeedOptions) {
  let quickest = { averageMs: 0, untilAt: Number.NEGATIVE_INFINITY };

  /** Returns the shortest average, or 0 when no endpoint has succeeded lately. */
  function quickestMs(): number {
    if (now() >= quickest.untilAt) {
      const averages = averagesMs();
      quickest = { averageMs: averages.length > 0 ? Math.min(...averages) : 0, untilAt: now() + QUICKEST_CACHED_MS };
    }
    return quickest.averageMs;
  }

  const isQuick = (ms: number) => ms <= QUICK_MS + LOOPS_PER_ATTEMPT * eventLoopDelayMs();
  const isLikeOthers = (ms: number) => ms <= SLOWER * quickestMs();
  return { isQuick, isLikeOthers, isSlow: (ms: number) => !isQuick(ms) && !isLikeOthers(ms) };
}

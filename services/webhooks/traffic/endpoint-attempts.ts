// The attempts at one endpoint: their limit, their duration, and the time at which one beyond the limit may come back.
import { type CircuitBreaker, makeCircuitBreaker } from './circuit-breaker.ts';

/** The limit of all processes together. Each has its share, and at least one. */
const IN_FLIGHT_MAX = 5;
/** The limit after a failure: one attempt at a time shows if the endpoint is well again. */
const IN_FLIGHT_FAILING = 1;
/** The weight of the latest attempt in the average. */
const SMOOTHING = 0.2;
/** The longest deferral of an attempt beyond the limit. The endpoint may be quicker by then. */
const DEFERRED_MAX_MS = 5 * 60_000;
const DEFERRED_MIN_MS = 500;

export interface AttemptOutcome {
  isWell: boolean;
  durationMs: number;
}

export interface EndpointAttempts {
  breaker: CircuitBreaker;
  limit(): number;
  inFlight(): number;
  isFull(): boolean;
  /**
   * Begins an attempt.
   * @returns a function that ends it and returns true when that closes the breaker. `outcome` is absent when no attempt
   * was made.
   */
  begin(): (outcome?: AttemptOutcome) => boolean;
  /** Returns the average duration so far. Undefined before the first attempt ended. */
  averageMs(): number | undefined;
  /** Returns the expected duration of the next attempt. */
  expectedMs(): number;
  /**
   * Gives each attempt beyond the limit a time of its own, so that they do not all come back together.
   * @returns milliseconds.
   */
  deferMs(): number;
}

export function makeEndpointAttempts(options: {
  scale: number;
  now: () => number;
  processes: () => number;
}): EndpointAttempts {
  const { now } = options;
  const breaker = makeCircuitBreaker(options.scale, now);
  const inFlight = new Set<{ since: number }>();
  let averageMs: number | undefined;
  let nextFreeAt = 0;

  const limit = () =>
    breaker.isOpen() || breaker.hasFailedLast()
      ? IN_FLIGHT_FAILING
      : Math.max(1, Math.floor(IN_FLIGHT_MAX / Math.max(1, options.processes())));

  // An attempt that has lasted longer than the average is the better guess, because the endpoint hangs.
  const expectedMs = () => Math.max(averageMs ?? 0, ...[...inFlight].map(({ since }) => now() - since));

  return {
    breaker,
    limit,
    inFlight: () => inFlight.size,
    isFull: () => inFlight.size >= limit(),
    begin() {
      const flight = { since: now() };
      inFlight.add(flight);
      return (outcome) => {
        inFlight.delete(flight);
        if (!outcome) return false;
        const { isWell, durationMs } = outcome;
        averageMs = averageMs === undefined ? durationMs : (1 - SMOOTHING) * averageMs + SMOOTHING * durationMs;
        return breaker.record(isWell);
      };
    },
    averageMs: () => averageMs,
    expectedMs,
    deferMs() {
      nextFreeAt = Math.min(Math.max(nextFreeAt, now()) + expectedMs() / limit(), now() + DEFERRED_MAX_MS);
      return Math.max(DEFERRED_MIN_MS, nextFreeAt - now());
    },
  };
}

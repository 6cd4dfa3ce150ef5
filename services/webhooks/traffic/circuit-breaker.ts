// The circuit breaker of one endpoint: opens when it only fails, and closes when a trial succeeds.

const WINDOW_MS = 5 * 60_000;
const OUTCOMES_MIN = 10;
const OUTCOMES_KEPT = 50;
const FAILURE_SHARE = 0.7;
const OPEN_MS = 30_000;
/** Deferred deliveries come back this many per time that the breaker is open: the more there are, the later each. */
const BACK_PER_OPEN = 100;
/** Half an hour: no delivery is deferred for longer. */
const OPENS_MAX = 60;
/** After this many failures in a row planned deliveries are deferred before they are enqueued. */
const FAILURES_FORESEEN = 2;
/** A planned trial takes this long from the poller through the queue; after that another one is planned. */
const TRIAL_COMES_MS = 2_000;

export interface CircuitBreaker {
  /** True also after its time, until a trial has succeeded. */
  isOpen(): boolean;
  /** True while not even a trial is made. */
  isBlocking(): boolean;
  /** @returns true when the outcome closes it. */
  record(isWell: boolean): boolean;
  /** @returns milliseconds to wait, or undefined when the attempt may be made. @param deferrals how often in a row it was deferred. */
  wait(isTrialUnderWay: boolean, deferrals?: number): number | undefined;
  /** A trial was planned: it will come through the queue. */
  expectTrial(): void;
  isTrialExpected(): boolean;
  hasFailedLast(): boolean;
  hasSucceededLast(): boolean;
  /** True after failures in a row. */
  isFailing(): boolean;
  /** True when there is nothing to remember. */
  isHealthy(): boolean;
}

/** Longer than any deferral, and than an outcome counts: at worst a breaker that was forgotten opens once more. */
export const memoryMs = (scale: number) => Math.max((1 + OPENS_MAX) * OPEN_MS * scale, WINDOW_MS);

/** @param scale multiplies the time it stays open. */
export function makeCircuitBreaker(scale: number, now: () => number): CircuitBreaker {
  const openMs = OPEN_MS * scale;
  /** The last ones, oldest first. */
  const outcomes: Array<{ at: number; isWell: boolean }> = [];
  let openUntil = 0;
  /** Deferrals since it opened. */
  let deferred = 0;
  let trialUntil = 0;

  // Open already means that the trial failed.
  const mustOpen = () =>
    openUntil > 0 ||
    (outcomes.length >= OUTCOMES_MIN &&
      outcomes.filter(({ isWell }) => !isWell).length >= FAILURE_SHARE * outcomes.length);

  return {
    isOpen: () => openUntil > 0,
    isBlocking: () => openUntil > now(),
    record(isWell) {
      const closes = isWell && openUntil > 0;
      const at = now();
      if (closes) outcomes.length = 0;
      while (outcomes.length >= OUTCOMES_KEPT || (outcomes[0]?.at ?? at) < at - WINDOW_MS) outcomes.shift();
      outcomes.push({ at, isWell });
      if (closes) {
        openUntil = 0;
        deferred = 0;
      } else if (!isWell && mustOpen()) openUntil = now() + openMs;
      return closes;
    },
    wait(isTrialUnderWay, deferrals = 0) {
      if (openUntil === 0) return undefined;
      const closedMs = openUntil - now();
      // Its time is over: one attempt is the trial, and the others wait for how it ends.
      if (closedMs <= 0 && !isTrialUnderWay) return undefined;
      // The backlog of an endpoint that is down must not come back as a whole every half minute. A success recalls all of it at once.
      const opens = Math.min(OPENS_MAX, Math.max(2 ** deferrals, 1 + deferred / BACK_PER_OPEN));
      deferred += 1;
      return (closedMs > 0 ? closedMs : openMs) + openMs * opens * Math.random();
    },
    expectTrial: () => {
      trialUntil = now() + TRIAL_COMES_MS;
    },
    isTrialExpected: () => trialUntil > now(),
    hasFailedLast: () => outcomes.at(-1)?.isWell === false,
    hasSucceededLast: () => outcomes.at(-1)?.isWell === true,
    isFailing: () =>
      outcomes.length >= FAILURES_FORESEEN && outcomes.slice(-FAILURES_FORESEEN).every(({ isWell }) => !isWell),
    isHealthy: () => openUntil === 0 && outcomes.every(({ isWell }) => isWell),
  };
}

// The circuit breaker of one endpoint. It opens when attempts only fail, and closes when a trial succeeds.

const WINDOW_MS = 5 * 60_000;
const OUTCOMES_MIN = 10;
const OUTCOMES_KEPT = 50;
const FAILURE_SHARE = 0.7;
const OPEN_MS = 30_000;
/**
 * The number of deferred deliveries that come back per time that the breaker is open. The more there are, the later
 * each.
 */
const BACK_PER_OPEN = 100;
/** The longest deferral, in times that the breaker is open: half an hour. */
const OPENS_MAX = 60;
/** The number of failures in a row after which planned deliveries are deferred before they are enqueued. */
const FAILURES_FORESEEN = 2;
/** The time that a planned trial takes from the poller through the queue. After that another one is planned. */
const TRIAL_COMES_MS = 2_000;

export interface CircuitBreaker {
  /** Returns true until a trial has succeeded, also after the time of the breaker is over. */
  isOpen(): boolean;
  /** Returns true while not even a trial is made. */
  isBlocking(): boolean;
  /** Records an outcome. @returns true when it closes the breaker. */
  record(isWell: boolean): boolean;
  /**
   * Returns the milliseconds to wait, or undefined when the attempt may be made.
   * @param deferrals the number of deferrals in a row.
   */
  wait(isTrialUnderWay: boolean, deferrals?: number): number | undefined;
  /** Notes that a trial was planned and will come through the queue. */
  expectTrial(): void;
  isTrialExpected(): boolean;
  hasFailedLast(): boolean;
  hasSucceededLast(): boolean;
  /** Returns true after failures in a row. */
  isFailing(): boolean;
  /** Returns true when there is nothing to remember. */
  isHealthy(): boolean;
}

/** Longer than any deferral, and than an outcome counts. At worst a breaker that was forgotten opens once more. */
export const memoryMs = (scale: number) => Math.max((1 + OPENS_MAX) * OPEN_MS * scale, WINDOW_MS);

/** Makes a breaker. @param scale multiplies the time for which it stays open. */
export function makeCircuitBreaker(scale: number, now: () => number): CircuitBreaker {
  const openMs = OPEN_MS * scale;
  /** The latest outcomes, oldest first. */
  const outcomes: Array<{ at: number; isWell: boolean }> = [];
  let openUntil = 0;
  /** The number of deferrals since it opened. */
  let deferred = 0;
  let trialUntil = 0;

  // An open breaker here means that the trial failed.
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
      // The time of the breaker is over. One attempt is the trial, and the others wait for its outcome.
      if (closedMs <= 0 && !isTrialUnderWay) return undefined;
      // The backlog of an endpoint that is down must not come back as a whole every half minute. A success recalls all
      // of it at once.
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

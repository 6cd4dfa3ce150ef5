// Admission of attempts: limits the calls in flight to one endpoint, so that it cannot take the slots that other endpoints need.
// It lives in memory, for this process: a wrong guess costs a wait, never a delivery.
import { type CircuitBreaker, makeCircuitBreaker, memoryMs } from './circuit-breaker.ts';
import { makeSpeedJudge } from './endpoint-speed.ts';

/** Of all processes together, each its share and at least one. */
const IN_FLIGHT_MAX = 5;
/** After a failure one attempt at a time shows whether the endpoint is well again. */
const IN_FLIGHT_FAILING = 1;
/** How often idle endpoints are forgotten: it costs little, and they must not gather for weeks. */
const FORGET_EVERY_MS = 60_000;
/** The share of all slots that attempts may occupy while they wait here: the rest is for other endpoints. */
const WAITING_SHARE = 3 / 4;
/** And the share for one endpoint, however quick it is. */
const WAITING_SHARE_OF_ONE = 1 / 3;
/** An attempt that waits here checks this often whether the endpoint is still quick, and this many times. */
const CHECK_EVERY_MS = 500;
const CHECKS_MAX = 10;
/** An attempt that waits for a slow endpoint comes back after this at the latest: the endpoint may be quicker by then. */
const DEFERRED_MAX_MS = 5 * 60_000;
const DEFERRED_MIN_MS = 500;

export interface Wait {
  waitMs: number;
  /** Because of the breaker, not because the limit is reached. */
  isOpen: boolean;
}

export interface Admitted {
  admitted: true;
  /** @param outcome absent when no attempt was made. */
  release: (outcome?: { isWell: boolean; durationMs: number }) => { recovered: boolean };
}

export type Admission = Admitted | ({ admitted: false } & Wait);

export interface Traffic {
  /** Asks for one attempt at an endpoint. An admitted one must be released. @param deferrals by the breaker, in a row. */
  admit(endpointId: string, deferrals?: number): Promise<Admission>;
  /**
   * For fan-out and poller: the wait of an attempt that would not be admitted now, undefined for one that should come.
   * Deferring a delivery before it is enqueued costs a tenth of deferring it afterwards.
   */
  predictWait(endpointId: string, deferrals?: number): Wait | undefined;
  /** True while the breaker of the endpoint is open, or waits for its trial. */
  isOpen(endpointId: string): boolean;
  /** Endpoints in memory: those with attempts in flight or recent failures. */
  size(): number;
}

interface State {
  breaker: CircuitBreaker;
  /** Start times. */
  inFlight: Set<{ since: number }>;
  /** Each gets the admission of an attempt that waits here. */
  waiting: Array<(admission: Admission) => void>;
  averageMs: number | undefined;
  nextFreeAt: number;
  /** When it was last asked for. */
  askedAt: number;
}

export interface TrafficOptions {
  /** Multiplies the time the breaker stays open (WEBHOOK_RETRY_SCALE). */
  scale: number;
  /** Webhook services at the moment, this one included. */
  processes?: () => number;
  eventLoopDelayMs?: () => number;
  /** Attempts of this process at most, those that wait here included. */
  slots?: number;
  now?: () => number;
}

export function openTraffic(options: TrafficOptions): Traffic {
  const { scale, now = () => performance.now(), processes = () => 1, slots = Number.POSITIVE_INFINITY } = options;
  const states = new Map<string, State>();
  let forgetsAt = now() + FORGET_EVERY_MS;
  let waitingHere = 0;
  const speed = makeSpeedJudge({
    now,
    eventLoopDelayMs: options.eventLoopDelayMs ?? (() => 0),
    averagesMs: () =>
      [...states.values()].filter(({ breaker }) => breaker.hasSucceededLast()).map(({ averageMs = 0 }) => averageMs),
  });

  /** An endpoint that failed last and was deleted, disabled or fell silent has no success that would end its state. */
  function forgetIdle() {
    if (now() < forgetsAt) return;
    forgetsAt = now() + FORGET_EVERY_MS;
    for (const [endpointId, state] of states)
      if (isUnused(state) && state.askedAt < now() - memoryMs(scale)) states.delete(endpointId);
  }

  function stateOf(endpointId: string): State {
    let state = states.get(endpointId);
    if (!state) {
      // The only moment when there can be more.
      forgetIdle();
      const breaker = makeCircuitBreaker(scale, now);
      state = { breaker, inFlight: new Set(), waiting: [], averageMs: undefined, nextFreeAt: 0, askedAt: 0 };
      states.set(endpointId, state);
    }
    state.askedAt = now();
    return state;
  }

  const limitOf = ({ breaker }: State) =>
    breaker.isOpen() || breaker.hasFailedLast()
      ? IN_FLIGHT_FAILING
      : Math.max(1, Math.floor(IN_FLIGHT_MAX / Math.max(1, processes())));

  const isFull = (state: State) => state.inFlight.size >= limitOf(state);

  function admitNow(endpointId: string, state: State): Admitted {
    const flight = { since: now() };
    state.inFlight.add(flight);
    return {
      admitted: true,
      release(outcome) {
        state.inFlight.delete(flight);
        const recovered = outcome !== undefined && learn(state, outcome);
        // Handed over synchronously: no other attempt can come between and exceed the limit.
        while (state.waiting.length > 0 && !isFull(state) && !state.breaker.isBlocking())
          state.waiting.shift()?.(admitNow(endpointId, state));
        if (isUnused(state) && state.breaker.isHealthy()) states.delete(endpointId);
        return { recovered };
      },
    };
  }

  // An attempt that has lasted longer than the average is the better guess: the endpoint hangs.
  const expectedMs = ({ averageMs = 0, inFlight }: State) =>
    Math.max(averageMs, ...[...inFlight].map(({ since }) => now() - since));

  /** Gives each attempt beyond the limit a time of its own, so that they do not all come back together. */
  function postpone(state: State): Wait {
    const perAttemptMs = expectedMs(state) / limitOf(state);
    state.nextFreeAt = Math.min(Math.max(state.nextFreeAt, now()) + perAttemptMs, now() + DEFERRED_MAX_MS);
    return { waitMs: Math.max(DEFERRED_MIN_MS, state.nextFreeAt - now()), isOpen: false };
  }

  function mayWaitHere(state: State): boolean {
    const ms = expectedMs(state);
    const place = state.waiting.length + 1;
    // One that comes later than the last check would be deferred in the end.
    const isInTime = (ms * place) / limitOf(state) < CHECKS_MAX * CHECK_EVERY_MS;
    if (!isInTime || place > WAITING_SHARE_OF_ONE * slots) return false;
    return speed.isQuick(ms) || (speed.isLikeOthers(ms) && waitingHere < WAITING_SHARE * slots);
  }

  /** @returns an admission as soon as another attempt is released, or a wait when the endpoint turns out to be slow or down. */
  function waitHere(state: State): Promise<Admission> {
    return new Promise((resolve) => {
      let checksLeft = CHECKS_MAX;
      waitingHere += 1;
      const end = (admission: Admission) => {
        waitingHere -= 1;
        clearInterval(timer);
        resolve(admission);
      };
      const timer = setInterval(() => {
        checksLeft -= 1;
        if (checksLeft > 0 && !state.breaker.isOpen() && !speed.isSlow(expectedMs(state))) return;
        state.waiting.splice(state.waiting.indexOf(end), 1);
        end({ admitted: false, ...postpone(state) });
      }, CHECK_EVERY_MS);
      state.waiting.push(end);
    });
  }

  return {
    size: () => states.size,
    isOpen: (endpointId) => states.get(endpointId)?.breaker.isOpen() ?? false,
    predictWait(endpointId, deferrals) {
      const state = states.get(endpointId);
      if (!state) return undefined;
      const { breaker, inFlight } = state;
      state.askedAt = now();
      const waitMs = breaker.wait(inFlight.size > 0 || breaker.isTrialExpected(), deferrals);
      if (waitMs !== undefined) return { waitMs, isOpen: true };
      if (breaker.isOpen()) breaker.expectTrial();
      return isFull(state) && (breaker.isFailing() || !mayWaitHere(state)) ? postpone(state) : undefined;
    },
    async admit(endpointId, deferrals) {
      const state = stateOf(endpointId);
      const waitMs = state.breaker.wait(state.inFlight.size > 0, deferrals);
      if (waitMs !== undefined) return { admitted: false, waitMs, isOpen: true };
      if (!isFull(state)) return admitNow(endpointId, state);
      return mayWaitHere(state) ? waitHere(state) : { admitted: false, ...postpone(state) };
    },
  };
}

const isUnused = ({ inFlight, waiting }: State) => inFlight.size === 0 && waiting.length === 0;

/** @returns true when the breaker closes. */
function learn(state: State, { isWell, durationMs }: { isWell: boolean; durationMs: number }): boolean {
  state.averageMs = state.averageMs === undefined ? durationMs : 0.8 * state.averageMs + 0.2 * durationMs;
  return state.breaker.record(isWell);
}

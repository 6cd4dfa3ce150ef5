// Keeps one endpoint from taking what others need: how many attempts at once, and none while it only fails (a breaker).
// It lives in memory, for this process: a wrong guess costs a wait, never a delivery.

/** Of all processes together, each its share and at least one. */
const IN_FLIGHT_MAX = 5;
/** After a failure one attempt at a time shows whether it is well again. */
const IN_FLIGHT_FAILING = 1;

const WINDOW_MS = 5 * 60_000;
const OUTCOMES_MIN = 10;
const OUTCOMES_KEPT = 50;
const FAILURE_SHARE = 0.7;
const OPEN_MS = 30_000;
/** What is put aside comes back so many at a time while the breaker is open once: the more there are, the later each. */
const BACK_PER_OPEN = 100;
/** Half an hour: nothing is put aside for longer. */
const OPENS_MAX = 60;

/** How often it looks for endpoints that nobody asks for any more: that costs little, and they must not gather for weeks. */
const FORGET_EVERY_MS = 60_000;

/** A quick endpoint's next attempt waits right here: to put it aside costs more than the wait. */
const QUICK_MS = 50;
/** An attempt passes through this process's loop so often (name, call, head, body): when that is late, no endpoint is slow for it. */
const LOOPS_PER_ATTEMPT = 5;
/**
 * Nor is one slow that takes less than so many times as long as the quickest of all: where each of them takes long it is this machine or
 * its network, and to put them aside would be more work for it.
 */
const SLOWER = 8;
const QUICKEST_KEPT_MS = 100;
/** Of all slots so many may be taken while somebody waits for such an endpoint: what comes for another one finds room. */
const WAITING_SHARE = 3 / 4;
/** And so many by those who wait for one endpoint, however quick it is. */
const WAITING_SHARE_OF_ONE = 1 / 3;
/** Who waits here looks so often whether the endpoint is still quick, and so many times. */
const LOOK_HERE_MS = 500;
const LOOKS_HERE = 10;
/** After so many failures in a row what is planned for a full house is put aside before it is on the queue. */
const FAILURES_FORESEEN = 2;
/** Nobody waits longer than this for a slow endpoint before a look whether it is quicker by now. */
const PARKED_MAX_MS = 5 * 60_000;
const PARKED_MIN_MS = 500;

/** A trial that was sent for is under way from the clock through the queue; after this another one is sent for. */
const TRIAL_COMES_MS = 2_000;

export interface Wait {
  waitMs: number;
  /** Because of the breaker, not because of a full house. */
  isOpen: boolean;
}

export type Admission =
  | { admitted: true; leave: (outcome?: { isWell: boolean; durationMs: number }) => { recovered: boolean } }
  | ({ admitted: false } & Wait);

export interface Traffic {
  /**
   * Asks for one attempt at an endpoint. Admitted ones must leave: with what came of it, or with nothing when it was not made.
   * @param postponed how often in a row the breaker has put it aside already.
   */
  enter(endpointId: string, postponed?: number): Promise<Admission>;
  /**
   * For who plans attempts: the wait of one that would be sent away if it came now, undefined for one that should come.
   * A delivery that is put aside before it is on the queue costs a tenth of one that comes and is sent away.
   */
  foresee(endpointId: string, postponed?: number): Wait | undefined;
  /** True while the breaker of the endpoint is open, or waits for its trial. */
  isOpen(endpointId: string): boolean;
  /** Endpoints that are remembered: they have attempts in hand or failed lately. */
  size(): number;
}

interface State {
  /** Start times of the attempts in hand. */
  inFlight: Set<{ since: number }>;
  /** Called with the admission of an attempt that waits right here. */
  waiting: Array<(admission: Admission) => void>;
  /** The last ones, oldest first. */
  outcomes: Array<{ at: number; isWell: boolean }>;
  openUntil: number;
  /** Attempts put aside since it opened. */
  parked: number;
  /** Until then the trial of an open breaker is on its way. */
  trialUntil: number;
  averageMs: number | undefined;
  nextFreeAt: number;
  /** When somebody last asked for it. */
  askedAt: number;
}

export interface TrafficOptions {
  /** Multiplies the time the breaker stays open (WEBHOOK_RETRY_SCALE). */
  scale: number;
  /** How many processes there are at the moment, this one included. */
  sharers?: () => number;
  /** How late this process's own timers are. */
  lagMs?: () => number;
  /** How many attempts this process has in hand at most, those that wait here included; any number unless told. */
  slots?: number;
  now?: () => number;
}

export function openTraffic(options: TrafficOptions): Traffic {
  const {
    now = () => performance.now(),
    sharers = () => 1,
    lagMs = () => 0,
    slots = Number.POSITIVE_INFINITY,
  } = options;
  const openMs = OPEN_MS * options.scale;
  // Longer than anything is put aside, and than an outcome counts: at worst an endpoint that is down still is found out once more.
  const keptMs = Math.max((1 + OPENS_MAX) * openMs, WINDOW_MS);
  const states = new Map<string, State>();
  let forgetsAt = now() + FORGET_EVERY_MS;
  let waitingHere = 0;
  let quickest = { averageMs: 0, untilAt: Number.NEGATIVE_INFINITY };

  /** An endpoint that failed last and was deleted, disabled or fell silent has no success that would take it away. */
  function forgetIdle() {
    if (now() < forgetsAt) return;
    forgetsAt = now() + FORGET_EVERY_MS;
    for (const [endpointId, { inFlight, waiting, askedAt }] of states)
      if (inFlight.size === 0 && waiting.length === 0 && askedAt < now() - keptMs) states.delete(endpointId);
  }

  function stateOf(endpointId: string): State {
    let state = states.get(endpointId);
    if (!state) {
      // They are more only when one is added.
      forgetIdle();
      state = {
        inFlight: new Set(),
        waiting: [],
        outcomes: [],
        openUntil: 0,
        parked: 0,
        trialUntil: 0,
        averageMs: undefined,
        nextFreeAt: 0,
        askedAt: 0,
      };
      states.set(endpointId, state);
    }
    state.askedAt = now();
    return state;
  }

  const limitOf = (state: State) =>
    state.openUntil > 0 || state.outcomes.at(-1)?.isWell === false
      ? IN_FLIGHT_FAILING
      : Math.max(1, Math.floor(IN_FLIGHT_MAX / Math.max(1, sharers())));

  function admit(endpointId: string, state: State): Admission {
    const flight = { since: now() };
    state.inFlight.add(flight);
    return {
      admitted: true,
      leave(outcome) {
        state.inFlight.delete(flight);
        const recovered = outcome !== undefined && learn(state, outcome);
        // Handed over in the same breath: nobody slips in between and makes it one too many.
        while (state.waiting.length > 0 && state.inFlight.size < limitOf(state) && state.openUntil <= now())
          state.waiting.shift()?.(admit(endpointId, state));
        const isIdle = state.inFlight.size === 0 && state.waiting.length === 0;
        if (isIdle && state.openUntil === 0 && state.outcomes.every((past) => past.isWell)) states.delete(endpointId);
        return { recovered };
      },
    };
  }

  /** @returns true when the breaker closes. */
  function learn(state: State, { isWell, durationMs }: { isWell: boolean; durationMs: number }): boolean {
    state.averageMs = state.averageMs === undefined ? durationMs : 0.8 * state.averageMs + 0.2 * durationMs;
    const recovers = isWell && state.openUntil > 0;
    const { outcomes } = state;
    const at = now();
    if (recovers) outcomes.length = 0;
    while (outcomes.length >= OUTCOMES_KEPT || (outcomes[0]?.at ?? at) < at - WINDOW_MS) outcomes.shift();
    outcomes.push({ at, isWell });
    if (recovers) Object.assign(state, { openUntil: 0, parked: 0 });
    else if (!isWell && isBad(state)) state.openUntil = now() + openMs;
    return recovers;
  }

  // Open already means that the one trial failed.
  const isBad = ({ outcomes, openUntil }: State) =>
    openUntil > 0 ||
    (outcomes.length >= OUTCOMES_MIN &&
      outcomes.filter(({ isWell }) => !isWell).length >= FAILURE_SHARE * outcomes.length);

  /** Gives each attempt that finds the house full a time of its own, so that they do not all come back together. */
  function park(state: State): Wait {
    const perAttemptMs = expectedMs(state) / limitOf(state);
    state.nextFreeAt = Math.min(Math.max(state.nextFreeAt, now()) + perAttemptMs, now() + PARKED_MAX_MS);
    return { waitMs: Math.max(PARKED_MIN_MS, state.nextFreeAt - now()), isOpen: false };
  }

  // An attempt that has lasted longer than the average is the better guess: the endpoint hangs.
  const expectedMs = (state: State) =>
    Math.max(state.averageMs ?? 0, ...[...state.inFlight].map(({ since }) => now() - since));

  const isQuick = (ms: number) => ms <= QUICK_MS + LOOPS_PER_ATTEMPT * lagMs();

  const isLikeOthers = (ms: number) => ms <= SLOWER * quickestMs();

  const isSlow = (ms: number) => !isQuick(ms) && !isLikeOthers(ms);

  /** 0 when no endpoint that is well has attempts in hand. */
  function quickestMs(): number {
    if (now() >= quickest.untilAt) {
      const well = [...states.values()].filter(({ outcomes }) => outcomes.at(-1)?.isWell);
      // One that has an outcome has an average.
      const averages = well.map(({ averageMs = 0 }) => averageMs);
      quickest = { averageMs: averages.length > 0 ? Math.min(...averages) : 0, untilAt: now() + QUICKEST_KEPT_MS };
    }
    return quickest.averageMs;
  }

  const isFull = (state: State) => state.inFlight.size >= limitOf(state);

  const isFailing = ({ outcomes }: State) =>
    outcomes.length >= FAILURES_FORESEEN && outcomes.slice(-FAILURES_FORESEEN).every(({ isWell }) => !isWell);

  function mayWaitHere(state: State): boolean {
    const ms = expectedMs(state);
    const place = state.waiting.length + 1;
    // Whose turn comes later would be put aside in the end.
    const isInTime = (ms * place) / limitOf(state) < LOOKS_HERE * LOOK_HERE_MS;
    if (!isInTime || place > WAITING_SHARE_OF_ONE * slots) return false;
    return isQuick(ms) || (isLikeOthers(ms) && waitingHere < WAITING_SHARE * slots);
  }

  /** @returns an admission as soon as one leaves, or a wait when the endpoint turns out to be slow or down, or takes too long. */
  function waitHere(state: State): Promise<Admission> {
    return new Promise((resolve) => {
      let looksLeft = LOOKS_HERE;
      waitingHere += 1;
      const enterNow = (admission: Admission) => {
        waitingHere -= 1;
        clearInterval(timer);
        resolve(admission);
      };
      const timer = setInterval(() => {
        looksLeft -= 1;
        if (looksLeft > 0 && state.openUntil === 0 && !isSlow(expectedMs(state))) return;
        state.waiting.splice(state.waiting.indexOf(enterNow), 1);
        enterNow({ admitted: false, ...park(state) });
      }, LOOK_HERE_MS);
      state.waiting.push(enterNow);
    });
  }

  function waitForBreaker(state: State, isTrialMade: boolean, postponed = 0): Wait | undefined {
    if (state.openUntil === 0) return undefined;
    const closedMs = state.openUntil - now();
    // The breaker's time is over: one attempt shows whether the endpoint is well, the others wait for what it shows.
    if (closedMs <= 0 && !isTrialMade) return undefined;
    // A long queue for an endpoint that is down does not come back all at once every half minute. When it is well, all are sent for.
    const opens = Math.min(OPENS_MAX, Math.max(2 ** postponed, 1 + state.parked / BACK_PER_OPEN));
    state.parked += 1;
    return { waitMs: (closedMs > 0 ? closedMs : openMs) + openMs * opens * Math.random(), isOpen: true };
  }

  return {
    size: () => states.size,
    isOpen: (endpointId) => (states.get(endpointId)?.openUntil ?? 0) > 0,
    foresee(endpointId, postponed) {
      const state = states.get(endpointId);
      if (!state) return undefined;
      state.askedAt = now();
      const wait = waitForBreaker(state, state.inFlight.size > 0 || state.trialUntil > now(), postponed);
      if (wait) return wait;
      if (state.openUntil > 0) state.trialUntil = now() + TRIAL_COMES_MS;
      return isFull(state) && (isFailing(state) || !mayWaitHere(state)) ? park(state) : undefined;
    },
    async enter(endpointId, postponed) {
      const state = stateOf(endpointId);
      const wait = waitForBreaker(state, state.inFlight.size > 0, postponed);
      if (wait) return { admitted: false, ...wait };
      if (!isFull(state)) return admit(endpointId, state);
      return mayWaitHere(state) ? waitHere(state) : { admitted: false, ...park(state) };
    },
  };
}

// Admission of attempts. It limits the calls in flight to one endpoint, so that it cannot take the slots that other
// endpoints need. The state is in the memory of this process: a wrong guess costs a wait, never a delivery.
import type { Admitted, DeliveryAdmission, Wait } from './admission.ts';
import { memoryMs } from './circuit-breaker.ts';
import { makeEndpointAttempts } from './endpoint-attempts.ts';
import { makeSpeedJudge } from './endpoint-speed.ts';
import { beyondLimit, makeWaitingRoom, type WaitingEndpoint } from './waiting-room.ts';

/** The interval at which idle endpoints are forgotten. It costs little, and keeps them from gathering for weeks. */
const FORGET_EVERY_MS = 60_000;

export interface Traffic {
  /** Asks for one attempt at an endpoint. An admission must be released. @param deferrals by the breaker, in a row. */
  admit(endpointId: string, deferrals?: number): Promise<DeliveryAdmission>;
  /**
   * Returns the wait of an attempt that would not be admitted now, or undefined for one that should come. Fan-out and
   * poller ask, because deferring a delivery before it is enqueued costs a tenth of deferring it afterwards.
   */
  predictWait(endpointId: string, deferrals?: number): Wait | undefined;
  /** Returns true while the breaker of the endpoint is open, or waits for its trial. */
  isOpen(endpointId: string): boolean;
  /** Returns the number of endpoints whose breaker is open, or waits for its trial. */
  openCircuits(): number;
  /** Returns the number of endpoints in memory: those with attempts in flight or recent failures. */
  size(): number;
}

export interface TrafficOptions {
  /** Multiplies the time for which the breaker stays open (WEBHOOK_RETRY_SCALE). */
  scale: number;
  /** Returns the number of running webhook services, this one included. */
  processes?: () => number;
  eventLoopDelayMs?: () => number;
  /** The most attempts of this process, those that wait here included. */
  slots?: number;
  now?: () => number;
}

interface State extends WaitingEndpoint {
  /** The time of the last request for this endpoint. */
  askedAt: number;
}

export function openTraffic(options: TrafficOptions): Traffic {
  const { scale, now = () => performance.now(), processes = () => 1 } = options;
  const states = new Map<string, State>();
  let forgetsAt = now() + FORGET_EVERY_MS;
  const speed = makeSpeedJudge({
    now,
    eventLoopDelayMs: options.eventLoopDelayMs ?? (() => 0),
    averagesMs: () =>
      [...states.values()].filter(({ breaker }) => breaker.hasSucceededLast()).map(({ averageMs }) => averageMs() ?? 0),
  });
  const waitingRoom = makeWaitingRoom(speed, options.slots);

  /**
   * Removes idle endpoints. One that failed last and was deleted, disabled or fell silent has no success that would end
   * its state.
   */
  function forgetIdle() {
    if (now() < forgetsAt) return;
    forgetsAt = now() + FORGET_EVERY_MS;
    for (const [endpointId, state] of states)
      if (isUnused(state) && state.askedAt < now() - memoryMs(scale)) states.delete(endpointId);
  }

  function stateOf(endpointId: string): State {
    let state = states.get(endpointId);
    if (!state) {
      // Only here the number of endpoints can grow.
      forgetIdle();
      state = { ...makeEndpointAttempts({ scale, now, processes }), waiting: [], askedAt: 0 };
      states.set(endpointId, state);
    }
    state.askedAt = now();
    return state;
  }

  function admitNow(endpointId: string, state: State): Admitted {
    const end = state.begin();
    return {
      admitted: true,
      release(outcome) {
        const recovered = end(outcome);
        // The admission is handed over synchronously, so that no other attempt can come between and exceed the limit.
        while (state.waiting.length > 0 && !state.isFull() && !state.breaker.isBlocking())
          state.waiting.shift()?.(admitNow(endpointId, state));
        if (isUnused(state) && state.breaker.isHealthy()) states.delete(endpointId);
        return { recovered };
      },
    };
  }

  return {
    size: () => states.size,
    openCircuits: () => [...states.values()].filter(({ breaker }) => breaker.isOpen()).length,
    isOpen: (endpointId) => states.get(endpointId)?.breaker.isOpen() ?? false,
    predictWait(endpointId, deferrals) {
      const state = states.get(endpointId);
      if (!state) return undefined;
      const { breaker } = state;
      state.askedAt = now();
      const waitMs = breaker.wait(state.inFlight() > 0 || breaker.isTrialExpected(), deferrals);
      if (waitMs !== undefined) return { waitMs, isOpen: true };
      if (breaker.isOpen()) breaker.expectTrial();
      return state.isFull() && (breaker.isFailing() || !waitingRoom.hasRoom(state)) ? beyondLimit(state) : undefined;
    },
    async admit(endpointId, deferrals) {
      const state = stateOf(endpointId);
      const waitMs = state.breaker.wait(state.inFlight() > 0, deferrals);
      if (waitMs !== undefined) return { admitted: false, waitMs, isOpen: true };
      if (!state.isFull()) return admitNow(endpointId, state);
      return waitingRoom.hasRoom(state) ? waitingRoom.wait(state) : { admitted: false, ...beyondLimit(state) };
    },
  };
}

const isUnused = ({ inFlight, waiting }: State) => inFlight() === 0 && waiting.length === 0;

// The time all machines agree on: the local clock while it is close to the clocks of the stores, theirs when it is wrong.
// Leases, due times, deadlines and signatures use it, because another machine may read them than wrote them.

/** Tolerance for the time a store's answer spent on the network and in queues. Within it the local clock counts as right. */
const AGREED_MS = 2_000;
/** Samples kept per store. A delayed sample is too small, never too large, so the largest is the best. */
const SAMPLES_KEPT = 6;

export interface Clock {
  /** Records a store's time. @param store its address. @param time milliseconds since the epoch. */
  learn(store: string, time: number): void;
  /** Milliseconds since the epoch. Advances evenly while the local clock is being adjusted. */
  now(): number;
}

export function openClock(own: () => number = () => Date.now(), steady: () => number = () => performance.now()): Clock {
  /** By store: its time when the steady clock started. */
  const beginnings = new Map<string, number[]>();
  let beginning: number | undefined;

  return {
    learn(store, time) {
      const known = beginnings.get(store) ?? [];
      beginnings.set(store, [...known.slice(1 - SAMPLES_KEPT), time - steady()]);
      // The median, so that one store with a wrong clock is outvoted.
      const all = [...beginnings.values()].map((each) => Math.max(...each)).toSorted((one, other) => one - other);
      beginning = all[Math.floor((all.length - 1) / 2)];
    },
    now() {
      const ownTime = own();
      if (beginning === undefined) return ownTime;
      const agreed = beginning + steady();
      return Math.abs(ownTime - agreed) <= AGREED_MS ? ownTime : Math.round(agreed);
    },
  };
}

const clock = openClock();

export const learnTime = clock.learn;
/** Milliseconds since the epoch. */
export const agreedTime = clock.now;
export const agreedDate = () => new Date(clock.now());

// The time that all machines agree on: the local clock while it is close to the clocks of the stores, and theirs when
// it is wrong. Leases, due times, deadlines and signatures use it, because the machine that reads them may not be the
// one that wrote them.

/**
 * The tolerance for the time that a store's answer spent on the network and in queues. Within it the local clock counts
 * as right.
 */
const AGREED_MS = 2_000;
/** The samples kept per store. A delayed sample is too small, never too large, so the largest is the best. */
const SAMPLES_KEPT = 6;

export interface Clock {
  /** Records a store's time. @param store its address. @param time milliseconds since the epoch. */
  learn(store: string, time: number): void;
  /** Returns milliseconds since the epoch. The value advances evenly while the local clock is being adjusted. */
  now(): number;
}

/** Opens a clock. @param own the local clock. @param steady a monotonic clock. Both in milliseconds. */
export function openClock(own: () => number = () => Date.now(), steady: () => number = () => performance.now()): Clock {
  /** The time of each store at the start of the monotonic clock. */
  const beginnings = new Map<string, number[]>();
  let beginning: number | undefined;

  return {
    learn(store, time) {
      const known = beginnings.get(store) ?? [];
      beginnings.set(store, [...known.slice(1 - SAMPLES_KEPT), time - steady()]);
      // The median outvotes one store with a wrong clock.
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

/** Records a store's time, see Clock. */
export const learnTime = clock.learn;
/** Returns the agreed time in milliseconds since the epoch. */
export const agreedTime = clock.now;
/** Returns the agreed time. */
export const agreedDate = () => new Date(clock.now());

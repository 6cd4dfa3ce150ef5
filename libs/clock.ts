// The time all machines agree on: our own while the stores have about the same, theirs when ours is wrong.
// For leases, due times, deadlines and signatures: whoever reads them may be on another machine than who wrote them.

/** What a store says has been on its way to us, and may have waited for us: closer than this our own clock is right. */
const AGREED_MS = 2_000;
/** Answers of a store that are remembered. One that came late says too little, never too much: the largest is the best. */
const ANSWERS_KEPT = 6;

export interface Clock {
  /** A store has said what time it is. @param store its address. @param time milliseconds since the epoch. */
  learn(store: string, time: number): void;
  /** Milliseconds since the epoch. Goes on evenly while our own clock is set. */
  now(): number;
}

export function openClock(own: () => number = () => Date.now(), steady: () => number = () => performance.now()): Clock {
  /** By store: what time it was there when the steady clock began. */
  const beginnings = new Map<string, number[]>();
  let beginning: number | undefined;

  return {
    learn(store, time) {
      const known = beginnings.get(store) ?? [];
      beginnings.set(store, [...known.slice(1 - ANSWERS_KEPT), time - steady()]);
      // The one in the middle: a single store whose clock is wrong is not believed.
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
/** Milliseconds since the epoch, see above. */
export const agreedTime = clock.now;
export const agreedDate = () => new Date(clock.now());

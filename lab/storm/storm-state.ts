// What a storm is doing at the moment and has done so far: for the page, the terminal and the report.
import type { Breach } from '../faults/journal.ts';
import type { LegCounts, LegWatcher } from '../faults/leg.ts';
import type { Step } from './storm-plan.ts';

export interface StormState {
  seed: number;
  minutes: number;
  startedAt: Date;
  /** What the system is made of. */
  description: string;
  phase: 'starting' | 'calm' | 'storm' | 'getting well' | 'judging' | 'over';
  leg: number;
  legs: number;
  /** Being broken now, with what was said of it last. */
  running: Map<Step, { since: Date; said: string }>;
  /** What was broken so far, by title. */
  broken: Map<string, { id: string; times: number; longest: number }>;
  /** When each oracle looked last. */
  looked: Map<string, Date>;
  counts: LegCounts;
  breaches: Breach[];
  /** The newest first. */
  said: { at: Date; text: string }[];
  /** Faults that could not be made as they should, and why. */
  failed: string[];
}

const SAID_KEPT = 40;
const NONE: LegCounts = { requests: 0, refused: 0, unanswered: 0, documents: 0, events: 0, deliveries: 0 };

/** What each oracle watches, in the words of the page. */
export const ORACLES: Record<string, string> = {
  O1: 'every answer fits what was acknowledged; at the end every record, and nothing else',
  O2: 'no hole and no double in the numbers',
  O3: 'webhooks are signed; at the end every event came to every receiver, unchanged',
  O4: 'every PDF is whole and holds its own words',
  O5: 'no ended process is left; at the end no folder, descriptor, job or reply',
  O6: 'every answer in time and in shape: no 5xx but 503 with Retry-After and 504',
  O8: 'no account sees a mark of another one, no log any',
};

export function makeState(seed: number, minutes: number, legs: number): StormState {
  return {
    ...{ seed, minutes, legs, leg: 0, description: '', phase: 'starting' },
    startedAt: new Date(),
    running: new Map(),
    broken: new Map(),
    looked: new Map(),
    counts: NONE,
    breaches: [],
    said: [],
    failed: [],
  };
}

export function say(state: StormState, text: string): void {
  state.said.unshift({ at: new Date(), text });
  state.said.length = Math.min(state.said.length, SAID_KEPT);
}

/** What one leg counts is added to what those before it counted. */
export function watcherOf(state: StormState): LegWatcher {
  const before = { counts: state.counts, breaches: [...state.breaches] };
  return {
    looking: (oracle) => void state.looked.set(oracle, new Date()),
    counted(counts) {
      state.counts = sumOf(before.counts, counts);
      // These look at every answer.
      for (const oracle of ['O1', 'O6']) if (state.phase !== 'judging') state.looked.set(oracle, new Date());
    },
    breached(breaches) {
      state.breaches = [...before.breaches, ...breaches];
    },
  };
}

function sumOf(one: LegCounts, other: LegCounts): LegCounts {
  const names = Object.keys(one) as (keyof LegCounts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as unknown as LegCounts;
}

/** The state in one line. */
export function lineOf(state: StormState): string {
  const { phase, counts, running, broken, breaches } = state;
  const times = [...broken.values()].reduce((sum, one) => sum + one.times, 0);
  const now = [...running.keys()].map(({ fault }) => `${fault.id} ${fault.title}`).join(' + ');
  return (
    `${clock(state)} ${phase}: ${now || 'nothing is broken'} | ${counts.requests} requests, ${counts.documents} documents, ` +
    `${counts.deliveries} webhooks, ${times} faults of ${broken.size} kinds, ${breaches.length} breaches`
  );
}

/** Minutes and seconds so far. */
export function clock({ startedAt }: StormState, now = Date.now()): string {
  const seconds = Math.floor((now - startedAt.getTime()) / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

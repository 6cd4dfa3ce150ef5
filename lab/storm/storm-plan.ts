// The order of faults: endless, the same for the same seed, with faults that exclude each other.
import { callerFaults } from '../faults/caller-faults.ts';
import { chanceOf } from '../faults/chance.ts';
import { clockFaults } from '../faults/clock-faults.ts';
import type { Fault } from '../faults/fault.ts';
import { gatewayFaults } from '../faults/gateway-faults.ts';
import { machineFaults } from '../faults/machine-faults.ts';
import { mongodbFaults } from '../faults/mongodb-faults.ts';
import { redisFaults } from '../faults/redis-faults.ts';
import { rendererFaults } from '../faults/renderer-faults.ts';
import { webhookFaults } from '../faults/webhook-faults.ts';

type Place = 'gateways' | 'renderers' | 'webhooks' | 'redis' | 'mongodb' | 'callers';

export interface Step {
  /** Counts from 1, and names the choices the fault makes. */
  index: number;
  fault: Fault;
  /** What it breaks; nothing else breaks one of these meanwhile. */
  places: readonly Place[];
  /** It asserts something of its own that only holds where all else is well. */
  isAlone: boolean;
  /** As long as `npm run faults` does it; otherwise as the tests do. */
  isLong: boolean;
  /** Seconds since the last fault began, at least. */
  waitSeconds: number;
}

const LONG_SHARE = 0.1;
const WAIT_SECONDS = { least: 3, most: 10 };

const tables: [readonly Fault[], Place][] = [
  [gatewayFaults, 'gateways'],
  [rendererFaults, 'renderers'],
  [webhookFaults, 'webhooks'],
  [redisFaults, 'redis'],
  [mongodbFaults, 'mongodb'],
  [callerFaults, 'callers'],
];
/** Those that break something else than the rest of their table. */
const ELSEWHERE: Record<string, readonly Place[]> = {
  F10: ['gateways', 'renderers', 'webhooks'],
  F27: ['callers', 'mongodb'], // It registers receivers past the gateway.
  F30: ['renderers'],
  F31: ['renderers'],
  F32: ['gateways', 'renderers', 'webhooks'],
  F34: ['gateways'],
};
/** A browser that hangs must be noticed within a minute; a logo that is none must not cost the document. */
const ALONE = new Set(['F8', 'F28']);

/** Every fault once in a random order, then all again in another. */
export function* planOf(seed: number): Generator<Step, never> {
  const chance = chanceOf(seed, 'storm');
  const all = [...tables, [[...machineFaults, ...clockFaults], 'renderers'] as const].flatMap(([faults, place]) =>
    faults.map((fault) => ({ fault, places: ELSEWHERE[fault.id] ?? [place], isAlone: ALONE.has(fault.id) })),
  );
  let last: readonly Place[] = [];
  for (let index = 1; ; ) {
    const left = chance.shuffled(all);
    while (left.length > 0) {
      // What breaks the same as the one before would have to wait for it.
      const place = Math.max(
        0,
        left.findIndex(({ places }) => !places.some((each) => last.includes(each))),
      );
      const [one] = left.splice(place, 1) as [(typeof all)[number]];
      last = one.places;
      const isLong = chance.happens(LONG_SHARE);
      const { least, most } = WAIT_SECONDS;
      yield { ...one, index, isLong, waitSeconds: least + (most - least) * chance.next() };
      index += 1;
    }
  }
}

/** Whether this one may begin while those go on. */
export function mayBegin(step: Step, running: readonly Step[], atOnce: number): boolean {
  if (running.length >= atOnce) return false;
  if (running.length > 0 && (step.isAlone || running.some(({ isAlone }) => isAlone))) return false;
  return running.every(({ places }) => !places.some((place) => step.places.includes(place)));
}

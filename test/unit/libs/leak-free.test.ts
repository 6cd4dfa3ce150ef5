// LeakFreeSet and LeakFreeMap behave like a Set and a Map, and deleted values leave memory.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LeakFreeMap, LeakFreeSet } from '#libs/leak-free.ts';
import { keptBytes } from '../../support/kept-bytes.ts';

/** Of these the crowd of a test is made. */
const PEOPLE = Array.from({ length: 6 }, (_, name) => ({ name }));
const MINUTE = 60_000;

const steps = fc.array(
  fc.record({ does: fc.constantFrom('add', 'delete', 'clear'), who: fc.nat({ max: PEOPLE.length - 1 }) }),
  { maxLength: 40 },
);

test('when objects are added and deleted, then it contains what a Set would contain', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const hand = new LeakFreeSet<object>([PEOPLE[0] as object]);
      const set = new Set<object>([PEOPLE[0] as object]);
      for (const { does, who } of all) {
        const one = PEOPLE[who] as object;
        if (does === 'add') expect(hand.add(one)).toBe(hand);
        if (does === 'add') set.add(one);
        if (does === 'delete') expect(hand.delete(one)).toBe(set.delete(one));
        if (does === 'clear') hand.clear();
        if (does === 'clear') set.clear();
        expect(hand.size).toBe(set.size);
        expect(new Set(hand)).toEqual(set);
        expect([...hand]).toHaveLength(set.size);
      }
    }),
  );
});

test('when objects are added and deleted by key, then it contains what a Map would contain, in the same order', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const hand = new LeakFreeMap<number, object>();
      const map = new Map<number, object>();
      for (const [turn, { does, who }] of all.entries()) {
        const one = { turn };
        if (does === 'add') hand.set(who, one);
        if (does === 'add') map.delete(who);
        if (does === 'add') map.set(who, one);
        if (does !== 'add') expect(hand.delete(who)).toBe(map.delete(who));
        expect(hand.size).toBe(map.size);
        expect(hand.keys()).toEqual([...map.keys()]);
        expect(hand.get(who)).toBe(map.get(who));
      }
    }),
  );
});

test('when objects are deleted during iteration, then the iteration covers all that were there at its start', () => {
  const hand = new LeakFreeSet<object>(PEOPLE);
  const told: object[] = [];
  for (const one of hand) {
    told.push(one);
    hand.clear();
  }
  expect(told).toEqual(PEOPLE);
});

// About 900 bytes come and go with each.
const crowdOf = (made: string) => `
const { LeakFreeSet, LeakFreeMap } = await import('#libs/leak-free.ts');
const crowd = ${made};
const add = 'add' in crowd ? (key, one) => crowd.add(one) : (key, one) => crowd.set(key, one);
const leave = 'add' in crowd ? (key, one) => crowd.delete(one) : (key) => crowd.delete(key);
let key = 0;
console.log(await keptOf(40_000, async () => {
  const one = { text: new Array(100).fill(0) };
  const own = (key += 1);
  add(own, one);
  await new Promise((resolve) => setImmediate(resolve));
  leave(own, one);
}));
`;

test(
  'when many objects were added and deleted, then none of them stays in memory',
  async () => {
    expect(await keptBytes(crowdOf('new LeakFreeSet()'))).toBeLessThan(50);
    // Their keys are.
    expect(await keptBytes(crowdOf('new LeakFreeMap()'))).toBeLessThan(200);
  },
  MINUTE,
);

test(
  'when a Set or Map does the same, then most stay in memory: otherwise these two classes can be removed',
  async () => {
    expect(await keptBytes(crowdOf('new Set()'))).toBeGreaterThan(300);
    expect(await keptBytes(crowdOf('new Map()'))).toBeGreaterThan(300);
  },
  MINUTE,
);

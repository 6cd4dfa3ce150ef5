// LeakFreeSet and LeakFreeMap behave like a Set and a Map, and deleted values leave memory.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LeakFreeMap, LeakFreeSet } from '#libs/leak-free.ts';
import { keptBytes } from '../../support/kept-bytes.ts';

/** The objects that a test adds and deletes. */
const OBJECTS = Array.from({ length: 6 }, (_, name) => ({ name }));
const MINUTE = 60_000;

const steps = fc.array(
  fc.record({ does: fc.constantFrom('add', 'delete', 'clear'), who: fc.nat({ max: OBJECTS.length - 1 }) }),
  { maxLength: 40 },
);

test('when objects are added and deleted, then it contains what a Set would contain', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const leakFree = new LeakFreeSet<object>([OBJECTS[0] as object]);
      const set = new Set<object>([OBJECTS[0] as object]);
      for (const { does, who } of all) {
        const one = OBJECTS[who] as object;
        if (does === 'add') expect(leakFree.add(one)).toBe(leakFree);
        if (does === 'add') set.add(one);
        if (does === 'delete') expect(leakFree.delete(one)).toBe(set.delete(one));
        if (does === 'clear') leakFree.clear();
        if (does === 'clear') set.clear();
        expect(leakFree.size).toBe(set.size);
        expect(new Set(leakFree)).toEqual(set);
        expect([...leakFree]).toHaveLength(set.size);
      }
    }),
  );
});

test('when objects are added and deleted by key, then it contains what a Map would contain, in the same order', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const leakFree = new LeakFreeMap<number, object>();
      const map = new Map<number, object>();
      for (const [turn, { does, who }] of all.entries()) {
        const one = { turn };
        if (does === 'add') leakFree.set(who, one);
        if (does === 'add') map.delete(who);
        if (does === 'add') map.set(who, one);
        if (does !== 'add') expect(leakFree.delete(who)).toBe(map.delete(who));
        expect(leakFree.size).toBe(map.size);
        expect(leakFree.keys()).toEqual([...map.keys()]);
        expect(leakFree.get(who)).toBe(map.get(who));
      }
    }),
  );
});

test('when objects are deleted during iteration, then the iteration covers all that were there at its start', () => {
  const leakFree = new LeakFreeSet<object>(OBJECTS);
  const visited: object[] = [];
  for (const one of leakFree) {
    visited.push(one);
    leakFree.clear();
  }
  expect(visited).toEqual(OBJECTS);
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
    // Their keys do stay.
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

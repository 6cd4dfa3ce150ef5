// The order of a storm: repeatable, complete, and never two faults in the same place at once.
import { expect, test } from '@jest/globals';
import { faults } from '../../../lab/faults/fault-table.ts';
import { mayBegin, planOf, type Step } from '../../../lab/storm/storm-plan.ts';

const SEED = 20_261_121;

function first(count: number, seed = SEED): Step[] {
  const plan = planOf(seed);
  return Array.from({ length: count }, () => plan.next().value);
}

const orderOf = (steps: readonly Step[]) =>
  steps.map(({ fault, isLong, waitSeconds }) => `${fault.title} ${isLong} ${waitSeconds}`);

test('when the seed is the same, then so are the faults, their order, their lengths and the waits', () => {
  expect(orderOf(first(200))).toEqual(orderOf(first(200)));
  expect(orderOf(first(200))).not.toEqual(orderOf(first(200, SEED + 1)));
});

test('when as many faults were made as there are, then each was made once', () => {
  const titles = first(faults.length).map(({ fault }) => `${fault.id} ${fault.title}`);
  expect(titles.toSorted()).toEqual(faults.map(({ id, title }) => `${id} ${title}`).toSorted());
});

test('when a place is being broken, then no other fault of that place may begin', () => {
  const steps = first(faults.length);
  const [redis, otherRedis] = steps.filter(({ places }) => places[0] === 'redis') as [Step, Step];
  const mongodb = steps.find(({ fault }) => fault.id === 'F20') as Step;
  const receivers = steps.find(({ fault }) => fault.id === 'F27') as Step;

  expect(mayBegin(redis, [], 2)).toBe(true);
  expect(mayBegin(redis, [mongodb], 2)).toBe(true);
  expect(mayBegin(redis, [otherRedis], 2)).toBe(false);
  expect(mayBegin(receivers, [mongodb], 2)).toBe(false);
  expect(mayBegin(redis, [mongodb], 1)).toBe(false);
});

test('when a fault asserts what only holds in a system that is otherwise healthy, then it runs alone', () => {
  const steps = first(faults.length);
  const hanging = steps.find(({ fault }) => fault.id === 'F8') as Step;
  const redis = steps.find(({ places }) => places[0] === 'redis') as Step;

  expect(mayBegin(hanging, [], 3)).toBe(true);
  expect(mayBegin(hanging, [redis], 3)).toBe(false);
  expect(mayBegin(redis, [hanging], 3)).toBe(false);
});

// Ids ascend in the order in which they are made, and follow the clock.
import { afterEach, expect, jest, test } from '@jest/globals';
import { newId, timeOfId } from '#libs/models/tenant.ts';

afterEach(() => void jest.useRealTimers());

const ids = (count: number) => Array.from({ length: count }, newId);

test('when many ids are made within a millisecond, then they ascend and none comes twice', () => {
  jest.useFakeTimers({ now: new Date('2026-11-26T12:00:00.123Z') });
  const made = ids(10_000);

  expect(made).toEqual([...new Set(made)].sort());
  expect(timeOfId(made[9_999] ?? '')).toEqual(new Date('2026-11-26T12:00:00.123Z'));
});

test('when the clock is set back, then the next id has the new time', () => {
  jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00.000Z') });
  newId();
  jest.setSystemTime(new Date('2026-11-26T12:00:00.000Z'));

  expect(timeOfId(newId())).toEqual(new Date('2026-11-26T12:00:00.000Z'));
});

test('when ids are made, then each is a UUID of version 7', () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

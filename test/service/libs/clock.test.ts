// Whose clock counts when ours and those of the stores say something else, and that a wrong one is noticed for real.
import { afterEach, expect, jest, test } from '@jest/globals';
import { agreedTime, openClock } from '#libs/clock.ts';
import { openWorkspace } from '../../support/workspace.ts';

const HOUR_MS = 3_600_000;
const AT = Date.parse('2026-11-21T12:00:00Z');

function start() {
  const world = { passedMs: 0, offsetMs: 0 };
  const clock = openClock(
    () => AT + world.passedMs + world.offsetMs,
    () => world.passedMs,
  );
  const hear = (store: string, wrongMs = 0) => clock.learn(store, AT + world.passedMs + wrongMs);
  return { world, clock, hear };
}

afterEach(() => {
  jest.restoreAllMocks();
});

test('when no store has answered yet, then our own clock counts', () => {
  const { world, clock } = start();
  world.offsetMs = HOUR_MS;
  expect(clock.now()).toBe(AT + HOUR_MS);
});

test('when our clock and the store are a little apart, then ours counts', () => {
  const { world, clock, hear } = start();
  hear('a', -300);
  world.passedMs = 5_000;
  expect(clock.now()).toBe(AT + 5_000);
});

test.each([HOUR_MS, -HOUR_MS])(
  'when our clock is set by %d ms, then time goes on evenly, at once and until it is right again',
  (offsetMs) => {
    const { world, clock, hear } = start();
    hear('a');
    world.passedMs = 1_000;
    world.offsetMs = offsetMs;
    expect(clock.now()).toBe(AT + 1_000);
    world.passedMs = 15_000;
    expect(clock.now()).toBe(AT + 15_000);
    world.offsetMs = 0;
    expect(clock.now()).toBe(AT + 15_000);
  },
);

test('when an answer comes late, then it does not set us back', () => {
  const { world, clock, hear } = start();
  world.offsetMs = HOUR_MS;
  hear('a');
  world.passedMs = 10_000;
  hear('a', -8_000);
  expect(clock.now()).toBe(AT + 10_000);
});

test('when one member of three is an hour wrong, then it is not believed', () => {
  const { world, clock, hear } = start();
  for (const wrongMs of [HOUR_MS, -HOUR_MS]) {
    hear('a');
    hear('b', wrongMs);
    hear('c');
    expect(clock.now()).toBe(AT);
    world.offsetMs = wrongMs;
    expect(clock.now()).toBe(AT);
    world.offsetMs = 0;
  }
});

test('when the only store was set back, then we follow it within some answers', () => {
  const { world, clock, hear } = start();
  hear('a');
  for (let answer = 0; answer < 6; answer += 1) {
    world.passedMs += 10_000;
    hear('a', -HOUR_MS);
  }
  expect(clock.now()).toBe(AT + world.passedMs - HOUR_MS);
});

test('when the clock of a process that knows MongoDB is wrong by an hour, then the time it goes by is not', async () => {
  const workspace = await openWorkspace();
  try {
    for (const offsetMs of [HOUR_MS, -HOUR_MS]) {
      const right = Date.now();
      jest.spyOn(Date, 'now').mockReturnValue(right + offsetMs);
      expect(Math.abs(agreedTime() - right)).toBeLessThan(HOUR_MS / 2);
      jest.restoreAllMocks();
    }
  } finally {
    await workspace.close();
  }
});

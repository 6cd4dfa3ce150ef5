// The clock that counts when ours and those of the stores differ. A process notices when its own is wrong.
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
  const reportTime = (store: string, wrongMs = 0) => clock.learn(store, AT + world.passedMs + wrongMs);
  return { world, clock, reportTime };
}

afterEach(() => {
  jest.restoreAllMocks();
});

test('when no store has responded yet, then our own clock counts', () => {
  const { world, clock } = start();
  world.offsetMs = HOUR_MS;
  expect(clock.now()).toBe(AT + HOUR_MS);
});

test('when our clock differs slightly from that of the store, then ours counts', () => {
  const { world, clock, reportTime } = start();
  reportTime('a', -300);
  world.passedMs = 5_000;
  expect(clock.now()).toBe(AT + 5_000);
});

test.each([HOUR_MS, -HOUR_MS])(
  'when our clock jumps by %d ms, then our time continues steadily, at once and until the clock is right again',
  (offsetMs) => {
    const { world, clock, reportTime } = start();
    reportTime('a');
    world.passedMs = 1_000;
    world.offsetMs = offsetMs;
    expect(clock.now()).toBe(AT + 1_000);
    world.passedMs = 15_000;
    expect(clock.now()).toBe(AT + 15_000);
    world.offsetMs = 0;
    expect(clock.now()).toBe(AT + 15_000);
  },
);

test('when a response arrives late, then it does not set our time back', () => {
  const { world, clock, reportTime } = start();
  world.offsetMs = HOUR_MS;
  reportTime('a');
  world.passedMs = 10_000;
  reportTime('a', -8_000);
  expect(clock.now()).toBe(AT + 10_000);
});

test('when one of three members is an hour wrong, then its time is ignored', () => {
  const { world, clock, reportTime } = start();
  for (const wrongMs of [HOUR_MS, -HOUR_MS]) {
    reportTime('a');
    reportTime('b', wrongMs);
    reportTime('c');
    expect(clock.now()).toBe(AT);
    world.offsetMs = wrongMs;
    expect(clock.now()).toBe(AT);
    world.offsetMs = 0;
  }
});

test('when the clock of the only store was set back, then we follow it within a few responses', () => {
  const { world, clock, reportTime } = start();
  reportTime('a');
  for (let response = 0; response < 6; response += 1) {
    world.passedMs += 10_000;
    reportTime('a', -HOUR_MS);
  }
  expect(clock.now()).toBe(AT + world.passedMs - HOUR_MS);
});

test('when the clock of a process with a connection to MongoDB is an hour wrong, then its agreed time is not', async () => {
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

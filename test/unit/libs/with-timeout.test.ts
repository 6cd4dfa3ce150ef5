// A wait ends with its timeout, its deadline or its signal, and leaves nothing behind.
import { getEventListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { agreedTime } from '#libs/clock.ts';
import { resultWithin, TimeoutError, withDeadline, withTimeout } from '#libs/with-timeout.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const never = () => new Promise<never>(() => undefined);
const outcomeOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

test('when work is done in time, then its result comes and no timer is left', async () => {
  expect(await withTimeout(1_000, Promise.resolve('done'))).toBe('done');
  expect(await withDeadline(agreedTime() + 1_000, Promise.resolve('done'))).toBe('done');
  expect(await resultWithin(1_000, Promise.resolve('done'))).toBe('done');
  expect(jest.getTimerCount()).toBe(0);
});

test('when work fails in time, then its own failure comes', async () => {
  const failure = new Error('of the work');

  expect(await outcomeOf(withTimeout(1_000, Promise.reject(failure)))).toBe(failure);
  expect(await outcomeOf(resultWithin(1_000, Promise.reject(failure)))).toBe(failure);
  expect(jest.getTimerCount()).toBe(0);
});

test('when the process stood still while the result came, then the result counts', async () => {
  jest.useRealTimers();
  const result = withTimeout(20, stat('.'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);

  expect((await result).isDirectory()).toBe(true);
});

describe('when work is late', () => {
  test('then the wait ends with a TimeoutError, with the given error, or with nothing', async () => {
    const own = new Error('own');
    const outcomes = [
      outcomeOf(withTimeout(1_000, never())),
      outcomeOf(withTimeout(1_000, never(), { error: () => own })),
      outcomeOf(withDeadline(agreedTime() + 1_000, never(), { error: () => own })),
      outcomeOf(resultWithin(1_000, never())),
    ];
    await jest.advanceTimersByTimeAsync(1_001);

    expect(await Promise.all(outcomes)).toEqual([new TimeoutError('no answer within 1000 ms'), own, own, 'undefined']);
  });

  test('then its failure after the timeout is no unhandled rejection', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const onUnhandled = jest.fn();
    process.on('unhandledRejection', onUnhandled);
    const outcome = outcomeOf(withTimeout(1_000, promise));
    await jest.advanceTimersByTimeAsync(1_001);
    await outcome;
    reject(new Error('late'));
    jest.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', onUnhandled);

    expect(onUnhandled).not.toHaveBeenCalled();
  });

  test('then a deadline that has passed ends the wait at once', async () => {
    const outcome = outcomeOf(withDeadline(agreedTime() - 5_000, never()));
    await jest.advanceTimersByTimeAsync(1);

    expect(await outcome).toBeInstanceOf(TimeoutError);
  });
});

describe('when the signal aborts', () => {
  test('then the wait ends with its reason, also when it was aborted before', async () => {
    const caller = new AbortController();
    const outcome = outcomeOf(withTimeout(1_000, never(), { signal: caller.signal }));
    caller.abort('gone');

    expect(await outcome).toBe('gone');
    expect(await outcomeOf(withTimeout(1_000, never(), { signal: caller.signal }))).toBe('gone');
    expect(jest.getTimerCount()).toBe(0);
  });

  test('then no listener of a wait that has ended is left on it', async () => {
    const { signal } = new AbortController();
    await withTimeout(1_000, Promise.resolve(), { signal });

    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

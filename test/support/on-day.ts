// Runs a part of a test on a later day. Only Date is faked, so that sockets, timers and the database keep working.
import { jest } from '@jest/globals';

/** Options of fake timers that fake only Date. */
export const ONLY_DATE = {
  advanceTimers: false,
  doNotFake: [
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
    'setInterval',
    'clearInterval',
    'setTimeout',
    'clearTimeout',
  ],
} satisfies Parameters<typeof jest.useFakeTimers>[0];

/** @param days from today. */
export async function onDay<Result>(days: number, work: () => Promise<Result>): Promise<Result> {
  jest.useFakeTimers({ ...ONLY_DATE, now: Date.now() + days * 86_400_000 });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}

// Runs a part of a test on a later day. Only Date is faked, so that sockets, timers and the database keep working.
import { jest } from '@jest/globals';

const KEPT = [
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
] as const;

/** @param days from today. */
export async function onDay<Result>(days: number, work: () => Promise<Result>): Promise<Result> {
  jest.useFakeTimers({ advanceTimers: false, doNotFake: [...KEPT], now: Date.now() + days * 86_400_000 });
  try {
    return await work();
  } finally {
    jest.useRealTimers();
  }
}

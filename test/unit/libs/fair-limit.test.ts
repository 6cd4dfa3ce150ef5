// Slow documents of one account wait for each other, not in front of another account's.
import { expect, test } from '@jest/globals';
import { openFairLimit } from '#libs/fair-limit.ts';

const { signal } = new AbortController();
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Starts work of an account that `endNext` ends. */
function starter() {
  const limit = openFairLimit(1);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const start = (accountId: string, wanted = signal) =>
    limit.acquire(accountId, wanted).then(
      (release) => {
        order.push(accountId);
        ends.push(release);
      },
      () => order.push(`${accountId} gone`),
    );
  return { start, order, endNext: () => ends.shift()?.() };
}

test('when one account has many waiting, then the first of another is served after the one that runs', async () => {
  const { start, order, endNext } = starter();
  for (let index = 0; index < 5; index += 1) void start('busy');
  void start('quiet');

  for (let index = 0; index < 6; index += 1) {
    await settled();
    endNext();
  }

  expect(order).toEqual(['busy', 'busy', 'quiet', 'busy', 'busy', 'busy']);
});

test('when work is aborted while it waits, then it leaves the queue and the next is served', async () => {
  const { start, order, endNext } = starter();
  const unwanted = new AbortController();
  void start('first');
  void start('second', unwanted.signal);
  void start('third');
  unwanted.abort();
  await settled();
  endNext();
  await settled();

  expect(order).toEqual(['first', 'second gone', 'third']);
});

test('when a slot is released twice, then one more runs and not two', async () => {
  const limit = openFairLimit(1);
  const release = await limit.acquire('one', signal);
  let running = 0;
  for (const account of ['two', 'three']) void limit.acquire(account, signal).then(() => (running += 1));
  release();
  release();
  await settled();

  expect(running).toBe(1);
});

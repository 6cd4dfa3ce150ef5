// Writes of one account wait for each other, but not for ever.
import { expect, test } from '@jest/globals';
import { withConcurrencyLimit } from '../../../services/gateway/limits/concurrency-limit.ts';
import { eventually } from '../../support/eventually.ts';

test('when a turn does not come in time, then it is refused, never taken, and those behind it still wait for those before it', async () => {
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const running = withConcurrencyLimit('account', async () => {
    await first.promise;
    done.push('first');
  });
  const late = withConcurrencyLimit('account', async () => done.push('late'), { limitMs: 1 });
  await expect(late).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  const behind = withConcurrencyLimit('account', async () => done.push('behind'));
  first.resolve();
  await Promise.all([running, behind]);

  expect(done).toEqual(['first', 'behind']);
});

test('when three of a name may run at a time, then the fourth waits for one of them, and is rejected when it waits too long', async () => {
  const options = { atOnce: 3 };
  const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const running = gates.map(({ promise }) => withConcurrencyLimit('few', () => promise, options));
  let hasBegun = false;
  const fourth = withConcurrencyLimit('few', async () => (hasBegun = true), options);
  const late = withConcurrencyLimit('few', async () => undefined, {
    ...options,
    limitMs: 1,
    late: () => new Error('too late'),
  });
  await expect(late).rejects.toThrow('too late');
  expect(hasBegun).toBe(false);
  gates[1]?.resolve();

  expect(await fourth).toBe(true);
  for (const { resolve } of gates) resolve();
  await Promise.all(running);
});

test('when thousands have timed out behind one that never ends, then the next is rejected at once until that one has ended', async () => {
  const first = Promise.withResolvers<void>();
  const running = withConcurrencyLimit('slow', () => first.promise);
  const givenUp = Array.from({ length: 5_000 }, () =>
    withConcurrencyLimit('slow', async () => undefined, { limitMs: 1 }),
  );
  expect((await Promise.allSettled(givenUp)).every(({ status }) => status === 'rejected')).toBe(true);

  await expect(withConcurrencyLimit('slow', async () => undefined, { limitMs: 10 * 60_000 })).rejects.toMatchObject({
    status: 503,
  });
  first.resolve();
  await running;
  expect(await eventually(() => withConcurrencyLimit('slow', async () => 'done'))).toBe('done');
});

// Writes of one account wait for each other, but not for ever.
import { expect, test } from '@jest/globals';
import { withConcurrencyLimit } from '../../../services/gateway/limits/concurrency-limit.ts';
import { eventually } from '../../support/eventually.ts';

type Gate = PromiseWithResolvers<void>;

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

test('when two tasks of a name end a moment apart, then never more than allowed run after them', async () => {
  const pass = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  };
  const offsets = Array.from({ length: 8 }, (_none, offset) => offset);
  for (const [apart, before, between] of offsets.flatMap((a) =>
    offsets.flatMap((b) => offsets.map((c) => [a, b, c])),
  )) {
    const name = `${apart} ${before} ${between}`;
    let running = 0;
    let most = 0;
    const begin = (ends: Promise<void>) =>
      withConcurrencyLimit(
        name,
        async () => {
          running += 1;
          most = Math.max(most, running);
          await ends;
          running -= 1;
        },
        { atOnce: 2 },
      );
    const [one, other, later] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate];
    const tasks = [begin(one.promise), begin(other.promise)];
    one.resolve();
    await pass(apart as number);
    other.resolve();
    await pass(before as number);
    tasks.push(begin(later.promise), begin(later.promise));
    await pass(between as number);
    tasks.push(begin(later.promise), begin(later.promise));
    await pass(20);
    expect([name, most]).toEqual([name, 2]);
    later.resolve();
    await Promise.all(tasks);
  }
});

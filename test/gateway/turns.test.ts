// Writes of one account wait for each other, but not for ever.
import { expect, test } from '@jest/globals';
import { inTurn } from '../../services/gateway/http/turns.ts';

test('when a turn does not come in time, then it is refused, never taken, and those behind it still wait for those before it', async () => {
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const running = inTurn('account', async () => {
    await first.promise;
    done.push('first');
  });
  const late = inTurn('account', async () => done.push('late'), 1);
  await expect(late).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  const behind = inTurn('account', async () => done.push('behind'));
  first.resolve();
  await Promise.all([running, behind]);

  expect(done).toEqual(['first', 'behind']);
});

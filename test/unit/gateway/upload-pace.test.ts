// Large bodies of an account are read at a pace of its own: others never wait for them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { openUploadPace } from '../../../services/gateway/limits/upload-pace.ts';

test('when an account has sent more than its burst, then its next body waits, and that of another account does not', async () => {
  const pace = openUploadPace({ bytesPerSecond: 1, burstBytes: 100 });
  expect(pace.ready('one')).toBeUndefined();
  pace.add('one', 60);
  expect(pace.ready('one')).toBeUndefined();
  pace.add('one', 60);

  const next = pace.ready('one');
  expect(next).toBeDefined();
  expect(await Promise.race([next?.then(() => 'read'), nextTurn('waiting')])).toBe('waiting');
  expect(pace.ready('other')).toBeUndefined();
});

test('when enough time has passed for what an account sent, then its next body is read', async () => {
  const pace = openUploadPace({ bytesPerSecond: 1_000_000, burstBytes: 0 });
  pace.add('one', 50_000);
  const next = pace.ready('one');
  expect(next).toBeDefined();

  await next;
  while (pace.ready('one')) await nextTurn();
});

// Polling loops: their interval and how they end.
import { expect, jest, test } from '@jest/globals';
import type { Logger } from '#libs/service/logger.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

test('when it is stopped in the middle of a long run, then the run is notified and is the last one', async () => {
  let runs = 0;
  let isNotified = false;
  const repetition = startPollingLoop(
    (signal) => {
      runs += 1;
      return new Promise((resolve) => {
        // It ends for no other reason.
        signal.addEventListener('abort', () => {
          isNotified = true;
          resolve(true);
        });
      });
    },
    { name: 'a long run', everyMs: 1, log: testLog },
  );
  await eventually(() => runs === 1);

  await repetition.stop();
  repetition.wake();
  // Timers fire in their order: that of a further run would have fired by then.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect({ isNotified, runs }).toEqual({ isNotified: true, runs: 1 });
});

test('when it fails, then each problem is logged once, and so is its end', async () => {
  const outcomes = ['one', 'one', 'other', undefined, 'one', undefined];
  const lines: string[] = [];
  const log = {
    warn: ({ err }: { err: Error }) => lines.push(err.message),
    info: (text: string) => lines.push(text),
  } as unknown as Logger;
  let runs = 0;
  jest.useFakeTimers();
  const loop = startPollingLoop(
    async () => {
      const problem = outcomes[runs];
      runs += 1;
      if (problem) throw new Error(problem);
      return false;
    },
    { name: 'the work', everyMs: 1_000, log },
  );
  while (runs < outcomes.length) await jest.advanceTimersByTimeAsync(500);
  await loop.stop();
  jest.useRealTimers();

  expect(lines).toEqual(['one', 'other', 'the work works again', 'one', 'the work works again']);
});

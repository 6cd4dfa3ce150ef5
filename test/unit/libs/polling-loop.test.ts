// Polling loops: their interval and how they end.
import { expect, test } from '@jest/globals';
import { startPollingLoop } from '../../../libs/service/polling-loop.ts';
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

// When the memory of a page is measured: during a print that takes long, and not during ordinary ones.
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { openPageMemory, type PageMemory } from '../../../services/renderer/browser/page-memory.ts';

const LEADER = 1;
const LIMIT_MEGABYTES = 500;

let measured: number;
let watch: PageMemory['watch'];

beforeEach(() => {
  jest.useFakeTimers();
  measured = 0;
  ({ watch } = openPageMemory(LEADER, LIMIT_MEGABYTES, async () => {
    measured += 1;
    return [];
  }));
});
afterEach(() => {
  jest.useRealTimers();
});

test('when ordinary documents follow each other without a pause, then no process is measured', async () => {
  let current = watch();
  for (let printed = 0; printed < 50; printed += 1) {
    await jest.advanceTimersByTimeAsync(80);
    const next = watch(); // Another page prints before this one is done.
    await jest.advanceTimersByTimeAsync(80);
    current.stop();
    current = next;
  }
  current.stop();

  expect(measured).toBe(0);
});

test('when a document takes a second, then it is measured again and again until it ends', async () => {
  const { stop } = watch();
  await jest.advanceTimersByTimeAsync(1_000);
  const during = measured;
  stop();
  await jest.advanceTimersByTimeAsync(1_000);

  expect(during).toBe(4);
  expect(measured).toBe(4);
});

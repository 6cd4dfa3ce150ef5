// V8: objects that were deleted from a busy Set stay in memory until a full collection. Run by main.ts with a small young generation.
import { getHeapSpaceStatistics } from 'node:v8';
import { LeakFreeSet } from '#libs/leak-free.ts';

interface Crowd {
  add(value: object): unknown;
  delete(value: object): boolean;
}

const CALLS = 200_000;
const FIELDS = 100;

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;

/** Four callers at a time keep an object in the set until the next microtask. */
async function comeAndGo(crowd: Crowd, calls: number): Promise<void> {
  let left = calls;
  const caller = async () => {
    while (left-- > 0) {
      const value = { fields: new Array(FIELDS).fill(left) };
      crowd.add(value);
      await Promise.resolve();
      crowd.delete(value);
    }
  };
  await Promise.all([caller(), caller(), caller(), caller()]);
}

async function keptBytes(crowd: Crowd): Promise<number> {
  await comeAndGo(crowd, CALLS / 4);
  globalThis.gc?.();
  const before = oldBytes();
  await comeAndGo(crowd, CALLS);
  return Math.round((oldBytes() - before) / CALLS);
}

const [set, leakFree] = [await keptBytes(new Set<object>()), await keptBytes(new LeakFreeSet<object>())];
const verdict = set > leakFree + 50 ? 'still there' : 'repaired';
process.stdout.write(
  `v8, deleted from a Set: ${verdict}: ${set} bytes kept per call, ${leakFree} with a LeakFreeSet\n`,
);

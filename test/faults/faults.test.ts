// The short form of `npm run faults`: a whole system under load, broken in some twenty ways on a fixed seed, and judged after each.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { faults } from './fault-table.ts';
import { openSession, type Session } from './run-faults.ts';

const SEED = 20_261_121;
const LIMIT_MS = 600_000;

let session: Session | undefined; // Absent when it did not start.

beforeAll(async () => {
  session = await openSession({ seed: SEED, isShort: true });
}, LIMIT_MS);
afterAll(async () => {
  await session?.close();
}, LIMIT_MS);

test.each(faults.filter(({ isShort }) => isShort).map((fault) => [fault.id, fault.title, fault] as const))(
  'when %s happens (%s), then nothing is lost, doubled, mixed up or left behind, and all is well again',
  async (_id, _title, fault) => {
    const result = await session?.run(fault);

    expect(result?.breaches).toEqual([]);
    expect(result?.requests).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

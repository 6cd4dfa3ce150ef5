// The short form of `npm run crashes`: a gateway is killed between two steps of each write that moves numbers, time or money.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { chanceOf } from '../../support/chance.ts';
import { CRASH_POINTS, type CrashPoint, nameOf, watchedGateway } from '../../support/crashes/crash-points.ts';
import {
  type Gateway,
  type KnownWrite,
  learnWrite,
  pointsOf,
  type Trials,
  tryCrash,
} from '../../support/crashes/trial.ts';
import { WRITES } from '../../support/crashes/writes.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { openWorkspace } from '../../support/workspace.ts';

const chance = chanceOf(Number(process.env['TEST_SEED'] ?? 20_261_126), 'crashes');
const LIMIT_MS = 300_000;
/** Gateways that start at a time. */
const AT_ONCE = 2;
const [first, ...others] = WRITES;
/** Starting a gateway takes seconds, so half of the writes are tried here, and all of them by `npm run crashes`. */
const WRITES_TRIED = Math.ceil(others.length / 2);
/** A write outside of the transaction is easiest to detect before the commit. */
const TRIED: readonly CrashPoint[] = [
  { when: 'after', step: 'findAndModify counters' },
  { when: 'before', step: 'commitTransaction' },
  { when: 'after', step: 'commitTransaction' },
];

let trials: Trials;
let gateways: Gateway[] = [];

beforeAll(async () => {
  const workspace = await openWorkspace();
  const { key } = await workspace.account();
  gateways = await Promise.all([spawnGateway(workspace, key), spawnGateway(workspace, key, watchedGateway())]);
  trials = { workspace, gateway: gateways[0] as Gateway };
}, LIMIT_MS);
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await trials?.workspace.close();
});

const learn = (write: (typeof WRITES)[number]) => learnWrite(trials, gateways[1] as Gateway, write);

test(
  'when the gateway dies early in a new invoice, before its commit or after it, then all is stored or nothing, and the retry gives the one invoice',
  async () => {
    const known = await learn(first as (typeof WRITES)[number]);
    // The points of the fault suite are steps that a write has.
    expect(CRASH_POINTS.filter(({ step }) => !known.steps.includes(step))).toEqual([]);
    await crash(TRIED.map((point) => [known, point]));
  },
  LIMIT_MS,
);

test(
  'when the gateway dies at a step of a write of time or money, then all is stored or nothing, and the retry does it once',
  async () => {
    const cases: [KnownWrite, CrashPoint][] = [];
    for (const write of chance.shuffled(others).slice(0, WRITES_TRIED)) {
      const known = await learn(write);
      expect(known.steps.at(-1)).toBe('commitTransaction');
      const points = pointsOf(known);
      const [beforeCommit, afterCommit] = points.slice(-2) as [CrashPoint, CrashPoint];
      cases.push([known, chance.pick([chance.pick(points), beforeCommit, beforeCommit, afterCommit])]);
    }
    await crash(cases);
  },
  LIMIT_MS,
);

async function crash(cases: [KnownWrite, CrashPoint][]) {
  const failures: string[] = [];
  const work = async () => {
    for (let one = cases.shift(); one; one = cases.shift()) {
      const [known, point] = one;
      await tryCrash(trials, known, point).catch((error: Error) => {
        failures.push(`${known.write.name}, killed ${nameOf(point)}: ${error.message}`);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(failures).toEqual([]);
}

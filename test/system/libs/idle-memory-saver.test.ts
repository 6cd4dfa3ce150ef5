// When V8 releases memory: read from its trace of garbage collections.
import { expect, test } from '@jest/globals';
import { runModule } from '../../support/run-module.ts';

const FLAGS = ['--trace-gc', '--trace-gc-nvp', '--min-semi-space-size=1', '--max-semi-space-size=1'];

/**
 * Reads bodies, which are garbage soon, for a part of the time in each phase, until V8 has made two full collections. How busy it is counts
 * by the wall clock, and on a crowded machine a process that is nearly idle is late so often that it counts as busy: its share is given.
 */
const PROGRAM = `
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { saveMemoryWhileIdle } from '#libs/service/idle-memory-saver.ts';
const MAJOR = 4;
const ENOUGH = 2;
/** As many rounds have seen nothing but this phase once they have begun. */
const ROUNDS = 3;
const measure = performance.eventLoopUtilization;
let share;
let rounds = 0;
performance.eventLoopUtilization = (now, last) => {
  if (last) rounds += 1;
  const measured = measure(now, last);
  return share === undefined ? measured : { ...measured, utilization: share };
};
let collections = 0;
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind === MAJOR) collections += 1;
}).observe({ entryTypes: ['gc'] });
// What is live stays as large as it is: V8 by itself keeps the low limit of a collection that released memory.
const live = Array.from({ length: 100 }, () => new Array(62_500).fill(0));
let kept = [];
function work(ms) {
  for (const until = performance.now() + ms; performance.now() < until; ) {
    if (kept.length > 20) kept = [];
    kept.push(Buffer.alloc(1_000_000, 1));
  }
}
async function phase(name, { workMs, pauseMs, given }, notice = ROUNDS) {
  share = given;
  // And one collection more: it may have begun in the phase before.
  for (const before = { rounds, collections }; rounds < before.rounds + notice || collections === before.collections; ) {
    work(workMs);
    await pause(pauseMs);
  }
  console.log(name);
  for (const before = collections; collections < before + ENOUGH; ) { work(workMs); await pause(pauseMs); }
  console.log('between');
}
const QUIET = { workMs: 2, pauseMs: 20, given: 0.14 };
// As a gateway whose documents keep the renderers busy: measured, as a crowded machine can only make it more.
const BUSY = { workMs: 20, pauseMs: 40 };
const leave = saveMemoryWhileIdle({ restMs: 1_000 });
await phase('quiet', QUIET);
await phase('busy', BUSY);
await phase('quiet again', QUIET);
leave();
await phase('left', QUIET, 0);
process.exit(live.length === 0 ? 1 : 0);
`;

/** V8's own words for a full collection: `gc=mc`, and its sizes in bytes. */
interface FullCollection {
  releases: boolean;
  /** Of what is live, when the next one begins. */
  growth: number;
}

test('when a process is nearly idle, then full collections release memory; when it is busy, then none does, and the heap may double', async () => {
  const trace = await runModule(PROGRAM, { flags: FLAGS });

  const collectionsOf = (phase: string): FullCollection[] => {
    const ofPhase = new RegExp(`^${phase}\n(.*?)^between`, 'ms').exec(trace)?.[1] ?? '';
    const lines = ofPhase.split('\n').filter((line) => line.includes('gc=mc'));
    return lines.map((line) => {
      const value = (name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1]);
      return {
        releases: value('reduce_memory') === 1,
        growth: value('old_gen_allocation_limit') / value('end_object_size'),
      };
    });
  };
  const releases = (phase: string) => collectionsOf(phase).map((collection) => collection.releases);
  expect(new Set(releases('quiet'))).toEqual(new Set([true]));
  expect(new Set(releases('busy'))).toEqual(new Set([false]));
  expect(Math.min(...collectionsOf('busy').map(({ growth }) => growth))).toBeGreaterThan(1.9);
  expect(new Set(releases('quiet again'))).toEqual(new Set([true]));
  expect(new Set(releases('left'))).toEqual(new Set([false]));
}, 240_000);

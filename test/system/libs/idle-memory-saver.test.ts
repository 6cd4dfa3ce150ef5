// When V8 releases memory: read from its trace of garbage collections.
import { expect, test } from '@jest/globals';
import { runModule } from '../../support/run-module.ts';

const FLAGS = ['--trace-gc', '--min-semi-space-size=1', '--max-semi-space-size=1'];

/** Allocates garbage for a part of the time in each phase, until V8 has made two full collections. */
const PROGRAM = `
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { saveMemoryWhileIdle } from '#libs/service/idle-memory-saver.ts';
const MAJOR = 4;
const ENOUGH = 2;
const NOTICED_WITHIN_MS = 4_000;
let collections = 0;
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind === MAJOR) collections += 1;
}).observe({ entryTypes: ['gc'] });
let kept = [];
function work(ms) {
  for (const until = performance.now() + ms; performance.now() < until; ) {
    if (kept.length > 500) kept = [];
    kept.push(new Array(5_000).fill(kept.length));
  }
}
async function phase(name, { workMs, pauseMs }) {
  const since = performance.now();
  while (performance.now() - since < NOTICED_WITHIN_MS) { work(workMs); await pause(pauseMs); }
  console.log(name);
  for (const before = collections; collections < before + ENOUGH; ) { work(workMs); await pause(pauseMs); }
  console.log('between');
}
// So little that a crowded machine does not interrupt it, which would count as work.
const QUIET = { workMs: 0.2, pauseMs: 50 };
// As a gateway whose documents keep the renderers busy.
const BUSY = { workMs: 20, pauseMs: 40 };
const leave = saveMemoryWhileIdle({ restMs: 1_000 });
await phase('quiet', QUIET);
await phase('busy', BUSY);
await phase('quiet again', QUIET);
leave();
await phase('left', QUIET);
process.exit();
`;

test('when a process is nearly idle, then full collections release memory; when it is busy, then none does', async () => {
  const trace = await runModule(PROGRAM, { flags: FLAGS });

  const releasesMemory = (phase: string) => {
    const ofPhase = new RegExp(`^${phase}\n(.*?)^between`, 'ms').exec(trace)?.[1] ?? '';
    const collections = ofPhase.split('\n').filter((line) => line.includes('Mark-Compact'));
    return collections.map((line) => line.includes('(reduce)'));
  };
  // Not all of them: other work on the machine may interrupt a quiet process so long that a second counts as busy.
  expect(releasesMemory('quiet')).toContain(true);
  expect(new Set(releasesMemory('busy'))).toEqual(new Set([false]));
  expect(releasesMemory('quiet again')).toContain(true);
  expect(new Set(releasesMemory('left'))).toEqual(new Set([false]));
}, 240_000);

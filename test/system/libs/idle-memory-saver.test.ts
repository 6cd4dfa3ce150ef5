// When V8 gives memory back: read from what it says of its own collections.
import { expect, test } from '@jest/globals';
import { runModule } from '../../support/run-module.ts';

const FLAGS = ['--trace-gc', '--min-semi-space-size=1', '--max-semi-space-size=1'];

/** Makes rubbish a part of the time in each phase, until V8 has looked through all of its memory twice. */
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
    if (kept.length > 50_000) kept = [];
    kept.push(new Array(50).fill(kept.length));
  }
}
async function phase(name, { workMs, pauseMs }) {
  const since = performance.now();
  while (performance.now() - since < NOTICED_WITHIN_MS) { work(workMs); await pause(pauseMs); }
  console.log(name);
  for (const before = collections; collections < before + ENOUGH; ) { work(workMs); await pause(pauseMs); }
  console.log('between');
}
const QUIET = { workMs: 2, pauseMs: 50 };
const BUSY = { workMs: 20, pauseMs: 0 };
const leave = saveMemoryWhileIdle();
await phase('quiet', QUIET);
await phase('busy', BUSY);
await phase('quiet again', QUIET);
leave();
await phase('left', QUIET);
process.exit();
`;

test('while little happens every full collection gives memory back, while much happens none does', async () => {
  const said = await runModule(PROGRAM, { flags: FLAGS });

  const givesBack = (phase: string) => {
    const ofPhase = new RegExp(`^${phase}\n(.*?)^between`, 'ms').exec(said)?.[1] ?? '';
    const collections = ofPhase.split('\n').filter((line) => line.includes('Mark-Compact'));
    return collections.map((line) => line.includes('(reduce)'));
  };
  expect(new Set(givesBack('quiet'))).toEqual(new Set([true]));
  expect(new Set(givesBack('busy'))).toEqual(new Set([false]));
  expect(new Set(givesBack('quiet again'))).toEqual(new Set([true]));
  expect(new Set(givesBack('left'))).toEqual(new Set([false]));
}, 240_000);

import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { collectWhenQuiet } from '#libs/quiet-collection.ts';
import { eventually } from '../support/eventually.ts';

const LIBRARY = new URL('../../libs/quiet-collection.ts', import.meta.url).href;

test('when there is much to do, then it is not looked through; when there is nothing, then it is, again and again', async () => {
  let collections = 0;
  const stop = collectWhenQuiet({ everyMs: 250, collect: () => (collections += 1) });
  try {
    for (let turn = 0; turn < 50; turn += 1) {
      work();
      await new Promise(setImmediate);
    }
    expect(collections).toBe(0);
    await eventually(() => collections > 1);
  } finally {
    stop();
  }
});

test('when Node is told to give the collection away, then that is what is called', () => {
  const script = `
    import { collectWhenQuiet } from ${JSON.stringify(LIBRARY)};
    const held = new WeakRef({ bytes: new Uint8Array(1_000) });
    collectWhenQuiet({ everyMs: 150 });
    const waiting = setInterval(() => held.deref() || clearInterval(waiting), 20);
  `;
  const { status } = spawnSync('node', ['--expose-gc', '--input-type=module', '--eval', script], { timeout: 60_000 });
  expect(status).toBe(0);
});

test('when it is not given away, then nothing happens and nothing stays open', () => {
  const script = `import { collectWhenQuiet } from ${JSON.stringify(LIBRARY)}; collectWhenQuiet({ everyMs: 10 });`;
  const { status } = spawnSync('node', ['--input-type=module', '--eval', script], { timeout: 60_000 });
  expect(status).toBe(0);
});

function work() {
  const until = performance.now() + 20;
  while (performance.now() < until) JSON.stringify(process.versions);
}

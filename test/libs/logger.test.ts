// The log of a busy service: nobody waits for a line, and none is missing when the process ends by itself.
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const COUNT = 2_000;

test('when a service says much and ends at once, then every line arrives, in order', () => {
  const program = `
    const { makeLogger } = await import('./libs/logger.ts');
    const log = makeLogger('test', 'info');
    for (let count = 0; count < ${COUNT}; count += 1) log.info({ count }, 'said');
    process.exit(0);`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    maxBuffer: 10_000_000,
  });
  expect(status).toBe(0);
  const counts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { count: number }).count);
  expect(counts).toEqual(Array.from({ length: COUNT }, (_, index) => index));
});

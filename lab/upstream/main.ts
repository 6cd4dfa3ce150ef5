// `npm run upstream`: shows faults of libraries that the code works around, each with the smallest program that has it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readCommandLine } from '../command-line.ts';

readCommandLine(
  `Shows faults of libraries that the code works around, each with the smallest program that has it.

Usage: npm run upstream

Ends with 1 when a program itself fails.
`,
  {},
);

/** Both make what only a full collection clears visible: a small young generation, and old objects that are left alone. */
const SMALL_HEAP = [
  '--min-semi-space-size=1',
  '--max-semi-space-size=1',
  '--initial-old-space-size=1024',
  '--expose-gc',
];

const PROGRAMS: readonly { file: string; flags: readonly string[] }[] = [
  { file: 'axios-keep-alive.ts', flags: [] },
  { file: 'bullmq-close.ts', flags: [] },
  { file: 'bullmq-concurrency.ts', flags: [] },
  { file: 'ioredis-errors.ts', flags: [] },
  { file: 'ioredis-unix-url.ts', flags: [] },
  { file: 'ioredis-writes.ts', flags: [] },
  { file: 'puppeteer-pipes.ts', flags: [] },
  { file: 'sonic-boom-flush.ts', flags: [] },
  { file: 'v8-set-retention.ts', flags: SMALL_HEAP },
];

process.stdout.write('Faults that are still there are why docs/upstream.md names a workaround.\n');
for (const { file, flags } of PROGRAMS) {
  const { status } = spawnSync(process.execPath, [...flags, join(import.meta.dirname, file)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

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

const PROGRAMS = [
  'axios-keep-alive.ts',
  'bullmq-close.ts',
  'bullmq-concurrency.ts',
  'ioredis-errors.ts',
  'ioredis-unix-url.ts',
  'ioredis-writes.ts',
  'puppeteer-pipes.ts',
  'sonic-boom-flush.ts',
];

process.stdout.write('Faults that are still there are why docs/upstream.md names a workaround.\n');
for (const file of PROGRAMS) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, file)], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

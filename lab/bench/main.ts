// `npm run bench`: ours beside a floor, interleaved in one run. Every other file `<group>-group.ts` here is a group. `--help` says how.
import { readdirSync } from 'node:fs';
import { startBackends } from '../../test/support/backends.ts';
import { readCommandLine } from '../command-line.ts';
import { type Cost, measureCosts, printCosts } from './capacity.ts';
import { type DiskUse, measureDisk, printDisk } from './disk.ts';
import { progress } from './progress.ts';
import { printTable, type Row } from './rows.ts';

export interface BenchOptions {
  mongodbUri: string;
  redisUrl: string;
  chromiumPath: string;
  /** Also what takes minutes: lists over a million records. */
  isLarge: boolean;
  /** The only part that is measured, of a group that has parts. */
  part?: string | undefined;
}

/** The function that a group's file exports as `bench`. Each part of a group yields its rows, so that they are printed even if a later part fails. */
export type Bench = (options: BenchOptions) => AsyncIterable<Row[]>;

const ENDING = '-group.ts';
const groups = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length));
/** Rows of another kind: what an operation costs, and no floor. */
const CAPACITY = 'capacity';

const HELP = `Measures Billhook beside a bare floor in one run and prints ratios. A whole run, and ${CAPACITY}, ends with what one operation costs.

Usage: npm run bench -- [options] [${[...groups, CAPACITY].join(' | ')}]…

  --part NAME   of a group that has parts; a wrong name lists them
  --large       also what takes minutes: lists over a million records
  --json        prints the figures as JSON

Ends with 1 when a target is missed. Run it on a machine that does nothing else.
`;

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    part: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => name !== CAPACITY && !groups.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such group: ${unknown.join(', ')}. There are: ${[...groups, CAPACITY].join(', ')}\n`);
  process.exit(2);
}

progress('starting MongoDB, Redis and Chromium');
const backends = await startBackends(process.env);
const rows: Row[] = [];
const failed: string[] = [];
let costs: Cost[] = [];
let disk: DiskUse[] = [];
try {
  for (const group of groups.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    const { bench, parts = [] } = (await import(`./${group}${ENDING}`)) as { bench: Bench; parts?: readonly string[] };
    try {
      const { part } = values;
      if (part && !parts.includes(part)) throw new Error(`no such part: ${part}. There are: ${parts.join(', ')}`);
      for await (const found of bench({ ...backends, isLarge: values.large, part })) rows.push(...found);
    } catch (error) {
      // The other groups take minutes as well, and are measured all the same.
      progress();
      console.error(`${group}:`, error);
      failed.push(group);
    }
  }
  if (positionals.length === 0 || positionals.includes(CAPACITY)) {
    costs = await measureCosts({ ...backends, isLarge: values.large });
    if (values.large) disk = await measureDisk({ ...backends, isLarge: true });
  }
} finally {
  await backends.stop();
  progress();
}
if (values.json) process.stdout.write(`${JSON.stringify([...rows, ...costs, ...disk])}\n`);
else {
  if (rows.length > 0) printTable(rows);
  if (costs.length > 0) printCosts(costs);
  if (disk.length > 0) printDisk(disk);
}
process.exitCode = failed.length === 0 && rows.every(({ pass }) => pass) ? 0 : 1;

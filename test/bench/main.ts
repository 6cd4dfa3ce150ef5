// `npm run bench [group …] [--json] [--large]`: ours beside a floor, interleaved in one run. Every other file `<group>-group.ts` here is a group.
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startBackends } from '../support/backends.ts';
import { progress } from './progress.ts';
import { printTable, type Row } from './rows.ts';

export interface BenchOptions {
  mongodbUri: string;
  redisUrl: string;
  chromiumPath: string;
  /** Also what takes minutes: lists over a million records. */
  isLarge: boolean;
}

/** What a group's file exports as `bench`. */
export type Bench = (options: BenchOptions) => Promise<Row[]>;

const ENDING = '-group.ts';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, large: { type: 'boolean', default: false } },
});
const groups = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(ENDING))
  .map((name) => name.slice(0, -ENDING.length));
const unknown = positionals.filter((name) => !groups.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`No such group: ${unknown.join(', ')}. There are: ${groups.join(', ')}\n`);
  process.exit(2);
}

progress('starting MongoDB, Redis and Chromium');
const backends = await startBackends(process.env);
const rows: Row[] = [];
try {
  for (const group of groups.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    const { bench } = (await import(`./${group}${ENDING}`)) as { bench: Bench };
    rows.push(...(await bench({ ...backends, isLarge: values.large })));
  }
} finally {
  await backends.stop();
  progress();
}
if (values.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
else printTable(rows);
process.exitCode = rows.every(({ pass }) => pass) ? 0 : 1;

// `npm run faults`: breaks the system in every way of the table, under load, and judges it after each. `--help` says how.
import { writeFile } from 'node:fs/promises';
import { faults } from '../../test/support/faults/fault-table.ts';
import { runFaults } from '../../test/support/faults/run-faults.ts';
import { readCommandLine } from '../command-line.ts';
import { reportOf } from './report.ts';

const HELP = `Breaks a whole system of its own, under load, and checks after each fault that nothing was lost.

Usage: npm run faults -- [options]

  --only F11,F2     these faults only (F11, or F19: with all its variants)
  --list            the faults there are
  --short           each once and for a short time, as the tests do it
  --rounds N        the whole table N times (default 1)
  --seed N          the same choices again (default: by the clock, and said)
  --report FILE     writes what came of it as Markdown
  --keep FOLDER     keeps the journal and the logs there
`;

const { values } = readCommandLine(HELP, {
  options: {
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string' },
    report: { type: 'string' },
    keep: { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const wanted = values.only?.split(',');
const chosen = faults.filter(({ id, isShort }) => (wanted ? wanted.includes(id) : !values.short || isShort));

if (values.list || chosen.length === 0) {
  for (const { id, title, isShort } of faults)
    say(`${id.padEnd(4)} ${title}${isShort ? ' (also in the short form)' : ''}`);
} else {
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  // The guardian ends all processes that this one started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const run = await runFaults({
    faults: chosen,
    seed,
    rounds: Number(values.rounds),
    isShort: values.short,
    say,
    keep: values.keep,
  });
  const report = reportOf(run);
  if (values.report) await writeFile(values.report, report);
  else say(report);
  process.exitCode = run.results.every(({ breaches }) => breaches.length === 0) && run.breaches.length === 0 ? 0 : 1;
}

// `npm run storm`: random faults on a running system, with a page to watch it on. `--help` says how.
import { writeFile } from 'node:fs/promises';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';
import { WHOLE_RATES } from '../faults/run-faults.ts';
import { openLivePage } from './live-page.ts';
import { runStorm } from './run-storm.ts';
import { stormReportOf } from './storm-report.ts';
import { lineOf, makeState } from './storm-state.ts';

const HELP = `Breaks a whole system of its own in random ways, several at a time, under load, and judges it all the while and at the end.

Usage: npm run storm -- [options]

  --minutes N       how long (default 10)
  --seed N          the same faults in the same order again (default: by the clock, and said)
  --port P          of the live page (default: a free one, and said)
  --at-once N       so many faults at a time at most (default 2)
  --leg N           minutes until all is quiet for a while and everything is judged (default 10)
  --records N       calls for records a second (default ${WHOLE_RATES.records})
  --events N        new clients a second besides (default ${WHOLE_RATES.events})
  --documents N     documents a second (default ${WHOLE_RATES.documents})
  --report FILE     writes what came of it as Markdown
  --keep FOLDER     keeps the journal and the logs there

Ends with 1 when an oracle was breached.
`;

const { values } = readCommandLine(HELP, {
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    port: { type: 'string', default: '0' },
    'at-once': { type: 'string', default: '2' },
    leg: { type: 'string', default: '10' },
    records: { type: 'string', default: String(WHOLE_RATES.records) },
    events: { type: 'string', default: String(WHOLE_RATES.events) },
    documents: { type: 'string', default: String(WHOLE_RATES.documents) },
    report: { type: 'string' },
    keep: { type: 'string' },
  },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);
/** Without a terminal, a line now and then is enough. */
const LINE_MS = process.stderr.isTTY ? 1_000 : 10_000;

const minutes = Number(values.minutes);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const rates = { records: Number(values.records), events: Number(values.events), documents: Number(values.documents) };
const atOnce = Number(values['at-once']);
const state = makeState(seed, minutes, Math.ceil(minutes / Number(values.leg)));
// What was started is ended by its guardian.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const page = await openLivePage(state, Number(values.port));
say(`seed ${seed}, ${minutes} minutes; watch it on ${page.url}`);
const lines = setInterval(() => progress(lineOf(state)), LINE_MS);
try {
  const legs = await runStorm(state, { rates, atOnce, keep: values.keep });
  progress();
  const report = stormReportOf({ state, legs, rates, atOnce });
  if (values.report) await writeFile(values.report, report);
  say(values.report ? lineOf(state) : report);
  process.exitCode = state.breaches.length === 0 ? 0 : 1;
} finally {
  clearInterval(lines);
  await page.close();
}

// `npm run soak`: hours of steady load, and what grew meanwhile. `--help` says how.
import { writeFile } from 'node:fs/promises';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';
import { runSoak } from './run-soak.ts';
import { judgeSoak, soakReportOf } from './soak-report.ts';

const HELP = `Keeps a whole system of its own under a steady load, writes down what it holds, and says what grows and how fast.

Usage: npm run soak -- [options]

  --hours N         how long (default 2; 0.05 are three minutes)
  --seed N          the same calls again (default 1)
  --records N       calls for records a second (default 30)
  --events N        new clients a second besides (default 3)
  --documents N     documents a second (default 1.6: more than ten thousand in two hours)
  --every N         seconds between two readings (default 20)
  --leg N           minutes until all is quiet for a while and everything is judged (default 20)
  --report FILE     writes what came of it as Markdown
  --keep FOLDER     keeps the journal and the logs there

Ends with 1 when something grew too fast, too few documents were printed, or an oracle was breached.
`;

const { values } = readCommandLine(HELP, {
  options: {
    hours: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    records: { type: 'string', default: '30' },
    events: { type: 'string', default: '3' },
    documents: { type: 'string', default: '1.6' },
    every: { type: 'string', default: '20' },
    leg: { type: 'string', default: '20' },
    report: { type: 'string' },
    keep: { type: 'string' },
  },
});
const say = (text: string) => void process.stdout.write(`${text}\n`);

// The guardian ends all processes that this one started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const run = await runSoak({
  hours: Number(values.hours),
  seed: Number(values.seed),
  rates: { records: Number(values.records), events: Number(values.events), documents: Number(values.documents) },
  every: Number(values.every),
  legMinutes: Number(values.leg),
  keep: values.keep,
  onReading({ hours, values: held }, { requests, documents }, breaches) {
    const shown = ['gateway-1 memory, MB', 'gateway-2 memory, MB', 'renderer-1 browser, MB', 'Redis memory, MB'];
    const sizes = shown.map((name) => `${name.replace(', MB', '')} ${held.get(name)?.toFixed(0)} MB`);
    progress(
      `${(hours * 60).toFixed(1)} min: ${requests} requests and ${documents} documents of this leg, ${sizes.join(', ')}, ${breaches} breaches`,
    );
  },
});
progress();
const report = soakReportOf(run);
if (values.report) await writeFile(values.report, report);
say(report);
process.exitCode = judgeSoak(run).pass ? 0 : 1;

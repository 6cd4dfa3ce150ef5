// `npm run recurring`: four schedulers are killed at random while two years of recurring invoices are made. `--help` says how.
import { startBackends } from '../../test/support/backends.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';
import { killSchedulers } from './kill-schedulers.ts';

const HELP = `Lets months go by for several schedulers on one database and kills them with SIGKILL while they work; another takes the place of each.
At the end every recurring invoice has exactly one invoice for each month, and numbers, runs and events have no holes.

Usage: npm run recurring -- [options]

  --schedulers N    processes (default 4)
  --definitions N   recurring invoices, over 10 accounts in six time zones (default 100)
  --months N        occurrences of each (default 24)
  --kills N         while the invoices of one moment are made (default 4)
  --seed N          the same choices again, though not the same races (default: by the clock, and printed)

Ends with 1 when an occurrence is missing or double.
`;

const { values } = readCommandLine(HELP, {
  options: {
    schedulers: { type: 'string', default: '4' },
    definitions: { type: 'string', default: '100' },
    months: { type: 'string', default: '24' },
    kills: { type: 'string', default: '4' },
    seed: { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);

// What was started is ended with the program.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await run();

async function run() {
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  const [schedulers, definitions, months] = [values.schedulers, values.definitions, values.months].map(Number) as [
    number,
    number,
    number,
  ];
  say(`seed ${seed}: ${schedulers} schedulers, ${definitions} recurring invoices, ${months} months`);
  const begun = Date.now();
  const backends = await startBackends(process.env);
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  try {
    const { invoices, kills, broken } = await killSchedulers({
      mongodbUri: workspace.mongodbUri,
      schedulers,
      definitions,
      months,
      accounts: 10,
      killsEach: Number(values.kills),
      seed,
      onMonth: (month, made) => progress(`month ${month} of ${months}, ${made} invoices`),
    });
    progress();
    for (const sentence of broken) say(`BROKEN ${sentence}`);
    const seconds = Math.round((Date.now() - begun) / 1_000);
    say(
      `${invoices} invoices of ${definitions * months}, ${kills} kills, ${broken.length} promises broken, ${seconds} s`,
    );
    process.exitCode = broken.length > 0 || invoices !== definitions * months ? 1 : 0;
  } finally {
    await workspace.close();
    await backends.stop();
  }
}

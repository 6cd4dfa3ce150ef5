// `npm run race-storm`: many callers move the same time and money at once through two gateways. `--help` says how.
import { startBackends } from '../../test/support/backends.ts';
import { runStorm, type Storm } from '../../test/support/ledger/race-storm.ts';
import { openTwoGateways } from '../../test/support/ledger/two-gateways.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Bills, converts, pays, credits, refunds, cancels, deletes and releases the same few records from many callers at once through two gateway
processes. After each round every promise is judged: each entry on one invoice, each quote converted once, each external_id booked once,
every sum, numbers and events without holes, no response of 500.

Usage: npm run race-storm -- [options]

  --minutes N    how long (default 10)
  --requests N   of a round, which has records of its own (default 400)
  --callers N    that send at a time (default 12)
  --seed N       the same movements again, though not the same races (default: by the clock, and printed)

Ends with 1 when a promise was broken.
`;

const { values } = readCommandLine(HELP, {
  options: {
    minutes: { type: 'string', default: '10' },
    requests: { type: 'string', default: '400' },
    callers: { type: 'string', default: '12' },
    seed: { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);

// Processes that the program started end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await storm();

async function storm() {
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  say(`seed ${seed}, ${values.minutes} minutes`);
  const backends = await startBackends(process.env);
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  const gateways = await openTwoGateways(workspace);
  let told = 0;
  const until = Date.now() + Number(values.minutes) * 60_000;
  try {
    const result = await runStorm({
      gateways,
      newAccount: () => workspace.account(),
      seed,
      requests: Number(values.requests),
      callers: Number(values.callers),
      isOver: () => Date.now() >= until,
      onRound: ({ rounds, requests, broken }) => {
        // At once: a program that ends early has said them.
        for (const sentence of broken.slice(told)) say(`BROKEN ${sentence}`);
        told = broken.length;
        progress(`${rounds} rounds, ${requests} requests, ${told} promises broken`);
      },
    });
    progress();
    report(result);
  } finally {
    await gateways.stop();
    await workspace.close();
    await backends.stop();
  }
}

function report({ rounds, requests, statuses, done, broken }: Storm) {
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ');
  say(`${rounds} rounds, ${requests} requests: ${counted(statuses)}`);
  say(`Made: ${counted(done)}`);
  say(`${broken.length} promises broken`);
  process.exitCode = broken.length > 0 || rounds === 0 ? 1 : 0;
}

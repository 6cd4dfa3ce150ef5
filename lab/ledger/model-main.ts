// `npm run ledger-model`: thousands of random sequences of movements of time and money. `--help` says how.
import { startBackends } from '../../test/support/backends.ts';
import { openLedgerWorld } from '../../test/support/ledger/ledger-world.ts';
import { runModel } from '../../test/support/ledger/model.ts';
import { openTwoGateways } from '../../test/support/ledger/two-gateways.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Makes random movements of time and money, two at a time through two gateways, and checks every sum and link after each pair.

Usage: npm run ledger-model -- [options]

  --sequences N   how many, each of an account of its own (default 2,000)
  --seed N        the same sequences again (default: by the clock, and printed)

Ends with 1, the seed and the shortest sequence that it found when a promise is broken.
`;

const { values } = readCommandLine(HELP, {
  options: {
    sequences: { type: 'string', default: '2000' },
    seed: { type: 'string' },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);

// Processes that the program started end with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await check(Number(values.sequences), values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed));

async function check(sequences: number, seed: number) {
  say(`seed ${seed}, ${sequences} sequences`);
  const startedAt = Date.now();
  const backends = await startBackends(process.env);
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  const gateways = await openTwoGateways(workspace);
  try {
    const taken = await runModel({
      seed,
      sequences,
      shrinks: true,
      open: async () => {
        const account = await workspace.account();
        return openLedgerWorld(account, gateways.sendAs(account));
      },
      onSequence: ({ sequences: done, steps }) => progress(`${done} of ${sequences} sequences, ${steps} steps`),
    });
    progress();
    const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
    say(`${taken.sequences} sequences, ${taken.steps} steps in ${minutes} minutes: every sum and link holds`);
    say(
      Object.entries(taken.done)
        .map(([move, times]) => `${move} ${times}`)
        .join(', '),
    );
  } catch (error) {
    const { message, cause } = error as Error;
    say(`${message}\n${String(cause ?? '')}`);
    process.exitCode = 1;
  } finally {
    await gateways.stop();
    await workspace.close();
    await backends.stop();
  }
}

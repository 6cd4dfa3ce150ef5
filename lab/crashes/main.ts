// `npm run crashes`: kills a gateway at every step of every write of the billing core. `--help` says how.
import { startBackends } from '../../test/support/backends.ts';
import { type CrashPoint, nameOf, watchedGateway } from '../../test/support/crashes/crash-points.ts';
import { type KnownWrite, learnWrite, pointsOf, type Trials, tryCrash } from '../../test/support/crashes/trial.ts';
import { WRITES } from '../../test/support/crashes/writes.ts';
import { spawnGateway } from '../../test/support/spawn-gateway.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Kills a gateway process after each command of a write's transaction, before and after the commit. Another gateway must find
all of the write or nothing, and the retry with the same Idempotency-Key must make it once.

Usage: npm run crashes -- [options] [words of a write's name]

  --every N   only each Nth step of a write (default 1)

Ends with 1 when a trial failed.
`;

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
/** A start is mostly work of one processor. */
const AT_ONCE = 2;

await crashAll();

async function crashAll() {
  progress('starting MongoDB and Redis');
  const startedAt = Date.now();
  const backends = await startBackends(process.env);
  const failures: string[] = [];
  let kills = 0;
  try {
    const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
    const { key } = await workspace.account();
    const gateway = await spawnGateway(workspace, key);
    const watching = await spawnGateway(workspace, key, watchedGateway());
    const trials = { workspace, gateway };
    progress();
    say('| Write | Steps | Kills | Result |\n|---|---|---|---|');
    for (const write of WRITES.filter(({ name }) => positionals.every((word) => name.includes(word)))) {
      const known = await learnWrite(trials, watching, write);
      const all = pointsOf(known);
      const points = all.filter((_, index) => index % Number(values.every) === 0 || index >= all.length - 2);
      const found = await crashAt(trials, known, points);
      kills += points.length;
      failures.push(...found);
      say(
        `| ${write.name} | ${known.steps.length} | ${points.length} | ${found.length === 0 ? 'once' : found.join('; ')} |`,
      );
    }
    await Promise.all([gateway.stop(), watching.stop()]);
    await workspace.close();
  } finally {
    await backends.stop();
  }
  say(`\n${kills} kills in ${Math.round((Date.now() - startedAt) / 1_000)} s, ${failures.length} failures`);
  process.exitCode = failures.length > 0 || kills === 0 ? 1 : 0;
}

async function crashAt(trials: Trials, known: KnownWrite, points: readonly CrashPoint[]): Promise<string[]> {
  const failures: string[] = [];
  const left = [...points];
  const work = async () => {
    for (let point = left.shift(); point; point = left.shift()) {
      progress(`${known.write.name}, killed ${nameOf(point)} of ${known.steps.length}`);
      await tryCrash(trials, known, point).catch((error: Error) => failures.push(error.message));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}

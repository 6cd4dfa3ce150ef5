// `npm run crashes`: kills a gateway at every step of every write of the billing core, and portal, scheduler and mail service at
// every step of what they do by themselves. `--help` says how.
import { startBackends } from '../../test/support/backends.ts';
import { ACTS, learnAct, PORTAL_ADDRESS, tryAct } from '../../test/support/crashes/act-trial.ts';
import { type CrashPoint, nameOf, watchedService } from '../../test/support/crashes/crash-points.ts';
import { learnMail, MAIL_TRANSACTIONS, tryMail } from '../../test/support/crashes/mail-trial.ts';
import { type KnownWrite, learnWrite, pointsOf, type Trials, tryCrash } from '../../test/support/crashes/trial.ts';
import { WRITES } from '../../test/support/crashes/writes.ts';
import { openReadyQueues } from '../../test/support/queues.ts';
import { spawnGateway } from '../../test/support/spawn-gateway.ts';
import { spawnService } from '../../test/support/spawn-service.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';

const HELP = `Kills a gateway process after each command of a write's transaction, before and after the commit. Another gateway must find
all of the write or nothing, and the retry with the same Idempotency-Key must make it once. Portal and scheduler are killed
alike in every form of the client's page and in every round, and the mail service in every transaction of a mail.

Usage: npm run crashes -- [options] [words of the name of a write, a form, a round or a mail]

  --every N   only each Nth step of a transaction (default 1)

Ends with 1 when a trial failed.
`;

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
/** The work that the mail service does by itself. */
const MAIL = { name: 'a mail' };
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
    const gateway = await spawnGateway(workspace, key, { PORTAL_URL: PORTAL_ADDRESS });
    const watching = await spawnGateway(workspace, key, watchedService());
    const trials = { workspace, gateway };
    progress();
    say('| Write | Steps | Kills | Result |\n|---|---|---|---|');
    const note = (name: string, steps: number, points: readonly CrashPoint[], found: readonly string[]) => {
      kills += points.length;
      failures.push(...found);
      say(`| ${name} | ${steps} | ${points.length} | ${found.length === 0 ? 'once' : found.join('; ')} |`);
    };
    // The mails of writes and rounds would go first, and wait for a renderer.
    if (isWanted(MAIL)) {
      const queues = await openReadyQueues(workspace);
      const mailing = { ...trials, queues };
      for (const [index, steps] of (await learnMail(mailing)).entries()) {
        const points = chosenOf(steps).map((point) => ({ ...point, of: index + 1 }));
        const name = `${MAIL.name}: ${MAIL_TRANSACTIONS[index]}`;
        progress(`${name}, killed at ${points.length} of ${steps.length} steps`);
        note(name, steps.length, points, await tryMail(mailing, points));
      }
      await queues.close();
    }
    for (const write of WRITES.filter(isWanted)) {
      const known = await learnWrite(trials, watching, write);
      const points = chosenOf(known.steps);
      note(write.name, known.steps.length, points, await crashAt(trials, known, points));
    }
    await watching.stop();
    const portal = await spawnService('portal', workspace);
    for (const act of ACTS.filter(isWanted)) {
      const acting = { ...trials, portal };
      const steps = await learnAct(acting, act);
      const found: string[] = [];
      for (const point of chosenOf(steps)) {
        progress(`${act.name}, killed ${nameOf(point)} of ${steps.length}`);
        await tryAct(acting, act, point).catch((error: Error) => found.push(error.message));
      }
      note(act.name, steps.length, chosenOf(steps), found);
    }
    await portal.stop();
    await gateway.stop();
    await workspace.close();
  } finally {
    await backends.stop();
  }
  say(`\n${kills} kills in ${Math.round((Date.now() - startedAt) / 1_000)} s, ${failures.length} failures`);
  process.exitCode = failures.length > 0 || kills === 0 ? 1 : 0;
}

function isWanted({ name }: { name: string }): boolean {
  return positionals.every((word) => name.includes(word));
}

/** The points that the options choose: before and after the commit in any case. */
function chosenOf(steps: readonly string[]): CrashPoint[] {
  const all = pointsOf({ steps: [...steps] });
  return all.filter((_, index) => index % Number(values.every) === 0 || index >= all.length - 2);
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

// `npm run noisy`: a neighbour at its full rate beside accounts that do ordinary work. `--help` says how.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { startBackends } from '../../test/support/backends.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { startServices } from '../bench/pdf-system.ts';
import { progress } from '../bench/progress.ts';
import { readCommandLine } from '../command-line.ts';
import { judge, type Measured, printMeasured } from './judge.ts';
import { judgeMail, MAIL_NEIGHBOURS, type MeasuredMail, measureMail, printMail } from './mail.ts';
import { NEIGHBOURS, type Neighbour } from './neighbours.ts';
import { runNeighbour } from './run-neighbour.ts';
import { addWaits, noWaits, work } from './victim.ts';
import { highestOf, type Seen, watch } from './watch.ts';

const HELP = `Starts a system of its own on loopback and measures, for each neighbour, how long two other accounts wait alone and beside it,
and how long their mail does.

Usage: npm run noisy -- [options] [words of a neighbour's name]

  --seconds N    of each round beside the neighbour (default 10); alone is measured as long as all rounds together
  --rounds N     each with another account of the neighbour, whose rate limits are untouched (default 2)
  --null         the neighbour calls a server that does nothing: what its program alone takes from the victims
  --json         prints the figures as JSON

Ends with 1 when a target is missed: records and documents p95 at most 5 times as long and none refused, memory of the
gateway at most 768 MB and of a renderer 1,024 MB, the slowest /livez 250 ms; mails p95 at most 5 times as long, and none lost.
`;

/** Each of the neighbour's accounts. */
const KEYS = 20;
const VICTIMS = 2;
const RAMP_MS = 500;
const REST_MS = 2_000;

const { values, positionals } = readCommandLine(HELP, {
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '2' },
    null: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const ms = Number(values.seconds) * 1_000;
const rounds = Number(values.rounds);

await measureAll();

async function measureAll() {
  progress('starting MongoDB, Redis and Chromium');
  const backends = await startBackends(process.env);
  const measured: Measured[] = [];
  const mails: MeasuredMail[] = [];
  const isChosen = ({ name }: { name: string }) => positionals.every((word) => name.includes(word));
  try {
    for (const neighbour of NEIGHBOURS.filter(isChosen)) measured.push(await measure(neighbour, backends));
    for (const neighbour of MAIL_NEIGHBOURS.filter(isChosen))
      mails.push(await measureMail(neighbour, { ...backends, isLarge: false }, ms * rounds));
  } finally {
    await backends.stop();
    progress();
  }
  if (values.json) process.stdout.write(`${JSON.stringify([...measured, ...mails])}\n`);
  if (!values.json && measured.length > 0) printMeasured(measured);
  if (!values.json && mails.length > 0) printMail(mails);
  const missed = [...measured.map(judge), ...mails.map(judgeMail)];
  process.exitCode = missed.length > 0 && missed.every((found) => found.length === 0) ? 0 : 1;
}

/** On services of their own: what one neighbour leaves behind does not count for the next. */
async function measure(neighbour: Neighbour, backends: Awaited<ReturnType<typeof startBackends>>): Promise<Measured> {
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  // The default limits, which the benchmarks switch off.
  const limits = { RATE_LIMIT_REQUESTS: '6000', RATE_LIMIT_DOCUMENTS: '120' };
  const system = await startServices(workspace, { gatewayEnv: limits });
  const nothing = values.null ? await startNullServer() : undefined;
  const { gateway } = system;
  const renderer = system.renderers[0] as (typeof system.renderers)[number]; // One is started.
  try {
    const victims: string[] = [];
    for (let index = 0; index < VICTIMS; index += 1) victims.push((await workspace.account()).key);
    // The first documents of a renderer are slower.
    await work(gateway.url, victims, 2_000);
    progress(`${neighbour.name}: alone`);
    const stopAlone = watch({ gateway, renderer });
    const alone = await work(gateway.url, victims, ms * rounds);
    await stopAlone();
    const beside = noWaits();
    const seen: Seen[] = [];
    let requests = 0;
    for (let round = 0; round < rounds; round += 1) {
      const target = { url: nothing?.url ?? gateway.url, ...(await neighbourAccount(workspace)) };
      progress(`${neighbour.name}: beside it`);
      const running = await runNeighbour({ name: neighbour.name, target });
      await pause(RAMP_MS);
      const stop = watch({ gateway, renderer, neighbourPid: running.pid });
      addWaits(beside, await work(gateway.url, victims, ms));
      seen.push(await stop());
      requests += await running.end();
      await pause(REST_MS);
    }
    return { ...neighbour, alone, beside, seen: highestOf(seen), requests };
  } finally {
    nothing?.stop();
    await system.close();
    await workspace.close();
  }
}

/** Another one for each round: the rate limits of the last one would make the next round easier. */
async function neighbourAccount(workspace: Workspace) {
  const { id, key } = await workspace.account();
  const moreKeys: string[] = [];
  for (let index = 0; index < KEYS; index += 1) {
    moreKeys.push((await issueApiKey({ accountId: id, name: 'another', scopes: ['*'] })).key);
  }
  return { key, accountId: id, moreKeys };
}

async function startNullServer() {
  const child = fork(new URL('null-server.ts', import.meta.url));
  const [port] = await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.disconnect() };
}

// `npm run noisy`: a hostile account at its full rate beside one that does ordinary work. `--help` says how.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { startBackends } from '../../test/support/backends.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { startServices } from '../bench/pdf-system.ts';
import { progress } from '../bench/progress.ts';
import { judge, type Measured, printMeasured } from './judge.ts';
import { NEIGHBOURS, type Neighbour } from './neighbours.ts';
import { runNeighbour } from './run-neighbour.ts';
import { addWaits, noWaits, work } from './victim.ts';
import { highest, noPeaks, watch } from './watch.ts';

const HELP = `Starts a system of its own on loopback and measures, for each hostile neighbour, how long another account waits alone and beside it.

Usage: npm run noisy -- [options] [words of a neighbour's name]

  --seconds N    of each measurement, alone and beside (default 8)
  --rounds N     how often alone and beside take turns, so that both see the same machine (default 2)
  --json         prints the figures as JSON

Ends with 1 when a target is missed: records p95 at most 3 times as long, documents 5 times and none refused, memory of the
gateway at most 768 MB and of a renderer 1,024 MB, the slowest /livez 250 ms.
`;

/** Of the hostile account. */
const KEYS = 20;
const STARTING_MS = 1_500;
const REST_MS = 3_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else await measureAll();

async function measureAll() {
  progress('starting MongoDB, Redis and Chromium');
  const backends = await startBackends(process.env);
  const measured: Measured[] = [];
  try {
    const chosen = NEIGHBOURS.filter(({ name }) => positionals.every((word) => name.includes(word)));
    for (const neighbour of chosen) measured.push(await measure(neighbour, backends));
  } finally {
    await backends.stop();
    progress();
  }
  if (values.json) process.stdout.write(`${JSON.stringify(measured)}\n`);
  else printMeasured(measured);
  process.exitCode = measured.length > 0 && measured.every((one) => judge(one).length === 0) ? 0 : 1;
}

/** On services of their own: what one neighbour leaves behind does not count for the next. */
async function measure(neighbour: Neighbour, backends: Awaited<ReturnType<typeof startBackends>>): Promise<Measured> {
  const ms = Number(values.seconds) * 1_000;
  const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
  const limits = { RATE_LIMIT_REQUESTS: '6000', RATE_LIMIT_DOCUMENTS: '120' };
  const system = await startServices(workspace, { gatewayEnv: limits });
  try {
    const { url } = system.gateway;
    const victim = await workspace.account();
    // The first documents of a renderer are slower.
    await work(url, victim.key, 2_000);
    const [alone, beside] = [noWaits(), noWaits()];
    let peaks = noPeaks();
    let requests = 0;
    for (let round = 0; round < Number(values.rounds); round += 1) {
      progress(`${neighbour.name}: alone`);
      addWaits(alone, await work(url, victim.key, ms));
      progress(`${neighbour.name}: beside it`);
      const endNeighbour = await runNeighbour(neighbour.name, { url, ...(await hostileAccount(workspace)) });
      // Some make records first.
      await pause(STARTING_MS);
      const stop = watch(system.gateway, system.renderers[0] as (typeof system.renderers)[number]);
      addWaits(beside, await work(url, victim.key, ms));
      peaks = highest(peaks, await stop());
      requests += await endNeighbour();
      // What it left behind is done by then.
      await pause(REST_MS);
    }
    return { name: neighbour.name, finding: neighbour.finding, alone, beside, peaks, requests };
  } finally {
    await system.close();
    await workspace.close();
  }
}

/** Another one for each round: the rate limits of the last one would make the next round easier. */
async function hostileAccount(workspace: Awaited<ReturnType<typeof openBenchWorkspace>>) {
  const { id, key } = await workspace.account();
  const moreKeys: string[] = [];
  for (let index = 0; index < KEYS; index += 1) {
    moreKeys.push((await issueApiKey({ accountId: id, name: 'another', scopes: ['*'] })).key);
  }
  return { key, accountId: id, moreKeys };
}

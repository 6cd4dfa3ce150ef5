// `npm run noisy`: a hostile account at its full rate beside one that does ordinary work. `--help` says how.
import { parseArgs } from 'node:util';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { startBackends } from '../../test/support/backends.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { startServices } from '../bench/pdf-system.ts';
import { progress } from '../bench/progress.ts';
import { judge, type Measured, printMeasured } from './judge.ts';
import { NEIGHBOURS, type Neighbour } from './neighbours.ts';
import { work } from './victim.ts';
import { watch } from './watch.ts';

const HELP = `Starts a system of its own on loopback and measures, for each hostile neighbour, how long another account waits alone and beside it.

Usage: npm run noisy -- [options] [words of a neighbour's name]

  --seconds N    of each measurement, alone and beside (default 8)
  --json         prints the figures as JSON

Ends with 1 when a target is missed: records p95 at most 3 times as long, documents 5 times and none refused, memory of the
gateway at most 768 MB and of a renderer 1,024 MB, the slowest /livez 250 ms.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '8' },
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
    const [victim, hostile] = [await workspace.account(), await workspace.account()];
    // The first documents of a renderer are slower.
    await work(url, victim.key, 2_000);
    progress(`${neighbour.name}: alone`);
    const alone = await work(url, victim.key, ms);
    progress(`${neighbour.name}: beside it`);
    const over = new AbortController();
    const anotherKey = async () => (await issueApiKey({ accountId: hostile.id, name: 'another', scopes: ['*'] })).key;
    const attack = neighbour.attack({ url, key: hostile.key, accountId: hostile.id, anotherKey, signal: over.signal });
    const stop = watch(system.gateway, system.renderers[0] as (typeof system.renderers)[number]);
    const beside = await work(url, victim.key, ms);
    const peaks = await stop();
    over.abort();
    const requests = await attack;
    return { name: neighbour.name, finding: neighbour.finding, alone, beside, peaks, requests };
  } finally {
    await system.close();
    await workspace.close();
  }
}

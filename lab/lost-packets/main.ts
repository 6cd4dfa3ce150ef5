// `npm run lost-packets`: a firewall rule loses every packet to and from a store, and this tells how soon after it services are ready. `--help` says how.
// A refused connection is noticed at once; a network that swallows packets is what a dead node looks like.
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { startBackends } from '../../test/support/backends.ts';
import { launchService, type ServiceName, type SpawnedService } from '../../test/support/spawn-service.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { readCommandLine } from '../command-line.ts';

const SERVICES: readonly ServiceName[] = ['gateway', 'webhooks', 'operations', 'scheduler', 'renderer'];
/** What requires the store to be ready. */
const NEEDING = {
  mongodb: ['gateway', 'webhooks', 'operations', 'scheduler'],
  redis: ['webhooks', 'renderer'],
} satisfies Record<string, ServiceName[]>;
const SIDES = ['--dport', '--sport'];
const ASK_EVERY_MS = 50;
const ANSWER_LIMIT_MS = 1_500;
/** So that the packets return at any moment of what asks regularly. */
const SPREAD_MS = 2_000;

const HELP = `Loses every packet to and from a store by a firewall rule, and tells how soon after it services are ready. Needs Linux, root and iptables.

Usage: npm run lost-packets -- [options]

  --store NAME   ${Object.keys(NEEDING).join(' or ')} (default mongodb)
  --rounds N     (default 5)
  --outage N     seconds (default 35)
  --fresh        the services start while packets are lost
`;

const { values } = readCommandLine(HELP, {
  options: {
    store: { type: 'string', default: 'mongodb' },
    rounds: { type: 'string', default: '5' },
    outage: { type: 'string', default: '35' },
    fresh: { type: 'boolean', default: false },
  },
});
const store = values.store as keyof typeof NEEDING;
const needing = NEEDING[store];
if (!needing) throw new Error(`no such store: ${store}`);

const backends = await startBackends(process.env);
const workspace = await openBenchWorkspace({ ...backends, isLarge: false });
// URL knows the host of no scheme but its own.
const { port } = new URL(backends[store === 'mongodb' ? 'mongodbUri' : 'redisUrl'].replace(/^\w+:/, 'http:'));
let services = new Map<ServiceName, SpawnedService>();
let isCut = false;
process.on('exit', heal);
// What was started is ended by its guardian.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  await start();
  await Promise.all(SERVICES.map((name) => waitUntil(name, '/readyz', true)));
  const seconds: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const times = await measureRound();
    seconds.push(...times.map(([, took]) => took));
    const shown = times.map(([name, took]) => `${name} ${took.toFixed(2)} s`);
    process.stdout.write(`round ${round}: ${shown.join(', ')}\n`);
  }
  seconds.sort((a, b) => a - b);
  const median = seconds[Math.floor(seconds.length / 2)] ?? Number.NaN;
  process.stdout.write(
    `${store}, services ${values.fresh ? 'started meanwhile' : 'kept'}: ready after ${median.toFixed(2)} s (median of ${seconds.length}), longest ${seconds.at(-1)?.toFixed(2)} s\n`,
  );
} finally {
  heal();
  await stop();
  await workspace.close();
  await backends.stop();
}

async function measureRound() {
  if (values.fresh) await stop();
  cut();
  try {
    if (values.fresh) {
      await start();
      await Promise.all(needing.map((name) => waitUntil(name, '/livez', true)));
    }
    await pause(Number(values.outage) * 1_000);
    // A gateway stays ready for half a minute without MongoDB.
    await Promise.all(needing.map((name) => waitUntil(name, '/readyz', false)));
    await pause(Math.random() * SPREAD_MS);
  } finally {
    heal();
  }
  const healedAt = Date.now();
  return Promise.all(
    needing.map(async (name) => {
      await waitUntil(name, '/readyz', true);
      return [name, (Date.now() - healedAt) / 1_000] as const;
    }),
  );
}

async function start() {
  const env = { NODE_ENV: 'production', RATE_LIMIT_REQUESTS: '0' };
  services = new Map(
    await Promise.all(SERVICES.map(async (name) => [name, await launchService(name, workspace, env)] as const)),
  );
}

async function stop() {
  await Promise.all([...services.values()].map((service) => service.stop()));
}

async function waitUntil(name: ServiceName, path: string, wanted: boolean) {
  while ((await isOk(`${services.get(name)?.healthUrl}${path}`)) !== wanted) await pause(ASK_EVERY_MS);
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

function cut() {
  isCut = true;
  for (const side of SIDES) firewall('-A', side);
}

function heal() {
  if (!isCut) return;
  isCut = false;
  for (const side of SIDES) firewall('-D', side);
}

function firewall(change: '-A' | '-D', side: string) {
  execFileSync('iptables', [change, 'INPUT', '-i', 'lo', '-p', 'tcp', side, port, '-j', 'DROP']);
}

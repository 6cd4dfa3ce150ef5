// `trial.sh FOLDER recovery`: takes a store of the trial away for a while, gives it back, and prints how soon its services are ready again.
// Runs in the network of the cluster. All times count from the first answer of the store through its Service.
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { isAnswering, type Store } from './store-answer.ts';
import { type PodWatch, watchPods } from './watch-pods.ts';

const SERVICES: Record<Store, string[]> = {
  // Services that are ready only with the store.
  mongodb: ['gateway', 'portal', 'webhooks', 'mail', 'operations', 'scheduler'],
  redis: ['webhooks', 'mail', 'renderer'],
};
const PORTS: Record<Store, number> = { mongodb: 27_017, redis: 6_379 };
const ASK_EVERY_MS = 50;
const GIVE_UP_MS = 90_000;

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'mongodb' },
    rounds: { type: 'string', default: '5' },
    outage: { type: 'string', default: '40' }, // seconds
    fresh: { type: 'boolean', default: false }, // the services start while the store is unavailable
  },
});
const store = values.store as Store;
const services = SERVICES[store];
const run = promisify(execFile);
const kubectl = async (...args: string[]) => (await run('kubectl', ['-n', 'billhook', ...args])).stdout;

/** Milliseconds after the first answer of the store; negative: before it. */
type Times = Map<string, number>;

async function measureRound(): Promise<Times> {
  await kubectl('scale', `statefulset/${store}`, '--replicas=0');
  await kubectl('wait', '--for=delete', `pod/${store}-0`, '--timeout=90s');
  if (values.fresh) await kubectl('delete', 'pod', '-l', `app.kubernetes.io/name in (${services.join(',')})`);
  const watch = await watchPods([store, ...services]);
  try {
    // A process that still loads its code is no process that waits.
    await Promise.all(services.map((name) => firstAnswerOf(() => watch.ipOf(name), '/livez')));
    await pause(Number(values.outage) * 1_000);
    const until = Date.now() + GIVE_UP_MS;
    // A gateway stays ready for half a minute without MongoDB.
    while (services.some((name) => watch.readyAt(name) !== undefined)) {
      if (Date.now() > until) throw new Error(`still ready without ${store}`);
      await pause(ASK_EVERY_MS);
    }
    // A random moment within the periods of all that asks regularly.
    await pause(Math.random() * 1_000);
    const host = (await kubectl('get', 'service', store, '-o', 'jsonpath={.spec.clusterIP}')).trim();
    await kubectl('scale', `statefulset/${store}`, '--replicas=1');
    return await timesOf(watch, host);
  } finally {
    watch.close();
    await kubectl('scale', `statefulset/${store}`, '--replicas=1');
  }
}

async function timesOf(watch: PodWatch, host: string): Promise<Times> {
  const until = Date.now() + GIVE_UP_MS;
  const listensAt = firstAnswer(until, () => watch.ipOf(store));
  const answersAt = await firstAnswer(until, () => host);
  const answers = services.map(async (name) => [name, await firstAnswerOf(() => watch.ipOf(name), '/readyz')] as const);
  const answered = new Map(await Promise.all(answers));
  while (watch.readyAt(store) === undefined || services.some((name) => watch.readyAt(name) === undefined)) {
    if (Date.now() > until) throw new Error('not every pod is ready');
    await pause(ASK_EVERY_MS);
  }
  const times: Times = new Map([
    [`${store} answers at its pod`, (await listensAt) - answersAt],
    [`${store} pod ready`, (watch.readyAt(store) ?? Number.NaN) - answersAt],
  ]);
  for (const name of services) {
    times.set(`${name} /readyz 200`, (answered.get(name) ?? Number.NaN) - answersAt);
    times.set(`${name} pod ready`, (watch.readyAt(name) ?? Number.NaN) - answersAt);
  }
  return times;
}

/** Begins a new try every 50 ms, whatever became of those before: a lost packet delays one of them, not the answer. */
async function firstAnswer(until: number, host: () => string | undefined): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let isOver = false;
  void promise.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (Date.now() > until) throw new Error(`${store} does not answer`);
    const to = host();
    if (to) void isAnswering(store, to, PORTS[store]).then((isThere) => isThere && resolve(Date.now()));
    await pause(ASK_EVERY_MS);
  }
  return promise;
}

/** When the health port of a pod first answers 200. */
async function firstAnswerOf(ip: () => string | undefined, path: string): Promise<number> {
  const until = Date.now() + GIVE_UP_MS;
  while (Date.now() < until) {
    const response = await fetch(`http://${ip()}:9090${path}`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return Date.now();
    await pause(ASK_EVERY_MS);
  }
  throw new Error(`${ip()} does not answer 200 to ${path}`);
}

const rounds: Times[] = [];
for (let round = 1; round <= Number(values.rounds); round += 1) {
  const times = await measureRound();
  rounds.push(times);
  const shown = [...times].map(([name, ms]) => `${name} ${(ms / 1_000).toFixed(2)}`);
  process.stdout.write(`round ${round}: ${shown.join(', ')}\n`);
}
const seconds = (ms: number | undefined) => `${((ms ?? Number.NaN) / 1_000).toFixed(1)} s`;
process.stdout.write(
  `\n| ${store}, services ${values.fresh ? 'started meanwhile' : 'kept'} | Median | Longest |\n|---|---|---|\n`,
);
for (const name of rounds[0]?.keys() ?? []) {
  const sorted = rounds.map((times) => times.get(name) ?? Number.NaN).sort((a, b) => a - b);
  process.stdout.write(`| ${name} | ${seconds(sorted[Math.floor(sorted.length / 2)])} | ${seconds(sorted.at(-1))} |\n`);
}

// Restarts every container of a system that runs under compose, and kills some, while a client adds records and prints: nothing acknowledged is lost.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { billhook } from '../../client/index.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';
import { API, compose, docker, newAccount, say } from './compose.ts';

const SERVICES = ['webhooks', 'mail', 'scheduler', 'operations', 'renderer', 'portal', 'gateway', 'redis', 'mongodb'];
const KILLED = ['renderer', 'redis', 'mongodb', 'gateway'];
/** Between two of them, so that each finds a system that has recovered. */
const PAUSE_MS = 8_000;

const { key } = await newAccount();
const client = billhook({ url: API, key, retries: 10 });

const added = new Set<string>();
let printed = 0;
let isOver = false;
const work = [repeat(addOne), repeat(addOne), repeat(printOne)];
await sleep(2_000);
for (const service of SERVICES) await interrupt(service, 'restarted', () => compose('restart', service));
for (const service of KILLED) await interrupt(service, 'killed', () => kill(service));
isOver = true;
await Promise.all(work);
await readBack('after restarts and kills');

await compose('down');
await compose('up', '--no-build', '--pull', 'never', '--wait');
await readBack('after down and up');

async function addOne() {
  const { data } = await client.addClient({ body: { name: 'Ada Lovelace', email: `${added.size}@example.com` } });
  added.add(data.id);
}

async function printOne() {
  await client.generatePdf({ body: pdfOf('Invoice') });
  printed += 1;
  await sleep(1_000); // Within the limit of one key.
}

async function repeat(step: () => Promise<void>) {
  while (!isOver) await step();
}

async function interrupt(service: string, how: string, act: () => Promise<unknown>) {
  const before = [added.size, printed] as const;
  await act();
  await sleep(PAUSE_MS);
  say(`${service} was ${how}: ${added.size - before[0]} records and ${printed - before[1]} documents meanwhile`);
}

/** Its process, as a crash would: compose does not start again what "docker kill" has ended. */
async function kill(service: string) {
  const [id = ''] = (await compose('ps', '--quiet', service)).split('\n');
  process.kill(Number(await docker('inspect', '--format', '{{.State.Pid}}', id)), 'SIGKILL');
}

async function readBack(when: string) {
  const found = new Set<string>();
  for await (const { id } of client.listClients.items({ query: { limit: 100 } })) found.add(id);
  const lost = [...added].filter((id) => !found.has(id));
  assert.deepEqual([lost, found.size], [[], added.size]);
  say(`${when} all ${added.size} acknowledged records are there, once`);
}

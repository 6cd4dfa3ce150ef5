// Restarts and kills every container of a system that runs under compose while a client adds records and prints: nothing acknowledged is lost.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  addClient,
  client,
  defaultRetryOn,
  type GeneratePdfBody,
  generatePdf,
} from '../../client/generated/billhook.ts';

const SERVICES = ['webhooks', 'scheduler', 'operations', 'renderer', 'gateway', 'redis', 'mongodb'];
const KILLED = ['renderer', 'redis', 'mongodb', 'gateway'];
/** Between two of them, so that each finds a system that has recovered. */
const PAUSE_MS = 8_000;
const document: GeneratePdfBody = {
  title: 'Invoice',
  number: 'INV-0042',
  date: '2026-11-21',
  dueDate: '2026-12-21',
  currencySymbol: '€',
  amount: 240,
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@example.com',
  lineItems: [{ description: 'Design', qty: 2, rate: 100 }],
};

const account = JSON.parse(await admin('accounts', 'create', '--name', 'Studio North', '--json'));
const { key } = JSON.parse(await admin('keys', 'create', '--account', account.id, '--json'));
client.configure({
  serverUrl: `http://127.0.0.1:${process.env['PORT'] ?? 8080}`,
  auth: { bearer: key },
  timeout: 35_000,
  idempotencyKey: true,
  retry: {
    retries: 10,
    retryOn: (call) =>
      defaultRetryOn(call) || (call.response?.status === 409 && call.response.headers.has('Retry-After')),
  },
});

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
  const { data } = await addClient({ body: { name: 'Ada Lovelace', email: `${added.size}@example.com` } });
  added.add(data.id);
}

async function printOne() {
  await generatePdf({ body: document });
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

function compose(...args: string[]): Promise<string> {
  return docker('compose', '-f', 'docker-compose.yml', '-f', 'lab/deploy/compose-trial.yml', ...args);
}

function admin(...args: string[]): Promise<string> {
  return compose('run', '--rm', 'admin', ...args);
}

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args);
  return stdout;
}

function say(line: string) {
  process.stdout.write(`✓ ${line}\n`);
}

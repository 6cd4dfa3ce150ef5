// Calls the API of a running installation at a steady rate until a file is gone, and ends with 1 if a call failed: the client sends nothing twice.
// Runs in the network of the cluster.
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { billhook } from '../../client/index.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    while: { type: 'string', default: '' }, // a file
    rate: { type: 'string', default: '10' }, // calls a second
  },
});
const client = billhook({ url: values.url, key: process.env['KEY'], retries: 0 });
/** One call of so many is a document. */
const DOCUMENT_EVERY = 10;

const added: string[] = [];
const failed = new Map<string, number>();
const durations: number[] = [];
const running = new Set<Promise<void>>();

async function call(turn: number): Promise<void> {
  if (turn % DOCUMENT_EVERY === 0) await client.generatePdf({ body: pdfOf('Invoice') });
  else if (turn % 2 === 0) await client.listClients({ query: { limit: 10 } });
  else added.push((await client.addClient({ body: { name: 'Ada Lovelace', email: `${turn}@example.com` } })).data.id);
}

async function timed(turn: number): Promise<void> {
  const since = performance.now();
  try {
    await call(turn);
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    const reason = `${message} ${cause?.code ?? ''}`.trim();
    failed.set(reason, (failed.get(reason) ?? 0) + 1);
    process.stdout.write(`${new Date().toISOString()} failed: ${reason}\n`);
  }
  durations.push(performance.now() - since);
}

for (let turn = 1; existsSync(values.while); turn += 1) {
  const one = timed(turn).finally(() => running.delete(one));
  running.add(one);
  await pause(1_000 / Number(values.rate));
}
await Promise.all(running);

const found = new Set<string>();
for await (const { id } of client.listClients.items({ query: { limit: 100 } })) found.add(id);
const lost = added.filter((id) => !found.has(id));
const slowest = (Math.max(...durations) / 1_000).toFixed(1);
const counts = [...failed.values()].reduce((sum, one) => sum + one, 0);
process.stdout.write(
  `${durations.length} calls, ${counts} failed, ${lost.length} of ${added.length} acknowledged lost, slowest ${slowest} s\n`,
);
process.exitCode = counts + lost.length > 0 ? 1 : 0;

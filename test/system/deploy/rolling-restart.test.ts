// A rolling restart under load: every process of every service is replaced by SIGTERM under load, and no caller gets an error.
import { Agent } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { type Journal, type Load, sendRequest, startLoad } from '../../support/load.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { register } from '../../support/webhooks.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

/** A longer run: ROLLING_ROUNDS=20 npm run test:system -- deploy/rolling-restart */
const ROUNDS = Number(process.env['ROLLING_ROUNDS'] ?? 1);
const UNLIMITED = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0' };

type Name = 'gateway' | 'renderer' | 'webhooks';
const running: Record<Name, SpawnedService[]> = { gateway: [], renderer: [], webhooks: [] };
const exits: (number | null)[] = [];
let workspace: Workspace;
let receiver: Receiver;
let load: Load | undefined;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  workspace = await openWorkspace();
  receiver = await startReceiver();
  const names: Name[] = ['gateway', 'gateway', 'renderer', 'renderer', 'webhooks'];
  for (const name of names) running[name].push(await start(name));
}, 120_000);

afterAll(async () => {
  await load?.stop();
  agent.destroy();
  await Promise.all(Object.values(running).flatMap((services) => services.map((service) => service.stop())));
  await receiver.close();
  await workspace.close();
});

test(
  'when every process is replaced under load, then no request fails and no event is lost',
  async () => {
    const account = await workspace.account();
    const target = { agent, key: account.key, urls: () => running.gateway.map(({ url }) => url) };
    await register(workspace, account.id, receiver.url, ['client.created']);

    load = startLoad(target);
    await load.answered(20);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of ['gateway', 'renderer', 'webhooks'] as const) {
        for (const old of [...running[name]]) {
          await replace(name, old);
          await load.answered(10); // The new process takes its share before the next one is replaced.
        }
      }
    }
    const journal = await load.stop();

    process.stdout.write(`rolling restart: ${summary(journal)}\n`);
    expect(journal.failures).toEqual([]);
    expect(journal.answered).toBe(journal.sent);
    expect(journal.documents).toBeGreaterThan(0);
    expect(exits).toEqual(Array(5 * ROUNDS).fill(0));

    const { status, body } = await sendRequest(target, { method: 'GET', path: '/api/v1/clients?limit=1' });
    expect([status, body.pagination.total]).toEqual([200, journal.clientIds.length]);
    const delivered = () => new Set(receiver.received.map(({ body: text }) => JSON.parse(text).data.id));
    await eventually(() => delivered().size >= journal.clientIds.length);
    expect(delivered()).toEqual(new Set(journal.clientIds));
  },
  120_000 + ROUNDS * 60_000,
);

// Replaces a process as an orchestrator does: the new one is ready, the old one gets no further requests, and then the signal.
async function replace(name: Name, old: SpawnedService) {
  const fresh = await start(name);
  running[name] = [...running[name].filter((one) => one !== old), fresh];
  exits.push(await old.stop());
}

function start(name: Name): Promise<SpawnedService> {
  return spawnService(name, workspace, name === 'gateway' ? UNLIMITED : {});
}

function summary({ sent, answered, failures, documents, clientIds }: Journal): string {
  return `${sent} sent, ${answered} answered, ${failures.length} failed (${clientIds.length} clients, ${documents} documents)`;
}

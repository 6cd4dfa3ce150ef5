// Breaks Redis under load while documents, deliveries, limits, replies and nudges run, and judges what came of it.
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { catalog, renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { eventually } from '../eventually.ts';
import { type Load, newDocument, sendRequest, startLoad, type Target } from '../load.ts';
import { startReceiver } from '../receiver.ts';
import { type SpawnedService, spawnService } from '../spawn-service.ts';
import { register } from '../webhooks.ts';
import { testLog, type Workspace } from '../workspace.ts';
import type { RedisServer } from './servers.ts';
import type { ClusterTopology, Topology } from './topologies.ts';

export type Services = Record<'gateway' | 'renderer' | 'webhooks', SpawnedService>;

export interface FaultOutcome {
  fault: FaultName;
  /** The time from the fault until there was a new primary. Absent where the primaries stay. */
  electedMs?: number;
  /** The time from then until a document that was asked for after it was there. */
  readyMs: number;
  /** Documents refused meanwhile. */
  refused: number;
}

export interface LoadUnderFaults {
  /** Breaks Redis once, waits until documents are printed again, and repairs what the fault broke. */
  suffer(fault: FaultName): Promise<FaultOutcome>;
  /** Ends the load. @returns what was promised and did not happen, in sentences, and what was done. */
  judge(): Promise<{ breaches: string[]; clients: number; documents: number; printed: number; refused: number }>;
  close(): Promise<void>;
}

/** Each takes the primary of the queue of documents. */
const FAULTS = {
  'kill the primary': (_topology: Topology, primary: RedisServer) => primary.kill(),
  'pause the primary': async (_topology: Topology, primary: RedisServer) => primary.pause(),
  'switch over': (topology: Topology) => topology.switchOver(renderDocument.name),
  'move the slots of all queues': async (topology: Topology) => {
    const { slotOf, moveSlot } = topology as ClusterTopology;
    for (const { name } of catalog) await moveSlot(await slotOf(name));
  },
} as const;
export type FaultName = keyof typeof FAULTS;
export const faultsOf = (kind: 'sentinel' | 'cluster') =>
  (Object.keys(FAULTS) as FaultName[]).filter((name) => kind === 'cluster' || !name.startsWith('move'));

/** Only ends a hang. */
const LIMIT_MS = 90_000;
/** A document that no caller waits for would be printed within this time. */
const QUIET_MS = 2_000;
/** The callers of startLoad that ask for documents: what each lost with a primary may have been printed and is printed again. */
const DOCUMENT_CALLERS = 2;
const REFUSALS = 5;
const ASK_EVERY_MS = 250;
const ASKED_MAX = 240;

/** The environment of services under load: only requests without a key are limited, and retries come at once. */
export const LOAD_ENV = {
  RATE_LIMIT_REQUESTS: '1000000',
  RATE_LIMIT_DOCUMENTS: '1000000',
  RATE_LIMIT_REFUSALS: String(REFUSALS),
  WEBHOOK_RETRY_SCALE: '0.001',
};

/** Starts the three services that the load needs. @param started takes each that runs, also when another does not start. */
export async function startLoadServices(
  workspace: Workspace,
  topology: Topology,
  started: Partial<Services>,
  env: Record<string, string> = {},
): Promise<void> {
  const start = async (name: keyof Services) => {
    started[name] = await spawnService(name, { ...workspace, redisUrl: topology.urlOf(name) }, { ...LOAD_ENV, ...env });
  };
  await Promise.all([start('gateway'), start('renderer'), start('webhooks')]);
}

export async function startLoadUnderFaults(
  workspace: Workspace,
  topology: Topology,
  services: Services,
): Promise<LoadUnderFaults> {
  const receiver = await startReceiver();
  const account = await workspace.account();
  await register(workspace, account.id, receiver.url, ['client.created']);
  const agent = new Agent({ keepAlive: true });
  const target: Target = { agent, key: account.key, urls: () => [services.gateway.url] };
  const load: Load = startLoad(target);
  const printedBefore = await printedBy(services.renderer);
  let faults = 0;
  let asked = 0;
  await load.answered(20);

  async function suffer(fault: FaultName): Promise<FaultOutcome> {
    const primary = await topology.primaryOf(renderDocument.name);
    if (!primary) throw new Error('there is no primary to break');
    const refusedBefore = load.failures().length;
    faults += 1;
    const brokenAt = performance.now();
    await FAULTS[fault](topology, primary);
    let electedAt: number | undefined;
    if (!fault.startsWith('move')) {
      await eventually(async () => {
        const now = await topology.primaryOf(renderDocument.name);
        return now !== undefined && now !== primary;
      }, LIMIT_MS);
      electedAt = performance.now();
    }
    const wholeAt = electedAt ?? performance.now();
    const readyMs = Math.round((await firstDocument()) - wholeAt);
    await repair(fault, primary);
    return {
      fault,
      ...(electedAt ? { electedMs: Math.round(electedAt - brokenAt) } : {}),
      readyMs,
      refused: load.failures().length - refusedBefore,
    };
  }

  /**
   * Asks for a document again and again until one is there, and returns the time. A new caller asks each time, because the others may wait for
   * documents that were lost with the primary.
   */
  async function firstDocument(): Promise<number> {
    const waiting: Promise<unknown>[] = [];
    let thereAt: number | undefined;
    while (!thereAt) {
      asked += 1;
      const reply = sendRequest(target, newDocument()).then(({ status }) => {
        if (status === 200) thereAt ??= performance.now();
      });
      waiting.push(reply.catch(() => undefined));
      await pause(ASK_EVERY_MS);
      if (waiting.length > ASKED_MAX) throw new Error('no document was printed after the fault');
    }
    await Promise.all(waiting);
    return thereAt;
  }

  async function repair(fault: FaultName, primary: RedisServer) {
    if (fault.startsWith('kill')) await primary.start();
    if (fault.startsWith('pause')) primary.resume();
    await topology.whole();
  }

  async function judge() {
    await load.answered(20);
    const journal = await load.stop();
    const breaches = journal.failures
      .filter((failure) => !/generate-pdf: 50[34] /.test(failure))
      .map((failure) => `a call failed that needs no Redis: ${failure}`);

    const stored = new Set(
      (await Client.find({}, '_id').setOptions(acrossAccounts).lean()).map(({ _id }) => String(_id)),
    );
    for (const id of journal.clientIds) if (!stored.has(id)) breaches.push(`client ${id} was acknowledged and is lost`);
    // The receiver runs in this process, so looking must not keep it from answering.
    const undelivered = () => {
      const delivered = new Set(receiver.received.map(({ body }) => JSON.parse(body).data.id));
      return journal.clientIds.filter((id) => !delivered.has(id));
    };
    await eventually(() => undelivered().length === 0, LIMIT_MS).catch(() => undefined);
    const missing = undelivered();
    if (missing.length > 0) breaches.push(`${missing.length} events were never delivered, such as of ${missing[0]}`);

    const printed = (await printedBy(services.renderer)) - printedBefore;
    await pause(QUIET_MS);
    const printedLater = (await printedBy(services.renderer)) - printedBefore - printed;
    if (printedLater > 0) breaches.push(`${printedLater} documents were printed after every caller had its answer`);
    const refused = journal.failures.length;
    const most = journal.documents + refused + asked + faults * DOCUMENT_CALLERS;
    if (printed > most) breaches.push(`${printed} documents were printed, and callers asked for ${most} at most`);
    breaches.push(...(await jobsLeft(workspace, topology)), ...(await limitsGone(target)));
    breaches.push(...(await channelsGone(workspace, topology)));
    return { breaches, clients: journal.clientIds.length, documents: journal.documents, printed, refused };
  }

  return {
    suffer,
    judge,
    async close() {
      await load.stop();
      agent.destroy();
      await receiver.close();
    },
  };
}

async function printedBy({ healthUrl }: SpawnedService): Promise<number> {
  const text = await (await fetch(`${healthUrl}/metrics`)).text();
  return Number(/^billhook_render_seconds_count\{outcome="done"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

async function jobsLeft({ redisPrefix }: Workspace, topology: Topology): Promise<string[]> {
  const queues = openQueues({ redisUrl: topology.urlOf('admin'), prefix: redisPrefix, log: testLog });
  try {
    await whenReady(queues.redis, LIMIT_MS);
    let left: string[] = [];
    // A job that was in flight when its worker lost Redis runs again once its lock has ended.
    await eventually(async () => {
      const counts = await Promise.all(catalog.map(async (one) => ({ name: one.name, ...(await queues.counts(one)) })));
      left = counts.flatMap(({ name, ready, active, delayed }) => (ready + active + delayed > 0 ? [name] : []));
      return left.length === 0;
    }, LIMIT_MS).catch(() => undefined);
    return left.map((name) => `jobs stay in ${name}`);
  } finally {
    await queues.close();
  }
}

async function limitsGone(target: Target): Promise<string[]> {
  const statuses: number[] = [];
  for (let turn = 0; turn <= REFUSALS; turn += 1)
    statuses.push((await sendRequest({ ...target, key: 'wrong' }, { method: 'GET', path: '/api/v1/clients' })).status);
  return statuses.includes(429) ? [] : [`requests with a wrong key are not limited any more: ${statuses.join(', ')}`];
}

async function channelsGone({ redisPrefix }: Workspace, { servers }: Topology): Promise<string[]> {
  const expected = ['nudges', 'cancels', 'replies:'].map((name) => `${redisPrefix}:${name}`);
  let absent: string[] = [];
  await eventually(async () => {
    const lists = await Promise.all(
      servers.map(({ orders }) => orders.call('PUBSUB', 'CHANNELS', `${redisPrefix}:*`).catch(() => [])),
    );
    const channels = lists.flat().map(String);
    absent = expected.filter((start) => !channels.some((channel) => channel.startsWith(start)));
    return absent.length === 0;
  }, LIMIT_MS).catch(() => undefined);
  return absent.map((channel) => `no service listens on ${channel} any more`);
}

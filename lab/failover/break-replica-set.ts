// Breaks a replica set of MongoDB under load while all services run, and judges what came of it.
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '#libs/models/accounts/client.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import type { Backends } from '../../test/support/backends.ts';
import { eventually } from '../../test/support/eventually.ts';
import { type Member, type ReplicaSet, startReplicaSet } from '../../test/support/faults/system/replica-set.ts';
import { openGuardedFolder } from '../../test/support/guarded-folder.ts';
import { sendRequest, startLoad, type Target } from '../../test/support/load.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import { LOAD_ENV } from '../../test/support/redis/failover.ts';
import { type ServiceName, type SpawnedService, spawnService } from '../../test/support/spawn-service.ts';
import { steadyPort } from '../../test/support/steady-port.ts';
import { register } from '../../test/support/webhooks.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';

const SERVICES: readonly ServiceName[] = [
  'gateway',
  'renderer',
  'webhooks',
  'scheduler',
  'mail',
  'portal',
  'operations',
];
const MEMBERS = 3;
const ELECTION_MS = 2_000;
/** The time for which a member stands still. Longer than an election takes. */
const STILL_MS = 6_000;
const STEP_DOWN_SECONDS = 10;
const ASK_EVERY_MS = 100;
/** Only ends a hang. */
const LIMIT_MS = 90_000;

interface Fault {
  name: string;
  /** Breaks the set. @returns what repairs it. */
  breaks(primary: Member, secondaries: readonly Member[]): Promise<() => Promise<void>>;
  /** The set has a primary with a majority all the time, so that no call may fail. */
  isHarmless?: true;
}

const still = (...members: readonly Member[]) => {
  for (const member of members) process.kill(member.pid(), 'SIGSTOP');
  return async () => {
    for (const member of members) process.kill(member.pid(), 'SIGCONT');
  };
};

const FAULTS: readonly Fault[] = [
  {
    name: 'kill the primary',
    async breaks(primary) {
      await primary.kill();
      return () => primary.start();
    },
  },
  {
    name: 'step the primary down',
    async breaks(primary) {
      // The server closes the connection of this command, or answers.
      await primary.command({ replSetStepDown: STEP_DOWN_SECONDS, force: true }).catch(() => undefined);
      return async () => undefined;
    },
  },
  { name: 'pause the primary, its connections stay', breaks: async (primary) => still(primary) },
  {
    name: 'cut the primary off from both secondaries',
    async breaks(_primary, secondaries) {
      const goOn = still(...secondaries);
      await pause(STILL_MS);
      await goOn();
      return async () => undefined;
    },
  },
  {
    name: 'slow one secondary',
    isHarmless: true,
    async breaks(_primary, [secondary]) {
      const goOn = still(secondary as Member);
      await pause(STILL_MS);
      return goOn;
    },
  },
];

/** @returns false when something was lost, came twice, or failed although a majority was there. */
export async function breakReplicaSet(
  backends: Backends,
  { only, rounds, say }: { only: string; rounds: number; say: (line: string) => void },
): Promise<boolean> {
  const guarded = await openGuardedFolder('failover-mongodb');
  const closers: (() => Promise<unknown>)[] = [guarded.close];
  try {
    const ports: number[] = [];
    for (let count = 0; count < MEMBERS; count += 1) ports.push(await steadyPort());
    const set = await startReplicaSet({
      folder: guarded.path,
      env: { ...process.env, ...guarded.markedAs('mongodb') },
      ports,
      proxyPorts: ports,
      electionTimeoutMs: ELECTION_MS,
    });
    closers.push(set.stop);
    const workspace = await openBenchWorkspace({ ...backends, mongodbUri: set.uri, isLarge: false });
    closers.push(workspace.close);
    const services = new Map<ServiceName, SpawnedService>();
    closers.push(() => Promise.all([...services.values()].map((service) => service.stop())));
    for (const name of SERVICES) services.set(name, await spawnService(name, workspace, LOAD_ENV));
    say(`\nreplica-set: ${set.description}`);
    say('| Fault | First client after | All services ready after | Calls refused |\n|---|---:|---:|---:|');
    return await breakUnderLoad({ set, workspace, services, only, rounds, say });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function breakUnderLoad(parts: {
  set: ReplicaSet;
  workspace: Workspace;
  services: ReadonlyMap<ServiceName, SpawnedService>;
  only: string;
  rounds: number;
  say: (line: string) => void;
}): Promise<boolean> {
  const { set, workspace, services, only, rounds, say } = parts;
  const receiver = await startReceiver();
  const account = await workspace.account();
  await register(workspace, account.id, receiver.url, ['client.created']);
  const agent = new Agent({ keepAlive: true });
  const gateway = services.get('gateway') as SpawnedService;
  const target: Target = { agent, key: account.key, urls: () => [gateway.url] };
  const load = startLoad(target);
  const breaches: string[] = [];
  try {
    await load.answered(20);
    for (let round = 0; round < rounds; round += 1) {
      for (const fault of FAULTS.filter(({ name }) => name.includes(only))) {
        const primary = await set.primary();
        const refusedBefore = load.failures().length;
        const brokenAt = performance.now();
        const repair = await fault.breaks(
          primary,
          set.members.filter((member) => member !== primary),
        );
        const ready = allReady(services).then(() => performance.now());
        const acknowledgedAt = await firstClient(target);
        const readyAt = await ready;
        await repair();
        await set.whole();
        await load.recovered(20);
        const refused = load.failures().length - refusedBefore;
        const after = (at: number) => `${Math.round(at - brokenAt)} ms`;
        say(`| ${fault.name} | ${after(acknowledgedAt)} | ${after(readyAt)} | ${refused} |`);
        if (fault.isHarmless && refused > 0) breaches.push(`${refused} calls failed by "${fault.name}"`);
      }
    }
    await load.answered(20);
    const journal = await load.stop();
    const acknowledged = [...journal.clientIds];
    breaches.push(...journal.failures.filter((failure) => !/: 50[34] /.test(failure)));
    breaches.push(...(await lostOrTwice(acknowledged, account.id)));
    const delivered = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.id));
    const missing = () => acknowledged.filter((id) => !delivered().has(id));
    await eventually(() => missing().length === 0, LIMIT_MS).catch(() => undefined);
    if (missing().length > 0) breaches.push(`${missing().length} events were never delivered`);
    const repeated = receiver.received.length - delivered().size;
    say(
      `${acknowledged.length} clients, ${journal.documents} documents, ${journal.failures.length} refused; ${repeated} of ${receiver.received.length} deliveries came again`,
    );
    for (const breach of breaches) say(`BROKEN ${breach}`);
    return breaches.length === 0;
  } finally {
    await load.stop();
    agent.destroy();
    await receiver.close();
  }
}

/** Asks until a client is acknowledged, each time by a new request. @returns the time. */
async function firstClient(target: Target): Promise<number> {
  const body = { name: 'after the fault', email: 'after@example.com' };
  let thereAt: number | undefined;
  const limit = performance.now() + LIMIT_MS;
  const waiting: Promise<unknown>[] = [];
  while (!thereAt) {
    if (performance.now() > limit) throw new Error('no client was acknowledged after the fault');
    const asked = sendRequest(target, { method: 'POST', path: '/api/v1/clients', body }).then(({ status }) => {
      if (status === 201) thereAt ??= performance.now();
    });
    waiting.push(asked.catch(() => undefined));
    await pause(ASK_EVERY_MS);
  }
  await Promise.all(waiting);
  return thereAt;
}

async function allReady(services: ReadonlyMap<ServiceName, SpawnedService>): Promise<void> {
  const isReady = async ({ healthUrl }: SpawnedService) =>
    (await fetch(`${healthUrl}/readyz`).catch(() => undefined))?.ok === true;
  await eventually(async () => (await Promise.all([...services.values()].map(isReady))).every(Boolean), LIMIT_MS);
}

/** Each acknowledged client is stored, and each stored one has one event. */
async function lostOrTwice(acknowledged: readonly string[], accountId: string): Promise<string[]> {
  const stored = new Set(
    (await Client.find({}, '_id').setOptions(acrossAccounts).lean()).map(({ _id }) => String(_id)),
  );
  const events = await Event.find({ account_id: accountId, type: 'client.created' }, 'body').lean<{ body: string }[]>();
  const counts = Map.groupBy(events, ({ body }) => String(JSON.parse(body).data.id));
  return [
    ...acknowledged.filter((id) => !stored.has(id)).map((id) => `client ${id} was acknowledged and is lost`),
    ...[...stored].filter((id) => counts.get(id)?.length !== 1).map((id) => `client ${id} has not one event`),
    ...(new Set(acknowledged).size < acknowledged.length ? ['a client was acknowledged twice'] : []),
  ];
}

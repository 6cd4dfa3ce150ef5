// Breaks a replica set of MongoDB while all services run and do the whole business of an account, and judges what came of it.
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { countBy } from 'es-toolkit/array/countBy';
import getPort from 'get-port';
import { Client } from '#libs/models/accounts/client.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import type { Backends } from '../../test/support/backends.ts';
import { addOperator, browserOf, PASSWORD } from '../../test/support/dashboard/dashboard.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { NetworkFault } from '../../test/support/faults/kinds/network-fault.ts';
import { openNetwork, type Way } from '../../test/support/faults/system/proxy-process.ts';
import { type Member, type ReplicaSet, startReplicaSet } from '../../test/support/faults/system/replica-set.ts';
import { openGuardedFolder } from '../../test/support/guarded-folder.ts';
import { sendRequest, startLoad, type Target } from '../../test/support/load.ts';
import { answer, startReceiver, verify } from '../../test/support/receiver.ts';
import { LOAD_ENV } from '../../test/support/redis/failover.ts';
import { openSmtpRelay, type Relay } from '../../test/support/smtp-relay.ts';
import { type ServiceName, type SpawnedService, spawnService } from '../../test/support/spawn-service.ts';
import { steadyPort } from '../../test/support/steady-port.ts';
import { register } from '../../test/support/webhooks.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import { openBenchWorkspace } from '../bench/bench-workspace.ts';
import { type Journeys, startJourneys } from './journeys.ts';
import { judgeJourneys } from './judge-journeys.ts';

const SERVICES: readonly ServiceName[] = [
  'gateway',
  'renderer',
  'webhooks',
  'scheduler',
  'mail',
  'portal',
  'operations',
];
const MEMBERS = [0, 1, 2] as const;
/** The services as an end of ways, beside the members. */
const SERVICES_END = MEMBERS.length;
const ELECTION_MS = 2_000;
/** The time for which a member stands still or is cut off. Longer than an election takes. */
const STILL_MS = 6_000;
const STEP_DOWN_SECONDS = 10;
const SLOW = { kind: 'latency', ms: 300, jitterMs: 100 } as const;
const LOST = { kind: 'black hole' } as const;
const ASK_EVERY_MS = 100;
const SEED = 1;
/** Only ends a hang. */
const LIMIT_MS = 90_000;

interface Broken {
  primary: Member;
  /** Both, in any order. */
  secondaries: readonly [Member, Member];
  /** Lets the ways between these members, both ways, and with the services if it says so, have a fault or none. */
  between(one: Member, others: readonly Member[], withServices: boolean, fault?: NetworkFault): Promise<void>;
}

interface Fault {
  name: string;
  /** Breaks the set. @returns what repairs it. */
  breaks(set: Broken): Promise<() => Promise<void>>;
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
    async breaks({ primary }) {
      await primary.kill();
      return () => primary.start();
    },
  },
  {
    name: 'step the primary down',
    async breaks({ primary }) {
      // The server closes the connection of this command, or answers.
      await primary.command({ replSetStepDown: STEP_DOWN_SECONDS, force: true }).catch(() => undefined);
      return async () => undefined;
    },
  },
  { name: 'pause the primary, its connections stay', breaks: async ({ primary }) => still(primary) },
  {
    name: 'cut the primary off from both secondaries, services reach all three',
    async breaks({ primary, secondaries, between }) {
      await between(primary, secondaries, false, LOST);
      return () => between(primary, secondaries, false);
    },
  },
  {
    name: 'cut the primary off from secondaries and services',
    async breaks({ primary, secondaries, between }) {
      await between(primary, secondaries, true, LOST);
      return () => between(primary, secondaries, true);
    },
  },
  {
    name: 'pause both secondaries for 6 s',
    async breaks({ secondaries }) {
      const goOn = still(...secondaries);
      await pause(STILL_MS);
      await goOn();
      return async () => undefined;
    },
  },
  {
    name: 'pause one secondary for 6 s',
    isHarmless: true,
    async breaks({ secondaries: [secondary] }) {
      const goOn = still(secondary);
      await pause(STILL_MS);
      return goOn;
    },
  },
  {
    name: 'slow one secondary: every packet 0.2 to 0.4 s late',
    isHarmless: true,
    async breaks({ primary, secondaries: [slow, other], between }) {
      await between(slow, [primary, other], true, SLOW);
      return () => between(slow, [primary, other], true);
    },
  },
  {
    // Each write waits for the slow one, and writes of one account for each other.
    name: 'kill one secondary, and slow the other in the same way',
    async breaks({ primary, secondaries: [slow, other], between }) {
      await between(slow, [primary], true, SLOW);
      await other.kill();
      return async () => {
        await between(slow, [primary], true);
        await other.start();
      };
    },
  },
];

/** A way from the services and from each member to each member. */
async function openWays(ports: readonly number[], proxyPorts: readonly number[], env: NodeJS.ProcessEnv) {
  const ways: Way[] = [];
  for (let from = 0; from <= SERVICES_END; from += 1)
    for (const to of MEMBERS)
      ways.push({ host: viewOf(from), port: proxyPorts[to] as number, target: ports[to] as number });
  const network = await openNetwork(ways, SEED, env);
  const become = (from: number, to: number, fault?: NetworkFault) => network.become(from * MEMBERS.length + to, fault);
  return {
    close: network.close,
    async between(one: Member, others: readonly Member[], withServices: boolean, fault?: NetworkFault) {
      for (const other of others) {
        await become(one.index, other.index, fault);
        await become(other.index, one.index, fault);
      }
      if (withServices) await become(SERVICES_END, one.index, fault);
    },
  };
}

/** The address on which a member, or the services, find all members. */
const viewOf = (from: number) => (from === SERVICES_END ? '127.0.0.1' : `127.0.1.${from + 1}`);

/** @returns false when something was lost, came twice, or failed although a majority was there. */
export async function breakReplicaSet(
  backends: Backends,
  { only, rounds, say }: { only: string; rounds: number; say: (line: string) => void },
): Promise<boolean> {
  const guarded = await openGuardedFolder('failover-mongodb');
  const closers: (() => Promise<unknown>)[] = [guarded.close];
  try {
    const env = { ...process.env, ...guarded.markedAs('mongodb') };
    const [ports, proxyPorts] = [await portsFor(MEMBERS), await portsFor(MEMBERS)];
    const { between, close } = await openWays(ports, proxyPorts, env);
    closers.push(close);
    const views = MEMBERS.map(viewOf);
    const folder = guarded.path;
    const set = await startReplicaSet({ folder, env, ports, proxyPorts, views, electionTimeoutMs: ELECTION_MS });
    closers.push(set.stop);
    const workspace = await openBenchWorkspace({ ...backends, mongodbUri: set.uri, isLarge: false });
    closers.push(workspace.close);
    const relay = await openSmtpRelay();
    closers.push(relay.close);
    const services = new Map<ServiceName, SpawnedService>();
    closers.push(() => Promise.all([...services.values()].map((service) => service.stop())));
    const portalPort = String(await getPort());
    const settings = {
      ...LOAD_ENV,
      SMTP_URL: relay.url,
      MAIL_FROM: 'billing@north.example',
      PORTAL_URL: `http://127.0.0.1:${portalPort}`,
      PORTAL_PORT: portalPort,
      PORTAL_TRUST_PROXY: '1',
    };
    for (const name of SERVICES) services.set(name, await spawnService(name, workspace, settings));
    say(`\nreplica-set: ${set.description}`);
    say('| Fault | First client after | All services ready after | A journey begun with it ended after | Refused |');
    say('|---|---:|---:|---:|---:|');
    return await breakUnderLoad({
      set,
      between,
      workspace,
      services,
      relay,
      portalUrl: settings.PORTAL_URL,
      only,
      rounds,
      say,
    });
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function portsFor(ends: readonly unknown[]): Promise<number[]> {
  const ports: number[] = [];
  for (const _end of ends) ports.push(await steadyPort());
  return ports;
}

async function breakUnderLoad(parts: {
  set: ReplicaSet;
  between: Broken['between'];
  workspace: Workspace;
  services: ReadonlyMap<ServiceName, SpawnedService>;
  relay: Relay;
  portalUrl: string;
  only: string;
  rounds: number;
  say: (line: string) => void;
}): Promise<boolean> {
  const { set, between, workspace, services, only, rounds, say } = parts;
  const receiver = await startReceiver();
  const account = await workspace.account();
  await register(workspace, account.id, receiver.url, ['client.created']);
  const agent = new Agent({ keepAlive: true });
  const gateway = services.get('gateway') as SpawnedService;
  const target: Target = { agent, key: account.key, urls: () => [gateway.url] };
  const load = startLoad(target);
  const business = await startBusiness({ ...parts, agent });
  const { journeys } = business;
  const breaches: string[] = [];
  let faults = 0;
  try {
    await load.answered(20);
    await eventually(() => journeys.journal.finished > 0 && journeys.journal.pages > 0, LIMIT_MS);
    for (let round = 0; round < rounds; round += 1) {
      for (const fault of FAULTS.filter(({ name }) => name.includes(only))) {
        const primary = await set.primary();
        const secondaries = set.members.filter((member) => member !== primary) as [Member, Member];
        const refusals = () => load.failures().length + journeys.journal.refusals.length;
        const refusedBefore = refusals();
        const brokenAt = performance.now();
        const repair = await fault.breaks({ primary, secondaries, between });
        faults += 1;
        const journey = journeys.once(`fault ${faults}`);
        const first = await firstClient(target);
        // Before it, a service may not have noticed yet that it is not ready.
        const [ready, journeyAt] = await Promise.all([allReady(services), journey]);
        await repair();
        await first.others;
        await set.whole();
        await load.recovered(20);
        const refused = refusals() - refusedBefore;
        const after = (at: number) => `${((at - brokenAt) / 1_000).toFixed(1)} s`;
        say(
          `| ${fault.name} | ${after(first.at)} | ${after(ready.at)} (${ready.last}) | ${after(journeyAt)} | ${refused} |`,
        );
        if (fault.isHarmless && refused > 0) breaches.push(`${refused} calls failed by "${fault.name}"`);
      }
    }
    await load.answered(20);
    const journal = await load.stop();
    await journeys.stop();
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
    breaches.push(...(await business.judge(say)));
    for (const [reason, all] of Object.entries(countBy([...journal.failures, ...journeys.journal.refusals], reasonOf)))
      say(`${all} × ${reason}`);
    for (const breach of breaches) say(`BROKEN ${breach}`);
    return breaches.length === 0;
  } finally {
    await load.stop();
    await business.close();
    agent.destroy();
    await receiver.close();
  }
}

/** Starts the journeys of an account that reminds and sends receipts, with an endpoint for every event. */
async function startBusiness(parts: {
  workspace: Workspace;
  services: ReadonlyMap<ServiceName, SpawnedService>;
  relay: Relay;
  portalUrl: string;
  agent: Agent;
}): Promise<{ journeys: Journeys; judge(say: (line: string) => void): Promise<string[]>; close(): Promise<void> }> {
  const { workspace, services, relay, portalUrl, agent } = parts;
  const urlOf = (name: ServiceName) => (services.get(name) as SpawnedService).url;
  const unsigned: string[] = [];
  let secret = '';
  // A signature is good for some minutes, so it is verified when it comes.
  const receiver = await startReceiver((call, response) => {
    try {
      verify(secret, call);
    } catch {
      unsigned.push(`event ${call.id} came without a good signature`);
    }
    answer(response, 204);
  });
  const account = await workspace.account();
  ({ secret } = await register(workspace, account.id, receiver.url));
  const target: Target = { agent, key: account.key, urls: () => [urlOf('gateway')] };
  const body = {
    company: 'Studio North',
    currency: 'EUR',
    receipts: true,
    reminders: [{ days: 1 }],
    remind_at: '00:00',
  };
  const { status } = await sendRequest(target, { method: 'PATCH', path: '/api/v1/account', body });
  if (status !== 200) throw new Error(`the account could not be set up: ${status}`);
  await addOperator({ name: 'ada', role: 'viewer' });
  const dashboard = browserOf(urlOf('operations'));
  await dashboard.post('/login', { name: 'ada', password: PASSWORD });
  const journeys = startJourneys({ target, portalUrl, dashboard, relay });
  return {
    journeys,
    async judge(say) {
      const { finished, pages, refusals } = journeys.journal;
      const parties = { workspace, accountId: account.id, target, relay, receiver };
      const { breaches, ...counts } = await judgeJourneys(journeys.journal, parties);
      say(
        `${finished} journeys, ${pages} pages of the dashboard, ${refusals.length} refused; ` +
          `${counts.repeatedMails} of ${counts.mails} mails and ${counts.repeatedWebhooks} of ${counts.webhooks} deliveries came again`,
      );
      return [...breaches, ...unsigned];
    },
    async close() {
      await journeys.stop();
      await receiver.close();
    },
  };
}

/** Returns the status and the code of a refusal. */
function reasonOf(refusal: string): string {
  const [, status = refusal] = /: (\d{3}) /.exec(refusal) ?? [];
  return `${status} ${/"code":"(\w+)"/.exec(refusal)?.[1] ?? ''}`.trim();
}

/** Asks until a client is acknowledged, each time by a new request. @returns the time, and the end of the other requests. */
async function firstClient(target: Target): Promise<{ at: number; others: Promise<unknown> }> {
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
  return { at: thereAt, others: Promise.all(waiting) };
}

/** @returns when the last service was ready, and which it was. */
async function allReady(
  services: ReadonlyMap<ServiceName, SpawnedService>,
): Promise<{ at: number; last: ServiceName }> {
  const readyAt = [...services].map(async ([last, { healthUrl }]) => {
    await eventually(async () => (await fetch(`${healthUrl}/readyz`)).ok, LIMIT_MS);
    return { at: performance.now(), last };
  });
  return (await Promise.all(readyAt)).reduce((one, other) => (one.at > other.at ? one : other));
}

/** Each acknowledged client is stored, and each stored one has one event. */
async function lostOrTwice(acknowledged: readonly string[], accountId: string): Promise<string[]> {
  const clients = await Client.find({ account_id: accountId }, '_id').lean();
  const stored = new Set(clients.map(({ _id }) => String(_id)));
  const events = await Event.find({ account_id: accountId, type: 'client.created' }, 'body').lean<{ body: string }[]>();
  const counts = Map.groupBy(events, ({ body }) => String(JSON.parse(body).data.id));
  return [
    ...acknowledged.filter((id) => !stored.has(id)).map((id) => `client ${id} was acknowledged and is lost`),
    ...[...stored].filter((id) => counts.get(id)?.length !== 1).map((id) => `client ${id} has not one event`),
    ...(new Set(acknowledged).size < acknowledged.length ? ['a client was acknowledged twice'] : []),
  ];
}

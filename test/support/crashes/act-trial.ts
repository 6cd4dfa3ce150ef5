// One trial of an act: portal or scheduler is killed in the middle of it, and another process does all of it once.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { eventually } from '../eventually.ts';
import { pathOf } from '../portal.ts';
import { launchService, type SpawnedService, spawnService } from '../spawn-service.ts';
import type { TestAccount } from '../workspace.ts';
import { type ActWorld, FORM_ACTS, type FormAct, ROUND_ACTS, ROUNDS, type RoundAct } from './acts.ts';
import { madeBy } from './billing-world.ts';
import { type CrashPoint, nameOf, stepsIn, watchedService } from './crash-points.ts';
import { callerOf, REPEAT_LIMIT_MS, recordsOf, type Trials, whenDead } from './trial.ts';

export interface Act {
  name: string;
  /** @returns the two ways of doing it, once its records are there. */
  prepare: (world: ActWorld, trials: ActTrials) => Promise<PreparedAct>;
}

export interface ActTrials extends Trials {
  /** A portal that survives. */
  portal: SpawnedService;
}

interface PreparedAct {
  /** Lets a service do it that is started for it. The service may die of it. */
  begin: (env: Record<string, string>) => Promise<SpawnedService>;
  /** Does it by a process that survives. */
  again: () => Promise<void>;
}

/** The gateway of the trials makes links, so it needs an address for them. */
export const PORTAL_ADDRESS = 'https://portal.example.com';

export const ACTS: readonly Act[] = [
  ...Object.entries(FORM_ACTS).map(([path, act]): Act => {
    return { name: `the form ${path}`, prepare: (world, trials) => preparedForm(path, act, world, trials) };
  }),
  ...Object.entries(ROUND_ACTS).map(([name, act]): Act => {
    return { name: `the round of ${name}`, prepare: (world, trials) => preparedRound(act, world, trials) };
  }),
];

/** Does the act once. @returns the steps of its transaction, in their order. */
export async function learnAct(trials: ActTrials, act: Act): Promise<string[]> {
  const { begin } = await act.prepare(await newWorld(trials), trials);
  const service = await begin(watchedService());
  try {
    return await eventually(() => stepsIn(service.output())[0]);
  } finally {
    await service.stop();
  }
}

/** @throws AssertionError when a part of the act is stored, or it happens twice or not at all. */
export async function tryAct(trials: ActTrials, act: Act, point: CrashPoint): Promise<void> {
  const what = `${act.name}, killed ${nameOf(point)}`;
  const world = await newWorld(trials);
  const { account } = world;
  const { begin, again } = await act.prepare(world, trials);
  const before = await factsOf(account);
  const dying = await begin(watchedService(point));
  await whenDead(dying);
  const crashed = await factsOf(account);
  const isStored = point.when === 'after' && point.step === 'commitTransaction';
  if (isStored) assert.notDeepEqual(crashed, before, `${what}: nothing is stored`);
  else assert.deepEqual(crashed, before, `${what}: a part is stored`);

  // The record may be busy until the locks of the dead process are gone.
  const done = await eventually(async () => {
    await again();
    const now = await factsOf(account);
    return !isDeepStrictEqual(now, before) && now;
  }, REPEAT_LIMIT_MS);
  if (isStored) assert.deepEqual(done, crashed, `${what}: done twice`);
  await again();
  assert.deepEqual(await factsOf(account), done, `${what}: done twice`);
}

/** Everything stored of the account but the counts of row locks: an act that finds itself done has locked its record. */
async function factsOf(account: TestAccount): Promise<unknown> {
  return JSON.parse(
    JSON.stringify(await recordsOf(account), (name, value) => (name === 'lock_version' ? undefined : value)),
  );
}

async function newWorld({ workspace, gateway }: ActTrials): Promise<ActWorld> {
  const account = await workspace.account();
  return { account, call: callerOf(gateway, account) };
}

async function preparedForm(path: string, act: FormAct, world: ActWorld, trials: ActTrials): Promise<PreparedAct> {
  const { call } = world;
  const billing = await madeBy(call);
  const { id } = await (act.subject === 'quote' ? billing.quote({ status: 'Sent' }) : billing.invoice());
  const link = await call('POST', `/${act.subject}s/${id}/links`, {});
  await keepOriginal(world, act.subject, id);
  // An act that is done is also a visit, which is noted once an hour in a transaction of its own.
  if (path !== '/opened') await send(trials.portal.url, pathOf(link.url), '/opened', {});
  await act.prepare?.(link.id, world);
  return {
    async begin(env) {
      const portal = await spawnService('portal', trials.workspace, env);
      // It gets no answer from a portal that dies.
      await send(portal.url, pathOf(link.url), path, act.fields).catch(() => undefined);
      return portal;
    },
    again: () => send(trials.portal.url, pathOf(link.url), path, act.fields),
  };
}

/** Keeps an original, so that no form waits for a renderer. */
async function keepOriginal({ account }: ActWorld, type: FormAct['subject'], id: string): Promise<void> {
  const issued = await findIssuedDocument(type, account.id, id);
  assert.ok(issued && issued !== 'draft');
  const bytes = Buffer.from('%PDF-1.7\n%%EOF\n');
  await originalOf(issued, { accountId: account.id, make: async () => ({ bytes, warnings: [] }) });
}

/** Sends a form with the hidden fields of the page. @throws when there is no answer. */
async function send(portal: string, link: string, form: string, fields: Record<string, string>): Promise<void> {
  const page = await (await fetch(portal + link)).text();
  const found = [...page.matchAll(/name="(csrf|version)" value="([^"]*)"|data-(csrf)="([^"]*)"/g)];
  const hidden = found.map(([, name, value, other, token]) => [name ?? other, value ?? token] as [string, string]);
  const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
  const response = await fetch(portal + link + form, { method: 'POST', body, redirect: 'manual' });
  await response.arrayBuffer();
}

async function preparedRound({ round, prepare }: RoundAct, world: ActWorld, trials: ActTrials): Promise<PreparedAct> {
  await prepare(world);
  // A scheduler that starts makes all rounds at once: the others must find nothing.
  for (const [name, other] of Object.entries(ROUNDS)) if (name !== round) await other();
  return {
    begin: (env) => launchService('scheduler', trials.workspace, env),
    again: async () => void (await ROUNDS[round]()),
  };
}

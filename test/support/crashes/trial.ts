// One trial: a gateway is killed at a step of a write, and another one finds all of the write or nothing, and repeats it once.
import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { storedId } from '#libs/models/tenant.ts';
import { eventually } from '../eventually.ts';
import type { Reply } from '../gateway.ts';
import { spawnGateway } from '../spawn-gateway.ts';
import type { SpawnedService } from '../spawn-service.ts';
import type { TestAccount, Workspace } from '../workspace.ts';
import type { Caller } from './billing-world.ts';
import { type CrashPoint, nameOf, stepsIn, watchedService } from './crash-points.ts';
import type { PreparedWrite, Write } from './writes.ts';

export type Gateway = Awaited<ReturnType<typeof spawnGateway>>;

/**
 * Where a service is killed: after each command, and before and after the commit. The end is named and not counted, since the sum of
 * stored bytes is written by chance: the next run of the same write may have one command more or fewer there.
 */
export function pointsOf({ steps }: Pick<KnownWrite, 'steps'>): CrashPoint[] {
  const counted = steps.slice(0, -2).map((_, index): CrashPoint => ({ when: 'after', step: `#${index + 1}` }));
  return [...counted, { when: 'before', step: 'commitTransaction' }, { when: 'after', step: 'commitTransaction' }];
}

export interface Trials {
  workspace: Workspace;
  /** Survives: it prepares the records, and gets the retry. */
  gateway: Gateway;
}

/** A write as it is when nothing happens to it. */
export interface KnownWrite {
  write: Write;
  /** The commands of its transaction, in their order. */
  steps: string[];
  /** How many records it adds to each collection. */
  added: Record<string, number>;
}

export const REPEAT_LIMIT_MS = 30_000;
/** Only ends a hang: a service that starts on a busy machine takes its time. */
const DEATH_LIMIT_MS = 150_000;
/** Written beside transactions. */
const NOT_OF_WRITES = new Set(['api_keys', 'round_tries']);

/** Makes the write once and reads what it does. @param watching a gateway that prints its steps. */
export async function learnWrite(trials: Trials, watching: Gateway, write: Write): Promise<KnownWrite> {
  const account = await trials.workspace.account();
  const prepared = await write.prepare(callerOf(trials.gateway, account));
  const before = await recordsOf(account);
  const known = stepsIn(watching.output()).length;
  const reply = await send(watching, account, prepared, 'learn');
  assert.ok(reply.status < 300, `${write.name}: ${reply.status} ${JSON.stringify(reply.body)}`);
  const added = difference(before, await recordsOf(account));
  const steps = await eventually(() => stepsIn(watching.output())[known]);
  assert.ok(Object.keys(added).length > 0, `${write.name} adds nothing`);
  return { write, steps, added };
}

/** @throws AssertionError when a part of the write is stored, or the repeat gives another result. */
export async function tryCrash(trials: Trials, { write, added }: KnownWrite, point: CrashPoint): Promise<void> {
  const { workspace, gateway } = trials;
  const account = await workspace.account();
  const prepared = await write.prepare(callerOf(gateway, account));
  const before = await recordsOf(account);
  const dying = await spawnGateway(workspace, account.key, watchedService(point));
  try {
    await assert.rejects(send(dying, account, prepared, 'crash'), `${write.name} was answered ${nameOf(point)}`);
    await dying.exited;
  } finally {
    dying.kill('SIGKILL');
  }
  const isStored = point.when === 'after' && point.step === 'commitTransaction';
  const crashed = await recordsOf(account);
  const what = `${write.name}, killed ${nameOf(point)}`;
  if (isStored) assert.deepEqual(difference(before, crashed), added, `${what}: a part is missing`);
  else assert.deepEqual(crashed, before, `${what}: a part is stored`);

  const reply = await repeat(gateway, account, prepared);
  const isReplayed = isStored && prepared.method === 'POST';
  const expected = isStored && !isReplayed ? write.repeated : reply.status < 300 && reply.status;
  assert.equal(reply.status, expected, `${what}: ${JSON.stringify(reply.body)}`);
  assert.equal(reply.headers.get('Idempotent-Replayed'), isReplayed ? 'true' : null, what);
  assert.deepEqual(difference(before, await recordsOf(account)), added, `${what}: not once`);
  assert.deepEqual(await auditLedger(account.id), [], what);
  const audit = await gateway.send('GET', '/api/v1/numbering/audit', { key: account.key });
  assert.equal(audit.body.data.gapless, true, what);
}

/** Resolves when the service has died at its point. @throws AssertionError when it does not come to it. */
export async function whenDead(service: SpawnedService): Promise<void> {
  let isHanging = false;
  const limit = setTimeout(() => {
    isHanging = true;
    service.kill('SIGKILL');
  }, DEATH_LIMIT_MS);
  const code = await service.exited;
  clearTimeout(limit);
  assert.ok(!isHanging && code === null, `it did not die at its point (${code}):\n${service.output().slice(-2_000)}`);
}

export function callerOf(gateway: Pick<Gateway, 'send'>, { key }: TestAccount): Caller {
  return async (method, path, body) => {
    const { status, body: answered } = await gateway.send(method, `/api/v1${path}`, { key, body });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answered)}`);
    return answered.data;
  };
}

function send(gateway: Gateway, { key }: TestAccount, { method, path, body }: PreparedWrite, turn: string) {
  const headers: Record<string, string> = method === 'POST' ? { 'Idempotency-Key': turn } : {};
  return gateway.send(method, `/api/v1${path}`, { key, headers, ...(body ? { body } : {}) });
}

/** Repeats the write as a careful caller does. The record may be busy until the locks of the dead process are gone. */
async function repeat(gateway: Gateway, account: TestAccount, prepared: PreparedWrite): Promise<Reply> {
  return eventually(async () => {
    const reply = await send(gateway, account, prepared, 'crash');
    return reply.status !== 503 && reply;
  }, REPEAT_LIMIT_MS);
}

/** Everything stored of the account, by collection. */
export async function recordsOf({ id }: TestAccount): Promise<Record<string, unknown[]>> {
  const { db } = mongoose.connection;
  const names = ((await db?.listCollections({}, { nameOnly: true }).toArray()) ?? [])
    .map(({ name }) => name)
    .toSorted();
  const own = { $or: [{ account_id: storedId(id) }, { _id: storedId(id) }] } as object;
  const found = names
    .filter((name) => !NOT_OF_WRITES.has(name))
    .map(async (name) => [name, await db?.collection(name).find(own).sort({ _id: 1 }).toArray()] as const);
  return Object.fromEntries(await Promise.all(found)) as Record<string, unknown[]>;
}

/** How many records each collection has more, or fewer, and `changed:` how many are other than they were. */
function difference(before: Record<string, unknown[]>, after: Record<string, unknown[]>): Record<string, number> {
  const rows = Object.keys(after).flatMap((name): [string, number][] => {
    const [was, is] = [before[name] ?? [], after[name] ?? []].map((records) => new Map(records.map(entryOf)));
    const changed = [...(is ?? [])].filter(([id, record]) => was?.has(id) && was.get(id) !== record).length;
    const more = (is?.size ?? 0) - (was?.size ?? 0);
    return [[name, more] as [string, number], [`changed: ${name}`, changed] as [string, number]];
  });
  return Object.fromEntries(rows.filter(([, count]) => count !== 0));
}

function entryOf(record: unknown): [string, string] {
  const { _id } = record as { _id: unknown };
  return [String(_id), JSON.stringify(record)];
}

// The demo account, its key and its webhook endpoint: created on the first start, reused on later ones.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Failure } from '../backends/failure.ts';
import { readPrivate, writePrivately } from './data-folder.ts';
import type { LastReceiver } from './receiver.ts';

export interface DemoAccount {
  accountId: string;
  key: string;
}

export interface DemoOperator {
  accountId: string;
  name: string;
  password?: string; // undefined when it was changed
}

export interface DemoEndpoint {
  id: string;
  secret: string;
  url: string;
}

interface Place {
  root: string; // holds services/
  dataFolder: string;
  env: NodeJS.ProcessEnv; // environment of the admin command: MONGODB_URI and the variables of every child
}

const COMMAND_LIMIT_MS = 30_000;
const CALL_LIMIT_MS = 10_000;
const TRY_AGAIN_LIMIT_MS = 5_000;
const TRY_AGAIN_MS = 250;
const execute = promisify(execFile);

export async function openDemoAccount(place: Place, url: string): Promise<DemoAccount> {
  const file = join(place.dataFolder, 'demo.json');
  const kept = await readPrivate<DemoAccount>(file);
  // The key was revoked or belongs to another database.
  if (kept.accountId && kept.key && !(await isRefused(url, kept.key)))
    return { accountId: kept.accountId, key: kept.key };
  const account = await admin(place, ['accounts', 'create', '--name', 'Demo', '--json']);
  const accountId = textOf(account, 'id');
  const made = await admin(place, ['keys', 'create', '--account', accountId, '--name', 'demo', '--json']);
  const demo = { accountId, key: textOf(made, 'key') };
  await writePrivately(file, demo);
  return demo;
}

// Opens the operator of the dashboard. It is made once per demo account, because a new account means a new database.
export async function openDemoOperator(place: Place, accountId: string): Promise<DemoOperator> {
  const file = join(place.dataFolder, 'operator.json');
  const kept = await readPrivate<DemoOperator & { createdAt: string }>(file);
  const { name, password } = kept;
  if (kept.accountId === accountId && name && password) {
    const all = (await admin(place, ['operators', 'list', '--json'])) as Record<string, unknown>[];
    const known = all.find((one) => one['name'] === name);
    // A changed password is respected. A removed operator is created again.
    if (known)
      return !kept.createdAt || kept.createdAt === textOf(known, 'created_at')
        ? { accountId, name, password }
        : { accountId, name };
  }
  const command = ['operators', 'create', '--name', 'demo', '--role', 'operator', '--replace', '--json'];
  const made = await admin(place, command);
  const operator = { accountId, name: textOf(made, 'name'), password: textOf(made, 'password') };
  await writePrivately(file, { ...operator, createdAt: textOf(made, 'created_at') });
  return operator;
}

// Returns the receiver's port and token of the last start, so that the endpoint's URL stays the same.
export async function rememberedReceiver(dataFolder: string): Promise<LastReceiver | undefined> {
  const { url } = await readPrivate<DemoEndpoint>(join(dataFolder, 'receiver.json'));
  if (!url) return undefined;
  const { port, pathname } = new URL(url);
  return { port: Number(port), token: pathname.split('/').at(-2) ?? '' };
}

// Registers the receiver once, and updates the endpoint when the receiver had to take another port.
export async function openDemoEndpoint(
  dataFolder: string,
  api: { url: string; key: string },
  receiverUrl: string,
): Promise<DemoEndpoint> {
  const file = join(dataFolder, 'receiver.json');
  const kept = await readPrivate<DemoEndpoint>(file);
  const endpoint = (await moved(kept, api, receiverUrl)) ?? (await registered(api, receiverUrl));
  await writePrivately(file, endpoint);
  return endpoint;
}

async function moved(kept: Partial<DemoEndpoint>, api: { url: string; key: string }, receiverUrl: string) {
  const { id, secret } = kept;
  if (!id || !secret) return undefined;
  const change = { url: receiverUrl, enabled: true };
  const path = `/api/v1/webhooks/${encodeURIComponent(id)}`;
  const { status, body } = await call(api, 'PATCH', path, change);
  if (status === 404) return undefined; // It was deleted, or is another account's.
  if (status !== 200) throw new Failure(`PATCH ${path} answered ${status}: ${JSON.stringify(body)}`);
  return { id, secret, url: receiverUrl };
}

async function registered(api: { url: string; key: string }, receiverUrl: string): Promise<DemoEndpoint> {
  const endpoint = { url: receiverUrl, events: ['*'], description: 'The receiver of npm start' };
  const { status, body } = await call(api, 'POST', '/api/v1/webhooks', endpoint);
  if (status !== 201) throw new Failure(`POST /api/v1/webhooks answered ${status}: ${JSON.stringify(body)}`);
  const data = (body as { data?: unknown }).data;
  return { id: textOf(data, 'id'), secret: textOf(data, 'secret'), url: receiverUrl };
}

// True when the key is rejected. A busy gateway or an unavailable store says nothing about it, and a new account would
// hide the data of this one.
async function isRefused(url: string, key: string): Promise<boolean> {
  const deadline = performance.now() + TRY_AGAIN_LIMIT_MS;
  for (;;) {
    const { status } = await call({ url, key }, 'GET', '/api/v1/clients?limit=1');
    if (status === 401 || status === 403) return true;
    // After the limit the key is kept unverified. Registering the endpoint reports the problem.
    if (status === 200 || performance.now() > deadline) return false;
    await wait(TRY_AGAIN_MS);
  }
}

async function call(api: { url: string; key: string }, method: string, path: string, body?: unknown) {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${api.key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(CALL_LIMIT_MS),
  });
  const answer: unknown = await response.json().catch(() => undefined); // The status decides when the body is not JSON.
  return { status: response.status, body: answer };
}

async function admin(place: Place, args: string[]): Promise<unknown> {
  const command = join('services', 'admin', 'main.ts');
  const options = { cwd: place.root, env: place.env, timeout: COMMAND_LIMIT_MS };
  try {
    const { stdout } = await execute(process.execPath, [command, ...args], options);
    return JSON.parse(stdout);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || String(error);
    throw new Failure(`The demo account could not be made: admin ${args.slice(0, 2).join(' ')}: ${said}`, {
      cause: error,
    });
  }
}

function textOf(record: unknown, field: string): string {
  const value = (record as Record<string, unknown> | undefined)?.[field];
  if (typeof value !== 'string') throw new Failure(`The answer has no ${field}: ${JSON.stringify(record)}`);
  return value;
}

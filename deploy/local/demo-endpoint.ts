// The webhook endpoint of the demo account: registered on the first start, reused on later ones.
import { join } from 'node:path';
import { Failure } from '../backends/failure.ts';
import { readPrivate, writePrivately } from './data-folder.ts';
import type { Place } from './private-pages.ts';

export interface DemoEndpoint {
  id: string;
  secret: string;
  url: string;
}

const CALL_LIMIT_MS = 10_000;

// Returns the receiver's port and token of the last start, so that the endpoint's URL stays the same.
export async function rememberedReceiver(dataFolder: string): Promise<Partial<Place>> {
  const { url } = await readPrivate<DemoEndpoint>(join(dataFolder, 'receiver.json'));
  if (!url) return {};
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

function textOf(record: unknown, field: string): string {
  const value = (record as Record<string, unknown> | undefined)?.[field];
  if (typeof value !== 'string') throw new Failure(`The answer has no ${field}: ${JSON.stringify(record)}`);
  return value;
}

// Large bodies are parsed one at a time, accounts in turn, and small ones do not wait for them.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { openFairLimit } from '#libs/fair-limit.ts';
import { jsonReader } from '../../../services/gateway/http/read-json.ts';
import { eventually } from '../../support/eventually.ts';

const limit = openFairLimit(1);
const parsed: string[] = [];
let arrived = 0;
let server: Server;
beforeAll(async () => {
  const readJson = jsonReader(1024 * 1024);
  const app = express().post('/:account', async (request, response) => {
    request.once('end', () => {
      arrived += 1;
    });
    const body = await readJson(request, response, {
      limit,
      accountId: request.params.account,
    });
    parsed.push((body as { name: string }).name);
    response.json({});
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close().closeAllConnections());

const send = (account: string, name: string, bytes: number, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${account}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, text: 'x'.repeat(bytes) }),
    ...(signal ? { signal } : {}),
  });

test('when one account sends many large bodies, then the body of another is next, and a small one waits for none', async () => {
  const release = await limit.acquire('earlier', new AbortController().signal);
  const sent: Promise<unknown>[] = [];
  for (const [account, name] of [
    ['one', 'first'],
    ['one', 'second'],
    ['one', 'third'],
    ['other', 'fourth'],
  ] as const) {
    sent.push(send(account, name, 20_000));
    await eventually(() => arrived === sent.length);
  }
  await send('one', 'small', 10);
  expect(parsed).toEqual(['small']);
  release();
  await Promise.all(sent);

  expect(parsed).toEqual(['small', 'first', 'fourth', 'second', 'third']);
});

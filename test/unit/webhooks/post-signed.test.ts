// A call on a reused connection that the receiver closes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { makeSecret } from '#libs/models/webhooks/endpoint-secrets.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { makePostSigned } from '../../../services/webhooks/post-signed.ts';
import { LOOPBACK } from '../../support/webhooks.ts';

/** Responds to the first call on each connection, and closes it `afterMs` after the second call has come. */
async function startLimited(afterMs: number) {
  const seen = new Map<Socket, number>();
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    const { socket } = request;
    seen.set(socket, (seen.get(socket) ?? 0) + 1);
    request.resume().once('end', () => {
      if (seen.get(socket) === 1) response.writeHead(204).end();
      else setTimeout(() => socket.destroy(), afterMs);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls: () => calls,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.each([
  ['at once, as one that was idle', 0, { isWell: true, status: 204 }, 3],
  ['while the receiver works on it', 1_500, { isWell: false, errorClass: 'unreachable' }, 2],
])(
  'when a reused connection ends %s, then the call is made again only if the receiver did not get it',
  async (...row) => {
    const [, afterMs, outcome, calls] = row;
    const receiver = await startLimited(afterMs);
    const outbound = openOutbound({ allow: LOOPBACK, keepAlive: true });
    const post = makePostSigned({ outbound, timeoutMs: 10_000, userAgent: 'Billhook/test' });
    const call = (eventId: string) =>
      post({ url: receiver.url, eventId, body: '{}', secrets: [makeSecret()], isTest: false });

    const first = await call('first');
    await pause(50); // Until the connection is back in the pool.
    const second = await call('second');
    outbound.close();
    receiver.close();

    expect(first).toMatchObject({ isWell: true });
    expect(second).toMatchObject(outcome);
    expect(receiver.calls()).toBe(calls);
  },
);

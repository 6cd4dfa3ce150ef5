// A webhook receiver with configurable responses that records its calls.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  /** `webhook-id`: the event's id, the same on every retry and replay. */
  id: string;
  headers: http.IncomingHttpHeaders;
  /** The bytes as they came. */
  body: string;
  path: string;
  at: number;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Statuses for the next calls, in order; then it answers as before. */
  answerWith(...statuses: number[]): void;
  close(): Promise<void>;
}

type Reaction = (request: Received, response: http.ServerResponse, count: number) => void;

/** @param react answers a call; `count` is 1 for the first. Without it every call is answered with 204. */
export async function startReceiver(
  react: Reaction = (_request, response) => answer(response, 204),
  host = '127.0.0.1',
  at = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, url = '' } = request;
      const id = String(headers['webhook-id']);
      const call = { id, headers, body: Buffer.concat(chunks).toString(), path: url, at: Date.now() };
      received.push(call);
      const status = statuses.shift();
      if (status) answer(response, status);
      else react(call, response, received.length);
    });
  });
  server.listen(at, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith: (...next) => void statuses.push(...next),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function answer(response: http.ServerResponse, status: number, headers: Record<string, string> = {}) {
  response.writeHead(status, headers).end();
}

/** The event, when the call is signed with `secret`. @throws when it is not, as a receiver would find out. */
export function verify(secret: string, { body, headers }: Pick<Received, 'body' | 'headers'>) {
  const event = new Webhook(secret).verify(body, headers as Record<string, string>);
  return event as { type: string; timestamp: string; data: Record<string, unknown> };
}

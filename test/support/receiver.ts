// Somebody's server that receives webhooks: answers as it is told and remembers what came.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Statuses for the next calls, in order; 200 when there is none left. */
  answerWith(...statuses: number[]): void;
  /** The event, when the signature holds. @throws when it does not. */
  verify(secret: string, call: Received): { type: string; timestamp: string; data: Record<string, unknown> };
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(statuses.shift() ?? 200).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith: (...next) => void statuses.push(...next),
    verify: (secret, { headers, body }) => new Webhook(secret).verify(body, headers as Record<string, string>) as never,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

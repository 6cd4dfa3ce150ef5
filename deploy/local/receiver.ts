// The demo's webhook receiver. It verifies every signature and shows deliveries.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import getPort from 'get-port';
import { Webhook } from 'standardwebhooks';

export interface Receiver {
  url: string; // shows the deliveries; its token grants read access
  hookUrl: string; // where deliveries go
  port: number;
  // Sets the secret. Nothing verifies before, because the endpoint's secret exists only after its registration.
  useSecret(secret: string): void;
  close(): Promise<void>;
}

interface Delivery {
  receivedAt: string;
  verified: boolean;
  problem?: string; // the reason for a failed verification
  headers: Record<string, string>; // the three headers of Standard Webhooks
  body: unknown; // the parsed JSON, else the text
}

/** The port and token of an earlier start, so that the endpoint and its retries keep their URL. */
export interface LastReceiver {
  port: number;
  token: string;
}

const TOKEN = /^[\w-]{32}$/;
const DELIVERIES_KEPT = 100;
const BODY_BYTES_MAX = 1024 * 1024; // An event contains one record, far below a megabyte.
const SHOWN_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type', 'user-agent'];

// Starts the receiver. Every local user can reach a loopback port, so the URL carries a token and everything else is
// rejected.
export async function startReceiver(last: LastReceiver | undefined): Promise<Receiver> {
  const token = last && TOKEN.test(last.token) ? last.token : randomBytes(24).toString('base64url');
  const deliveries: Delivery[] = []; // the newest first
  let webhook: Webhook | undefined;
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy()); // The sender disconnected.
  });
  const port = await getPort({ host: '127.0.0.1', ...(last?.port ? { port: last.port } : {}) });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo; // A TCP server.
  const url = `http://127.0.0.1:${taken}/${token}`;

  async function answer(request: IncomingMessage, response: ServerResponse) {
    // This blocks DNS rebinding: a web page must not read this through a public name that resolves to loopback.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? ''))
      return send(response, 421, 'Wrong host\n');
    const [, given = '', ...rest] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
    if (!isSame(given, token))
      return send(response, 404, 'The address of the receiver is in the banner of npm start\n');
    const route = `${request.method} /${rest.join('/')}`;
    if (route === 'POST /hook') return await receive(request, response);
    if (route === 'GET /' || route === 'GET /deliveries')
      return send(response, 200, `${JSON.stringify(deliveries, null, 2)}\n`, 'application/json');
    return send(response, 404, 'GET deliveries shows them as JSON, POST hook takes them\n');
  }

  async function receive(request: IncomingMessage, response: ServerResponse) {
    const body = await readText(request);
    if (body === undefined) return send(response, 413, 'Too large\n');
    const headers = Object.fromEntries(SHOWN_HEADERS.map((name) => [name, String(request.headers[name] ?? '')]));
    const problem = problemOf(webhook, body, headers);
    deliveries.unshift({
      receivedAt: new Date().toISOString(),
      verified: problem === undefined,
      ...(problem === undefined ? {} : { problem }),
      headers,
      body: parsed(body),
    });
    deliveries.splice(DELIVERIES_KEPT);
    return send(response, problem === undefined ? 204 : 401, '');
  }

  return {
    url,
    hookUrl: `${url}/hook`,
    port: taken,
    useSecret: (secret) => {
      webhook = new Webhook(secret);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isSame(given: string, token: string): boolean {
  return (
    Buffer.byteLength(given) === Buffer.byteLength(token) && timingSafeEqual(Buffer.from(given), Buffer.from(token))
  );
}

function problemOf(webhook: Webhook | undefined, body: string, headers: Record<string, string>): string | undefined {
  if (!webhook) return 'no secret yet';
  try {
    webhook.verify(body, headers);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body; // Shown unparsed.
  }
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: string, type = 'text/plain') {
  response.writeHead(status, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    Refresh: '2', // A browser shows new deliveries by itself.
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer', // The address holds the token.
  });
  response.end(body);
}

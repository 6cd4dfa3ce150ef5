// The demo's webhook receiver. It verifies every signature and shows deliveries.
import type { IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type Answer, type Place, servePrivately } from './private-pages.ts';

export interface Receiver {
  url: string; // shows the deliveries; its token grants read access
  hookUrl: string; // where deliveries go
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

const DELIVERIES_KEPT = 100;
const BODY_BYTES_MAX = 1024 * 1024; // An event contains one record, far below a megabyte.
const SHOWN_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type', 'user-agent'];

// Starts the receiver. The place of an earlier start keeps the URL of the endpoint and of its retries.
export async function startReceiver(last: Partial<Place> = {}): Promise<Receiver> {
  const deliveries: Delivery[] = []; // the newest first
  let webhook: Webhook | undefined;

  async function answer(request: IncomingMessage, path: string[]): Promise<Answer> {
    const route = `${request.method} /${path.join('/')}`;
    if (route === 'POST /hook') return receive(request);
    if (route === 'GET /' || route === 'GET /deliveries') {
      const headers = { Refresh: '2' }; // A browser shows new deliveries by itself.
      return { type: 'application/json', body: `${JSON.stringify(deliveries, null, 2)}\n`, headers };
    }
    return { status: 404, body: 'GET deliveries shows them as JSON, POST hook takes them\n' };
  }

  async function receive(request: IncomingMessage): Promise<Answer> {
    const body = await readText(request);
    if (body === undefined) return { status: 413, body: 'Too large\n' };
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
    return { status: problem === undefined ? 204 : 401 };
  }

  const { url, close } = await servePrivately('receiver', last, answer);
  return {
    url,
    hookUrl: `${url}/hook`,
    useSecret: (secret) => {
      webhook = new Webhook(secret);
    },
    close,
  };
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

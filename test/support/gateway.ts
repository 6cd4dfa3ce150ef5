// The gateway's application on a free port, in this process, with a small client that speaks to it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { type AppOptions, makeApp } from '../../services/gateway/app.ts';
import { requireKnownCodes } from './known-codes.ts';
import { send } from './send.ts';
import { asSystem } from './shards/watch-commands.ts';
import { openWorkspace, type TestAccount, testLog, type Workspace } from './workspace.ts';

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface Call {
  key?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as it is, instead of `body` as JSON. */
  raw?: string | Buffer;
  body?: unknown;
}

export interface Verbs {
  call(method: string, path: string, call?: Call): Promise<Reply>;
  get(path: string, call?: Call): Promise<Reply>;
  post(path: string, body?: unknown, call?: Call): Promise<Reply>;
  patch(path: string, body?: unknown, call?: Call): Promise<Reply>;
  delete(path: string, call?: Call): Promise<Reply>;
}

export interface TestGateway extends Verbs {
  url: string;
  workspace: Workspace;
  /** The account that calls when no other key is given. */
  account: TestAccount;
  close(): Promise<void>;
}

/** @param options in place of what every test's application has. */
export async function startGateway(options: Partial<AppOptions> = {}): Promise<TestGateway> {
  const workspace = await openWorkspace();
  const account = await workspace.account();
  const markdown = openMarkdown();
  const app = makeApp({ ...appOptionsFor(workspace), markdown, ...options });
  const server = createServer((request, response) => asSystem(() => app(request, response)));
  // On a busy machine a test may pause for longer than Node keeps a connection, and then send into a closed one.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = callerOf(url, account.key);
  return {
    url,
    workspace,
    account,
    ...verbsOf(call),
    async close() {
      await closeServer(server);
      await markdown.close();
      await workspace.close();
    },
  };
}

export interface PrintingGateway extends TestGateway {
  /** Returns the document that was printed last. */
  printed(): PrintableDocument | undefined;
}

/** Starts a gateway whose printer keeps the document and returns an empty page. */
export async function startPrintingGateway(): Promise<PrintingGateway> {
  let last: PrintableDocument | undefined;
  const gateway = await startGateway({
    print: async ({ document }) => {
      last = document;
      return { bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] };
    },
  });
  return { ...gateway, printed: () => last };
}

/** Returns the least options of a test's application. Webhooks and images may reach this machine. */
export function appOptionsFor(workspace: Workspace): AppOptions {
  return {
    log: testLog,
    nudge: () => undefined,
    print: () => Promise.reject(new Error('This test has no renderer')),
    markdown: { toHtml: () => Promise.reject(new Error('This test lays out no Markdown')) },
    trustProxy: 0,
    box: openSecretBox(workspace.secretKey),
    portalUrl: 'https://portal.example.com',
    outbound: openOutbound({ allow: '127.0.0.0/8,::1/128' }),
  };
}

/** @returns a function that calls `url` with `key` unless the call names another one (`key: undefined` sends none). */
export function callerOf(url: string, key: string) {
  return async (method: string, path: string, options: Call = {}): Promise<Reply> => {
    const usedKey = 'key' in options ? options.key : key;
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const { status, headers, bytes, body } = await send(url + path, {
      method,
      headers: {
        ...(usedKey === undefined ? {} : { Authorization: `Bearer ${usedKey}` }),
        ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      body: payload,
    }).catch((cause: unknown) => {
      throw new Error(`${method} ${path} got no answer`, { cause });
    });
    if (body !== undefined && status >= 400) {
      requireKnownCodes(body, `${method} ${path} got ${status}`);
      explainMissingData(body, `${method} ${path} got ${status}`);
    }
    return { status, headers: new Headers(headers as Record<string, string>), body: body ?? bytes };
  };
}

/** An error has no `data`: a test that reads it fails with the error instead of with "cannot read properties of undefined". */
function explainMissingData(body: object, what: string) {
  const data = {
    enumerable: false,
    get: () => {
      throw new Error(`${what}, so it has no data: ${JSON.stringify(body)}`);
    },
  };
  Object.defineProperty(body, 'data', data);
}

/** The same calls, written shorter. */
export function verbsOf(call: Verbs['call']): Verbs {
  return {
    call,
    get: (path, given) => call('GET', path, given),
    post: (path, body, given) => call('POST', path, { body, ...given }),
    patch: (path, body, given) => call('PATCH', path, { body, ...given }),
    delete: (path, given) => call('DELETE', path, given),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

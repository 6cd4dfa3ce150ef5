// The dashboard on a free port in this process, with operators, a client that keeps its cookie, and records to look at.
import { randomBytes, scryptSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { Operator, type OperatorRole, operatorName } from '#libs/models/operations/operator.ts';
import { type Dashboard, openDashboard } from '../../../services/operations/dashboard.ts';
import { eventually } from '../eventually.ts';
import { asSystem } from '../shards/watch-commands.ts';
import { openWorkspace, testLog, type Workspace } from '../workspace.ts';

/** Small ones, so that a few records use a share of them. */
export const LIMITS = { documentsPerMinute: 20, recordBytes: 1024 * 1024, fileBytes: 64 * 1024 };

export const PASSWORD = 'a long test password';

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface Browser {
  /** `session=…` of the last login, empty before it. */
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a form; with the session's token unless `fields` have their own. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
}

export interface TestDashboard {
  url: string;
  workspace: Workspace;
  queues: Queues;
  dashboard: Dashboard;
  /** How often the webhook services were nudged. */
  nudges(): number;
  browser(): Browser;
  /** A new operator and a browser logged in as them. */
  login(role: OperatorRole, name?: string): Promise<Browser & { name: string }>;
  close(): Promise<void>;
}

export async function startDashboard(): Promise<TestDashboard> {
  const workspace = await openWorkspace();
  const queues = openQueues({ redisUrl: workspace.redisUrl, prefix: workspace.redisPrefix, log: testLog });
  await eventually(() => queues.redis.status === 'ready');
  let nudges = 0;
  const nudge = () => {
    nudges += 1;
  };
  const dashboard = openDashboard({ limits: LIMITS, queues, log: testLog, trustProxy: 0, nudge });
  const server = createServer((request, response) => asSystem(() => dashboard.app(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let people = 0;
  return {
    url,
    workspace,
    queues,
    dashboard,
    nudges: () => nudges,
    browser: () => browserOf(url),
    async login(role, given) {
      people += 1;
      const name = given ?? `${role}-${people}`;
      await addOperator({ name, role });
      const browser = browserOf(url);
      const { status } = await browser.post('/login', { name, password: PASSWORD });
      if (status !== 303) throw new Error(`login answered ${status}`);
      return Object.assign(browser, { name });
    },
    async close() {
      await closeServer(server);
      await dashboard.close();
      await queues.close();
      await workspace.close();
    },
  };
}

const CHEAP = { N: 16, r: 1, p: 1 } as const;

/** With the password `PASSWORD`, which is checked at once: the product's own hashes take a quarter of a second of one core each. */
export async function addOperator({ name, role }: { name: string; role: OperatorRole }): Promise<void> {
  const salt = randomBytes(16);
  const hash = scryptSync(PASSWORD, salt, 32, CHEAP);
  const password_hash = `scrypt$${CHEAP.N}$${CHEAP.r}$${CHEAP.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
  await Operator.create({ name: operatorName(name), role, password_hash });
}

const SESSION = 'billhook_operations';

export function browserOf(url: string): Browser {
  const cookies = new Map<string, string>();
  const browser: Browser = {
    get cookie() {
      const session = cookies.get(SESSION);
      return session ? `${SESSION}=${session}` : '';
    },
    get: (path, headers = {}) => send('GET', path, undefined, headers),
    async post(path, fields = {}, headers = {}) {
      const csrf = 'csrf' in fields || !browser.cookie ? {} : { csrf: await tokenOf() };
      return send('POST', path, new URLSearchParams({ ...csrf, ...fields }), headers);
    },
  };

  async function send(
    method: string,
    path: string,
    body: URLSearchParams | undefined,
    headers: Record<string, string>,
  ) {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { Accept: 'text/html', ...cookieHeader(), ...headers },
      ...(body ? { body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The newest first: a server must not depend on an order. */
  function cookieHeader(): Record<string, string> {
    const pairs = [...cookies].reverse().map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? { Cookie: pairs.join('; ') } : {};
  }

  /** Reads the token that every form of every page has. */
  async function tokenOf(): Promise<string> {
    const { text } = await send('GET', '/audit', undefined, {});
    return /name="csrf" value="([\w-]+)"/.exec(text)?.[1] ?? '';
  }

  return browser;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

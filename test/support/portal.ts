// The portal on a free port in this process, and a browser without script that keeps its cookie and finds its forms' token.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appError } from '#libs/errors.ts';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { connectFailFast } from '#libs/redis/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import { makeApp } from '../../services/portal/app.ts';
import type { ClientOptions } from '../../services/portal/client/client-routes.ts';
import type { DeveloperOptions } from '../../services/portal/developer/developer-routes.ts';
import { asSystem } from './shards/watch-commands.ts';
import { LOOPBACK } from './webhooks.ts';
import { testLog, type Workspace } from './workspace.ts';

interface PortalAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export interface PortalBrowser {
  /** The cookies as the browser sends them. */
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<PortalAnswer>;
  /** Sends a form with the token of the session, unless `fields` have their own. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<PortalAnswer>;
}

export interface TestPortal {
  url: string;
  /** A browser without a session. */
  browser(): PortalBrowser;
  /** A browser that has opened a link. @param link as the API returned it, whatever host it names. */
  open(link: string): Promise<PortalBrowser>;
  close(): Promise<void>;
}

export interface TestPortalOptions {
  log?: Logger;
  developer?: Partial<DeveloperOptions>;
  client?: Partial<ClientOptions>;
}

export async function startPortal(workspace: Workspace, options: TestPortalOptions = {}): Promise<TestPortal> {
  const { log = testLog, developer, client } = options;
  const redis = connectFailFast(workspace.redisUrl, testLog);
  const parts = {
    outbound: openOutbound({ allow: LOOPBACK }),
    box: openSecretBox(workspace.secretKey),
    nudge: () => nudgeRelay(redis, workspace.redisPrefix),
    isPublicSecure: false,
    ...developer,
  };
  const loadLogo: ClientOptions['loadLogo'] = async () => undefined;
  const clients = { print: unprinted, loadLogo, box: parts.box, nudge: parts.nudge, ...client };
  const app = makeApp({ trustProxy: 0, developer: parts, client: clients, log });
  const server = createServer((request, response) => asSystem(() => app(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    browser: () => browserOf(url),
    async open(link) {
      const browser = browserOf(url);
      const { status } = await browser.post(pathOf(link));
      if (status !== 303) throw new Error(`the portal answered ${status} to a link`);
      return browser;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      redis.disconnect();
      parts.outbound.close();
    },
  };
}

/** Where no renderer runs, only originals that are kept can be sent. */
const unprinted: ClientOptions['print'] = async () => {
  throw appError('printing_unavailable');
};

/** Returns the path of a link: tests reach the portal by another host than its public one. */
export function pathOf(link: string): string {
  return new URL(link).pathname;
}

function browserOf(url: string): PortalBrowser {
  const cookies = new Map<string, string>();
  const browser: PortalBrowser = {
    get cookie() {
      return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    },
    get: (path, headers = {}) => send('GET', path, undefined, headers),
    async post(path, fields = {}, headers = {}) {
      const csrf = 'csrf' in fields || !browser.cookie ? {} : { csrf: await tokenOf() };
      return send('POST', path, new URLSearchParams({ ...csrf, ...fields }), headers);
    },
  };

  async function send(method: string, path: string, body: URLSearchParams | undefined, headers: HeadersInit) {
    const { cookie } = browser;
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { Accept: 'text/html', ...(cookie ? { Cookie: cookie } : {}), ...(headers as Record<string, string>) },
      ...(body ? { body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Reads the token that every form of every page has. */
  async function tokenOf(): Promise<string> {
    const { text } = await send('GET', '/developer/events', undefined, {});
    return /name="csrf" value="([\w-]+)"/.exec(text)?.[1] ?? '';
  }

  return browser;
}

// The health port of a service: `/livez`, `/readyz` and `/metrics`, apart from the port that does its work.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { errorText } from '../errors.ts';
import { withTimeout } from '../with-timeout.ts';
import { judgeHost } from './allowed-hosts.ts';
import type { Logger } from './logger.ts';

/** Resolves when the dependency is available, rejects with the reason when it is not. */
export type Check = () => Promise<unknown>;

const CHECK_LIMIT_MS = 2_000;

export interface HealthPort {
  port: number;
  /** Marks the service as started. From then on /readyz reports its checks. Until then it responds with 503. */
  started(): void;
  /** Makes /readyz respond with 503, so that load balancers choose another process before this one stops. */
  drain(): void;
  close(): Promise<void>;
}

/**
 * Listens on `host:port` (port 0 or undefined: any free one).
 * @param checks the dependencies that /readyz needs, by the name that it reports.
 * @param informational further dependencies that `/readyz?verbose` shows. The service works without them.
 */
export async function openHealthPort(options: {
  host: string;
  /** The value of HEALTH_ALLOWED_HOSTS. */
  names?: string | undefined;
  port: number | undefined;
  service: string;
  checks: Record<string, Check>;
  informational?: Record<string, Check>;
  metrics: Registry;
  log: Logger;
}): Promise<HealthPort> {
  const isAllowed = judgeHost(options.names);
  let isStarting = true;
  let isDraining = false;
  const server = createServer((request, response) => {
    respond(request, response).catch((error) => {
      options.log.error({ err: error }, 'health request failed');
      if (!response.headersSent) send(response, 500, { error: 'Internal server error' });
    });
  });

  async function respond(request: IncomingMessage, response: ServerResponse) {
    if (!isAllowed(request.headers.host ?? ''))
      return send(response, 421, { error: 'Unknown host, see HEALTH_ALLOWED_HOSTS' });
    const [path, query] = (request.url ?? '/').split('?', 2);
    if (path === '/livez') return send(response, 200, { service: options.service, status: 'alive' });
    if (path === '/readyz') return readiness(response, new URLSearchParams(query).has('verbose'));
    if (path === '/metrics') {
      const text = await options.metrics.metrics();
      return response.writeHead(200, { 'Content-Type': options.metrics.contentType }).end(text);
    }
    return send(response, 404, { error: 'Not found' });
  }

  function statusOf(isReady: boolean) {
    if (isDraining) return 'draining';
    if (isStarting) return 'starting';
    return isReady ? 'ready' : 'not ready';
  }

  async function readiness(response: ServerResponse, isVerbose: boolean) {
    const [required, others] = await Promise.all([
      verdicts(options.checks),
      isVerbose ? verdicts(options.informational ?? {}) : [],
    ]);
    const isReady = !isStarting && !isDraining && required.every(([, { problem }]) => problem === undefined);
    const brief = ([name, { problem }]: NamedVerdict) => [name, problem ?? 'ok'];
    const detailed = (isRequired: boolean) =>
      function detail([name, { problem, tookMs }]: NamedVerdict) {
        return [name, { status: problem === undefined ? 'ok' : 'failed', required: isRequired, tookMs, problem }];
      };
    send(response, isReady ? 200 : 503, {
      service: options.service,
      status: statusOf(isReady),
      checks: Object.fromEntries(
        isVerbose ? [...required.map(detailed(true)), ...others.map(detailed(false))] : required.map(brief),
      ),
      ...(isVerbose ? { uptimeSeconds: Math.round(process.uptime()), node: process.version } : {}),
    });
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    started: () => {
      isStarting = false;
    },
    drain: () => {
      isDraining = true;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Verdict {
  /** Absent when the dependency is available. */
  problem: string | undefined;
  tookMs: number;
}

type NamedVerdict = readonly [name: string, verdict: Verdict];

function verdicts(checks: Record<string, Check>): Promise<NamedVerdict[]> {
  return Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await verdict(check)] as const));
}

async function verdict(check: Check): Promise<Verdict> {
  const startedAt = performance.now();
  const problem = await problemOf(check);
  return { problem, tookMs: Math.round(performance.now() - startedAt) };
}

async function problemOf(check: Check): Promise<string | undefined> {
  try {
    await withTimeout(CHECK_LIMIT_MS, check());
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function send(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

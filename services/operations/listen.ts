// Opens the port of the dashboard for its allowed host names, and closes it without a failed request.
import { createServer, type RequestListener } from 'node:http';
import { judgeHost } from '#libs/service/allowed-hosts.ts';
import type { Logger } from '#libs/service/logger.ts';

/** Longer than any page takes: a search ends after five seconds. */
const CLOSE_LIMIT_MS = 10_000;
/** Enough for operators and their browsers. */
const CONNECTIONS_MAX = 200;

export interface ListenOptions {
  host: string;
  port: number;
  /** The value of OPERATIONS_ALLOWED_HOSTS. */
  names?: string | undefined;
  log: Logger;
}

/**
 * Starts the server.
 * @returns a function that stops it: requests in flight get their response, and no new ones are accepted.
 */
export async function listen(app: RequestListener, options: ListenOptions): Promise<() => Promise<void>> {
  const isAllowed = judgeHost(options.names);
  const server = createServer({ maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 5_000 }, (request, response) => {
    if (isAllowed(request.headers.host ?? '')) return app(request, response);
    const body = JSON.stringify({ error: 'Unknown host, see OPERATIONS_ALLOWED_HOSTS' });
    response.writeHead(421, { 'Content-Type': 'application/json; charset=utf-8' }).end(body);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.keepAliveTimeout = 65_000; // Longer than the idle time of common proxies (60 s), so that they close first.
  server.maxHeadersCount = 100;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  options.log.info({ address: server.address() }, 'listening');

  return () =>
    new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
}

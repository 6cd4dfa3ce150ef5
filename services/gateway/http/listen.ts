// Opens the public port with limits that slow or greedy clients run into, and closes it without a failed request.
import type { Server } from 'node:http';
import type { Logger } from '#libs/logger.ts';

/** Longer than any answer may take (the deadline of a document is 30 s). */
const CLOSE_LIMIT_MS = 34_000;

/** @returns what stops the server: no new connections, requests in hand are answered, then it is closed. */
export async function listen(server: Server, host: string, port: number, log: Logger): Promise<() => Promise<void>> {
  server.headersTimeout = 10_000; // A client that sends its headers more slowly is an attack.
  server.requestTimeout = 30_000; // The body of 3 MiB at 1 Mbit/s takes 25 s.
  server.keepAliveTimeout = 65_000; // Longer than the idle time of common load balancers (60 s), so that they close first.
  server.maxHeadersCount = 100;
  server.maxConnections = 2_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  log.info({ address: server.address() }, 'listening');

  return () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
}

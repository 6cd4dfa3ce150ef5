// Opens the public port with limits that slow or greedy clients run into, and closes it without a failed request.
import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Logger } from '#libs/service/logger.ts';
import { limitConnections } from './connections.ts';
import { whenClosed } from './when-closed.ts';

/** Longer than any response may take (the deadline of a document is 30 s). */
const CLOSE_LIMIT_MS = 34_000;
const CONNECTIONS_MAX = 2_000;
/** New connections that the system keeps while this process is busy. Node's 511 overflow within a second of an overload: callers then
 * wait seconds for a connection, or lose it before a 503 could be sent. */
const BACKLOG = CONNECTIONS_MAX;
/** Connections in use get `Connection: close` before idle ones are cut: a request already on its way must not meet a closed connection. */
const FAREWELL_MS = 1_000;

/** Options that only the constructor of a server takes. Every other one is set when it listens. */
export const serverOptions: ServerOptions = {
  connectionsCheckingInterval: 5_000, // Node looks for slow clients only every 30 s otherwise.
  maxHeaderSize: 16 * 1024,
};

/** @returns what stops the server: requests in flight get their response, their connections close, and no new ones are accepted. */
export async function listen(server: Server, host: string, port: number, log: Logger): Promise<() => Promise<void>> {
  server.headersTimeout = 10_000; // A client that sends its headers more slowly is an attack.
  server.requestTimeout = 30_000; // The body of 3 MiB at 1 Mbit/s takes 25 s.
  server.keepAliveTimeout = 65_000; // Longer than the idle time of common load balancers (60 s), so that they close first.
  server.timeout = 60_000; // Nothing sent and nothing read for this long: a response that is not read stays in memory until then. None takes as long to come.
  server.maxHeadersCount = 100;
  const connections = limitConnections(server, CONNECTIONS_MAX);
  const sayFarewell = farewellOf(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, BACKLOG, () => {
      server.off('error', reject);
      resolve();
    });
  });
  log.info({ address: server.address() }, 'listening');

  return async () => {
    sayFarewell();
    if (await hasConnections(server)) await new Promise((resolve) => setTimeout(resolve, FAREWELL_MS));
    await new Promise<void>((resolve) => {
      const timers = [
        // A connection that a browser or a load balancer opened in advance would keep the server open until the limit.
        setTimeout(() => connections.closeSilent(), FAREWELL_MS),
        setTimeout(() => server.closeAllConnections(), CLOSE_LIMIT_MS),
      ];
      server.close(() => {
        for (const timer of timers) clearTimeout(timer);
        resolve();
      });
    });
  };
}

// Node keeps a connection open after a response even while its server closes. A client that goes on using it would delay the end
// until the limit, and then lose a request. So every response after the farewell carries "Connection: close".
function farewellOf(server: Server): () => void {
  const unanswered = new Set<ServerResponse>();
  let isClosing = false;
  const takeLeave = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
    // The headers of this response promised to keep the connection, so the connection is cut when it is idle, but not before FAREWELL_MS have passed.
    else whenClosed(response, () => setImmediate(() => server.listening || server.closeIdleConnections()));
  };
  server.prependListener('request', (_request, response) => {
    if (isClosing) return takeLeave(response);
    unanswered.add(response);
    whenClosed(response, () => unanswered.delete(response));
  });
  return () => {
    isClosing = true;
    for (const response of unanswered) takeLeave(response);
  };
}

function hasConnections(server: Server): Promise<boolean> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error === null && count > 0)));
}

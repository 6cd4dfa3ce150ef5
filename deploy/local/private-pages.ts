// Serves pages on a port of this machine to those who know the address. Every local user can reach the port, so the address begins with a token.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import getPort from 'get-port';

/** The port and the token, which stay the same from one start to the next. */
export interface Place {
  port: number;
  token: string;
}

export interface Answer {
  status?: number;
  type?: string; // text/plain unless given
  body?: string | Buffer;
  headers?: Record<string, string>;
}

export interface PrivatePages {
  url: string; // ends with the token
  place: Place;
  close(): Promise<void>;
}

const TOKEN = /^[\w-]{32}$/;

/**
 * Starts a server.
 * @param name of the server in the banner.
 * @param last the place of the last start. Another port is taken if that one is not free.
 * @param answer gets the parts of the path behind the token.
 */
export async function servePrivately(
  name: string,
  last: Partial<Place>,
  answer: (request: IncomingMessage, path: string[]) => Promise<Answer>,
): Promise<PrivatePages> {
  const token = last.token && TOKEN.test(last.token) ? last.token : randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    checked(request)
      .then(({ status = 200, type = 'text/plain', body, headers }) => {
        response.writeHead(status, {
          'Content-Type': /^text\/|json$/.test(type) ? `${type}; charset=utf-8` : type,
          'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
          'X-Content-Type-Options': 'nosniff',
          'Cache-Control': 'no-store',
          'Referrer-Policy': 'no-referrer', // The address holds the token.
          ...headers,
        });
        response.end(body);
      })
      .catch(() => response.destroy()); // The sender disconnected.
  });
  const port = await getPort({ host: '127.0.0.1', ...(last.port ? { port: last.port } : {}) });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { port: taken } = server.address() as AddressInfo; // A TCP server.

  async function checked(request: IncomingMessage): Promise<Answer> {
    // This blocks DNS rebinding: a web page must not read this through a public name that resolves to loopback.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')) {
      return { status: 421, body: 'Wrong host\n' };
    }
    const [, given = '', ...path] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
    if (isSame(given, token)) return answer(request, path);
    return { status: 404, body: `The address of the ${name} is in the banner of npm start\n` };
  }

  return {
    url: `http://127.0.0.1:${taken}/${token}`,
    place: { port: taken, token },
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

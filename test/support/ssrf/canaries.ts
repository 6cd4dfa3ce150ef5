// Listeners on every port an attack names: a call to one at a private address is a breakout.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { PUBLIC } from './names.ts';
import { PUBLIC_ADDRESSES } from './urls.ts';

interface Hit {
  /** `address:port` that was called. */
  at: string;
  /** The path of an HTTP call. */
  path?: string;
}

export interface Canaries {
  /** The port that replaces `{c}`. */
  port: number;
  /** Forbidden calls. */
  hits: Hit[];
  /** Calls of public addresses, which are allowed. */
  visits: Hit[];
  close(): void;
}

export interface CanaryOptions {
  /** Every address of the world leads here, all its ports are ours: listen on those attacks name. Otherwise on one free port. */
  isWholeNetwork: boolean;
  /** Answered by the public host for `/logo.png`. */
  png: Buffer;
  tls?: { key: Buffer; cert: Buffer };
}

const CANARY_PORT = 9_999;
const PORTS = [22, 25, 53, 80, 443, 465, 587, 3_000, 6_379, 6_390, 8_080, 9_090, 27_017, CANARY_PORT];
const OPEN = new Set([PUBLIC, ...PUBLIC_ADDRESSES, '8.8.8.8']);

export async function startCanaries({ isWholeNetwork, png, tls }: CanaryOptions): Promise<Canaries> {
  const hits: Hit[] = [];
  const visits: Hit[] = [];
  const closers: (() => void)[] = [];
  const note = (hit: Hit, address: string) => void (OPEN.has(address) ? visits : hits).push(hit);

  function answer(request: http.IncomingMessage, response: http.ServerResponse) {
    const { address, at } = placeOf(request.socket);
    note({ at, path: request.url ?? '' }, address);
    if (address === PUBLIC) return void answerPublic(request, response, png);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.end('<h1>you reached the inside</h1>');
  }

  async function listen(port: number): Promise<number> {
    const server = port === 443 && tls ? https.createServer(tls, answer) : http.createServer(answer);
    // A connection is enough: what it says does not matter.
    server.on('connection', (socket: Socket) => {
      const { address, at } = placeOf(socket);
      note({ at }, address);
      socket.on('error', () => undefined);
    });
    server.on('clientError', (_error, socket) => void socket.destroy());
    // Both kinds of addresses, unless the machine's own services must not be disturbed.
    server.listen({ port, host: isWholeNetwork ? '::' : '127.0.0.1' });
    await once(server, 'listening');
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  const port = isWholeNetwork ? CANARY_PORT : await listen(0);
  if (isWholeNetwork) await Promise.all(PORTS.map(listen));
  const datagrams = createSocket(
    { type: isWholeNetwork ? 'udp6' : 'udp4' },
    () => void hits.push({ at: `udp:${port}` }),
  );
  datagrams.bind(port, isWholeNetwork ? '::' : '127.0.0.1');
  await once(datagrams, 'listening');
  closers.push(() => datagrams.close());
  return {
    port,
    hits,
    visits,
    close() {
      for (const close of closers) close();
    },
  };
}

function placeOf({ localAddress = '', localPort }: Socket) {
  const address = localAddress.replace(/^::ffff:/, '');
  return { address, at: `${address}:${localPort}` };
}

/** A host that an attacker runs: pictures, and redirects to any address. */
function answerPublic(request: http.IncomingMessage, response: http.ServerResponse, png: Buffer) {
  const url = new URL(request.url ?? '/', 'http://public');
  const to = decodeURIComponent(url.search.replace(/^\?to=/, ''));
  const [, kind = '', count] = url.pathname.split('/');
  if (kind === 'logo.png') return response.end(png);
  if (/^30\d$/.test(kind)) return response.writeHead(Number(kind), { Location: to }).end();
  if (kind === 'chain') {
    const left = Number(count);
    const next = left > 1 ? `/chain/${left - 1}?to=${to}` : to;
    return response.writeHead(302, { Location: next }).end();
  }
  if (kind === 'loop') return response.writeHead(302, { Location: '/loop' }).end();
  if (kind === 'refresh') return response.writeHead(200, { Refresh: `0;url=${to}` }).end();
  if (kind === 'meta-refresh') return response.end(`<meta http-equiv=refresh content="0;url=${to}"><img src=${to}>`);
  if (kind === 'svg') {
    response.setHeader('Content-Type', 'image/png');
    return response.end(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${to}"/></svg>`);
  }
  return response.writeHead(204).end();
}

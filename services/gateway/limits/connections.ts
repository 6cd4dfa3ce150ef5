// Limits connections: silent ones end first when there are too many, and each has one request at a time.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at the same time. */
  all: number;
  /** Connections of one address that have not sent a whole request head yet. 0: no such limit, as behind a proxy that shares one address. */
  silentPerAddress: number;
}

/** Requests of one connection that wait for the one before. HTTP clients hardly ever pipeline: a connection with more is cut. */
const WAITING_MAX = 1_000;

/** When a limit is reached, the connection that has been silent for longest ends. One that has sent a request only ends when none is silent. */
export function limitConnections(server: Server, { all, silentPerAddress }: ConnectionLimits): void {
  /** In the order in which they came. */
  const silent = new Set<Socket>();
  const ofAddress = new Map<string, Set<Socket>>();
  let open = 0;

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const siblings = ofAddress.get(address) ?? new Set();
    open += 1;
    silent.add(socket);
    ofAddress.set(address, siblings.add(socket));
    socket.once('close', () => {
      open -= 1;
      heard(socket, address);
    });
    if (silentPerAddress > 0 && siblings.size > silentPerAddress) first(siblings)?.destroy();
    else if (open > all) first(silent)?.destroy();
  });
  server.prependListener('request', ({ socket }: IncomingMessage) => heard(socket, socket.remoteAddress ?? ''));

  function heard(socket: Socket, address: string) {
    if (!silent.delete(socket)) return;
    const siblings = ofAddress.get(address);
    siblings?.delete(socket);
    if (siblings?.size === 0) ofAddress.delete(address);
  }
}

function first(sockets: Set<Socket>): Socket | undefined {
  const [oldest] = sockets;
  return oldest;
}

/** Begins a request when the response before it on its connection has been taken: what is pipelined costs the caller, not us. */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();

  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    const start = () => begin(request, response, socket);
    if (!queue) return start();
    if (queue.length >= WAITING_MAX) socket.destroy();
    else queue.push(start);
  };

  function begin(request: IncomingMessage, response: ServerResponse, socket: Socket) {
    const queue = waiting.get(socket) ?? [];
    waiting.set(socket, queue);
    response.once('close', () => {
      const next = queue.shift();
      if (!next) waiting.delete(socket);
      else if (!socket.destroyed) next();
    });
    listener(request, response as Parameters<RequestListener>[1]);
  }
}

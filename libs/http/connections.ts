// Limits connections: at the limit a silent or idle one is closed for the next; each has one request at a time.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenClosed } from './when-closed.ts';

/** Requests of one connection that wait for the one before. HTTP clients hardly ever pipeline: a connection with more is cut. */
const WAITING_MAX = 1_000;

export interface OpenConnections {
  /** Ends those that have never sent anything, which Node does not count as idle when its server closes. */
  closeSilent(): void;
}

/**
 * Node's own `maxConnections` refuses the newcomer, so that a few thousand connections that never send a request shut everybody out.
 * Here the one that has been silent for longest ends, else the one that has been idle for longest, else the one whose request has been
 * arriving for longest, else the newcomer.
 * @param max connections at the same time.
 */
export function limitConnections(server: Server, max: number): OpenConnections {
  const open = new Set<Socket>();
  /** Connections that have not sent a whole request head yet, the oldest first. */
  const silent = new Set<Socket>();
  /** Connections without a request in flight, the longest idle first. */
  const idle = new Set<Socket>();
  /** The request of each connection that may not have arrived whole, the one that began first at the start. */
  const arriving = new Map<Socket, IncomingMessage>();
  const inFlight = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    open.add(socket);
    silent.add(socket);
    socket.once('close', () => forget(socket));
    // Deferred until pending reads are processed: in a flood, connections would otherwise be closed before their request is seen.
    if (open.size > max) setImmediate(makeRoom, socket);
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (!open.has(socket)) return;
    silent.delete(socket);
    idle.delete(socket);
    arriving.set(socket, request);
    inFlight.set(socket, (inFlight.get(socket) ?? 0) + 1);
    whenClosed(response, () => {
      arriving.delete(socket);
      const left = (inFlight.get(socket) ?? 1) - 1;
      if (left > 0) return void inFlight.set(socket, left);
      inFlight.delete(socket);
      if (open.has(socket)) idle.add(socket);
    });
  });

  return {
    closeSilent() {
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy();
    },
  };

  function makeRoom(newcomer: Socket) {
    if (open.size <= max) return;
    const [oldest] = silent;
    const [longestIdle] = idle;
    const leastUsed = oldest && oldest !== newcomer ? oldest : (longestIdle ?? longestArriving() ?? newcomer);
    // Forgotten before its `close` event, so that the next newcomer does not choose the same connection.
    forget(leastUsed);
    leastUsed.destroy();
  }

  function longestArriving(): Socket | undefined {
    for (const [socket, { complete }] of arriving) {
      if (!complete) return socket;
      arriving.delete(socket);
    }
    return undefined;
  }

  function forget(socket: Socket) {
    open.delete(socket);
    silent.delete(socket);
    idle.delete(socket);
    arriving.delete(socket);
    inFlight.delete(socket);
  }
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
    whenClosed(response, () => {
      const next = queue.shift();
      if (!next) waiting.delete(socket);
      else if (!socket.destroyed) next();
    });
    listener(request, response as Parameters<RequestListener>[1]);
  }
}

// Limits connections: at the limit the least used one is closed; each has one request at a time.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections at the same time. */
  all: number;
  /** Connections of one address that have not sent a whole request head yet. 0: no such limit, as behind a proxy that shares one address. */
  silentPerAddress: number;
  /** A connection that was idle for less has a caller who uses it, and a body that takes longer is slow. A second unless given. */
  slowMs?: number;
}

const SLOW_MS = 1_000;

/** Requests of one connection that wait for the one before. HTTP clients hardly ever pipeline: a connection with more is cut. */
const WAITING_MAX = 1_000;

export interface OpenConnections {
  /** Ends those that have never sent anything, which Node does not count as idle when its server closes. */
  closeSilent(): void;
}

interface Connection {
  socket: Socket;
  address: string;
  /** False until it has sent a whole request head. */
  hasSentRequest: boolean;
  /** Requests whose response is not sent yet. */
  inFlight: number;
  /** Since when it has had none in flight. */
  idleSince: number;
  /** The latest that is in flight, and when its head had come. */
  request?: { body: Pick<IncomingMessage, 'complete'>; at: number } | undefined;
}

/**
 * When all connections are taken, one ends for the next: the one that has been silent for longest; else the one that has been idle for
 * longest, if not only for a moment; else the one whose body has taken longest, if that is slow; else any that is idle; else the oldest of
 * the address that has most, if that is more than one. Otherwise the new one ends.
 */
export function limitConnections(
  server: Server,
  { all, silentPerAddress, slowMs = SLOW_MS }: ConnectionLimits,
): OpenConnections {
  /** In the order in which they came. */
  const open = new Set<Connection>();
  const ofSocket = new WeakMap<Socket, Connection>();
  /** Silent ones, in the order in which they came. */
  const silentOf = new Map<string, Set<Connection>>();

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const idleSince = performance.now();
    const connection: Connection = { socket, address, hasSentRequest: false, inFlight: 0, idleSince };
    const silent = silentOf.get(address) ?? new Set();
    open.add(connection);
    ofSocket.set(socket, connection);
    silentOf.set(address, silent.add(connection));
    socket.once('close', () => {
      open.delete(connection);
      markActive(connection);
    });
    if (silentPerAddress > 0 && silent.size > silentPerAddress) firstOf(silent)?.socket.destroy();
    // Deferred until pending reads are processed: in a flood, connections would otherwise be closed before their request is seen.
    else if (open.size > all) setImmediate(makeRoom, connection);
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = ofSocket.get(request.socket);
    if (!connection) return;
    markActive(connection);
    connection.inFlight += 1;
    connection.request = { body: request, at: performance.now() };
    response.once('close', () => {
      connection.inFlight -= 1;
      if (connection.inFlight === 0) connection.request = undefined;
      connection.idleSince = performance.now();
    });
  });

  return {
    closeSilent() {
      for (const { socket } of open) if (socket.bytesRead === 0) socket.destroy();
    },
  };

  function makeRoom(newest: Connection) {
    if (open.size <= all) return;
    const one = leastUsed(open, newest, performance.now() - slowMs);
    // At once, not with its `close`: the next one must not choose it again.
    open.delete(one);
    one.socket.destroy();
  }

  function markActive(connection: Connection) {
    if (connection.hasSentRequest) return;
    connection.hasSentRequest = true;
    const silent = silentOf.get(connection.address);
    silent?.delete(connection);
    if (silent?.size === 0) silentOf.delete(connection.address);
  }
}

/** @param before what has been idle or unfinished since then. */
function leastUsed(open: Set<Connection>, newest: Connection, before: number): Connection {
  let idle: Connection | undefined;
  let slow: { connection: Connection; at: number } | undefined;
  const ofAddress = new Map<string, { count: number; oldest: Connection }>();
  for (const connection of open) {
    if (connection === newest) continue;
    if (!connection.hasSentRequest) return connection;
    if (connection.inFlight === 0 && connection.idleSince < (idle?.idleSince ?? Number.POSITIVE_INFINITY))
      idle = connection;
    const { request } = connection;
    if (request && !request.body.complete && request.at < (slow?.at ?? before)) slow = { connection, at: request.at };
    const known = ofAddress.get(connection.address);
    if (known) known.count += 1;
    else ofAddress.set(connection.address, { count: 1, oldest: connection });
  }
  if (idle && idle.idleSince < before) return idle;
  if (slow) return slow.connection;
  if (idle) return idle;
  let most = { count: 1, oldest: newest };
  for (const one of ofAddress.values()) if (one.count > most.count) most = one;
  return most.oldest;
}

function firstOf(connections: Set<Connection>): Connection | undefined {
  const [oldest] = connections;
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

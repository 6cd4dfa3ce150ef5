// Silent connections make room for those with a request, a busy process loses none, and a connection has one request at a time.
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { limitConnections, oneAtATime } from '#libs/http/connections.ts';
import { listen } from '#libs/http/listen.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const sockets: Socket[] = [];
let server: Server;
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.close().closeAllConnections();
});

async function start(listener: RequestListener, prepare: (server: Server) => void = () => undefined) {
  server = createServer(listener);
  prepare(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

/** @returns a connection and what came over it. */
async function open(text = '') {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  const seen = { text: '', isClosed: false };
  socket.on('data', (chunk) => (seen.text += String(chunk)));
  socket.on('error', () => undefined);
  socket.on('close', () => (seen.isClosed = true));
  await new Promise((resolve) => socket.once('connect', resolve));
  if (text) socket.write(text);
  return seen;
}

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const HALF_A_HEAD = 'GET / HTTP/1.1\r\nHost: x\r\nX-Drip: ';
const HALF_A_BODY = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{';
const answerAtOnce: RequestListener = (_request, response) => void response.end('ok');

test('when all connections are taken, then a silent one is closed for the next, and those that sent a request stay', async () => {
  await start(answerAtOnce, (it) => limitConnections(it, 6));
  const spoken = [await open(GET), await open(GET)];
  await eventually(async () => spoken.every(({ text }) => text.includes('200 OK')));
  const silent: Awaited<ReturnType<typeof open>>[] = [];
  for (let count = 0; count < 4; count += 1) silent.push(await open());
  const next = await open(GET);

  await eventually(async () => next.text.includes('200 OK'));
  await eventually(async () => silent[0]?.isClosed === true);
  expect([...spoken, ...silent.slice(1)].map(({ isClosed }) => isClosed)).toEqual(Array(5).fill(false));
});

test('when all connections are idle after a request, then the one that has been idle for longest ends for the next', async () => {
  await start(answerAtOnce, (it) => limitConnections(it, 4));
  const idle: Awaited<ReturnType<typeof open>>[] = [];
  for (let count = 0; count < 4; count += 1) {
    const one = await open(GET);
    await eventually(async () => one.text.includes('200 OK'));
    idle.push(one);
  }
  sockets[0]?.write(GET);
  await eventually(async () => idle[0]?.text.split('200 OK').length === 3);
  const next = await open(GET);

  await eventually(async () => next.text.includes('200 OK'));
  await eventually(async () => idle[1]?.isClosed === true);
  expect(idle.map(({ isClosed }) => isClosed)).toEqual([false, true, false, false]);
});

test.each([
  ['sent no byte', ''],
  ['drip the head of a request', HALF_A_HEAD],
  ['drip the body of a request', HALF_A_BODY],
])('when all connections have %s, then a caller is answered', async (_what, text) => {
  // Most operations answer when the whole body is there.
  const answerAtEnd: RequestListener = (request, response) => request.resume().once('end', () => response.end('ok'));
  await start(answerAtEnd, (it) => limitConnections(it, 6));
  const hostile: Awaited<ReturnType<typeof open>>[] = [];
  for (let count = 0; count < 6; count += 1) hostile.push(await open(text));
  await eventually(async () => (await connectionsOf(server)) === 6);
  for (const socket of sockets) if (text) socket.write('a');
  const caller = await open(GET);

  await eventually(async () => caller.text.includes('200 OK'));
  await eventually(async () => hostile[0]?.isClosed === true);
  expect(hostile.slice(1).map(({ isClosed }) => isClosed)).toEqual(Array(5).fill(false));
});

test('when all connections are in use, then the next caller takes none of them', async () => {
  let heard = 0;
  await start(
    () => {
      heard += 1;
    },
    (it) => limitConnections(it, 3),
  );
  const used = [await open(GET), await open(GET), await open(GET)];
  await eventually(async () => heard === 3);
  const next = await open(GET);

  await eventually(async () => next.isClosed);
  expect(used.map(({ isClosed }) => isClosed)).toEqual([false, false, false]);
});

test('when all connections are taken at once by callers who have sent requests, then each is answered', async () => {
  await start(answerAtOnce, (it) => limitConnections(it, 50));
  const callers = callFromOutside(100);
  blockUntil(callers.connected, 100);

  expect(await callers.answered).toBe(100);
});

// The system may be configured to keep fewer.
const canKeepThousand = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) >= 1_000;
(canKeepThousand ? test : test.skip)(
  'when a thousand callers connect while the process is busy, then the system keeps all their connections',
  async () => {
    server = createServer(answerAtOnce);
    const close = await listen(server, '127.0.0.1', 0, testLog);
    const callers = callFromOutside(1_000);
    blockUntil(callers.connected, 1_000);
    const connected = Atomics.load(callers.connected, 0);

    expect(await callers.answered).toBe(1_000);
    expect(connected).toBe(1_000);
    await close();
  },
);

test('when requests are pipelined, then each begins when the response before it was taken, and all are answered in order', async () => {
  const begun: string[] = [];
  const release: (() => void)[] = [];
  await start(
    oneAtATime(({ url = '' }, response) => {
      begun.push(url);
      release.push(() => response.end(`<${url}>`));
    }),
  );
  const seen = await open(['/1', '/2', '/3'].map((path) => GET.replace('GET /', `GET ${path}`)).join(''));

  await eventually(async () => begun.length === 1);
  for (const path of ['/1', '/2', '/3']) {
    await eventually(async () => begun.at(-1) === path);
    release.shift()?.();
  }

  await eventually(async () => seen.text.includes('</3>'));
  expect(begun).toEqual(['/1', '/2', '/3']);
  expect([...seen.text.matchAll(/<\/\d>/g)].map(String)).toEqual(['</1>', '</2>', '</3>']);
});

test('when a caller goes while its requests wait, then they never begin', async () => {
  const begun: string[] = [];
  await start(oneAtATime(({ url = '' }) => void begun.push(url)));
  await open(GET.repeat(5));
  await eventually(async () => begun.length === 1);
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually(async () => (await connectionsOf(server)) === 0);

  expect(begun).toHaveLength(1);
});

test('when a connection pipelines without end, then it is cut', async () => {
  let begun = 0;
  await start(
    oneAtATime(() => {
      begun += 1;
    }),
  );
  const seen = await open(GET.repeat(1_500));

  await eventually(async () => seen.isClosed);
  expect(begun).toBe(1);
});

function connectionsOf(of: Server): Promise<number> {
  return new Promise((resolve) => of.getConnections((_error, count) => resolve(count)));
}

/** Callers in a thread of their own: each connects and sends a request, also while this thread is blocked. */
function callFromOutside(count: number) {
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const { port } = server.address() as AddressInfo;
  const worker = new Worker(CALLERS, { eval: true, workerData: { count, port, request: GET, connected } });
  const answered = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return { connected, answered };
}

const CALLERS = `
const { connect } = require('node:net');
const { parentPort, workerData: { count, port, request, connected } } = require('node:worker_threads');
let open = count;
let answered = 0;
for (let caller = 0; caller < count; caller += 1) {
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => socket.write(request, () => {
    Atomics.add(connected, 0, 1);
    Atomics.notify(connected, 0);
  }));
  socket.once('data', () => { answered += 1; socket.destroy(); });
  socket.on('error', () => undefined).once('close', () => { open -= 1; if (open === 0) parentPort.postMessage(answered); });
}
`;

/** Stands for work that keeps the event loop from accepting and reading; ends when no further caller connects for five seconds. */
function blockUntil(connected: Int32Array, count: number) {
  for (let seen = Atomics.load(connected, 0); seen < count; seen = Atomics.load(connected, 0)) {
    if (Atomics.wait(connected, 0, seen, 5_000) === 'timed-out') return;
  }
}

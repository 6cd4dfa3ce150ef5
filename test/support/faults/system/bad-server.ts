// A server that does everything wrong that a server can do, chosen by the path, for receivers of webhooks and for images.
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface BadServer {
  port: number;
  close(): Promise<void>;
}

type Misbehaviour = (socket: Socket) => unknown;

const OK = 'HTTP/1.1 200 OK\r\n';
const status =
  (line: string, more = '') =>
  (socket: Socket) =>
    socket.end(`HTTP/1.1 ${line}\r\n${more}Content-Length: 0\r\nConnection: close\r\n\r\n`);
const image =
  (bytes: Buffer | string, type = 'image/png') =>
  (socket: Socket) => {
    socket.write(
      `${OK}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(bytes)}\r\nConnection: close\r\n\r\n`,
    );
    socket.end(bytes);
  };
/** The head of a PNG of 30,000 by 30,000 points, and nothing behind it. */
const PNG_BOMB = Buffer.from('89504e470d0a1a0a0000000d4948445200007530000075300806000000b9c5d6e0', 'hex');
const CHUNK = 64 * 1024;
/** Less than the four seconds an attempt may take here. */
const LATE_MS = 3_000;

/** Faults of the answer to a call. */
export const MISBEHAVIOURS: Record<string, Misbehaviour> = {
  'error-500': status('500 Internal Server Error'),
  'missing-404': status('404 Not Found'),
  'gone-410': status('410 Gone'),
  'busy-429': status('429 Too Many Requests', 'Retry-After: 1\r\n'),
  redirect: status('302 Found', 'Location: http://127.0.0.1:1/\r\n'),
  hangs: () => undefined,
  drips: async (socket) => {
    for (const letter of `${OK}Content-Length: 1000\r\n\r\n${'x'.repeat(1_000)}`) {
      if (socket.destroyed) return;
      socket.write(letter);
      await pause(1_000);
    }
  },
  endless: async (socket) => {
    socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
    while (!socket.destroyed) {
      const isRoom = socket.write(`${CHUNK.toString(16)}\r\n${'x'.repeat(CHUNK)}\r\n`);
      await (isRoom ? pause(1) : new Promise((resolve) => socket.once('drain', resolve).once('close', resolve)));
    }
  },
  'huge-headers': (socket) => socket.end(`${OK}X-Much: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
  reset: (socket) => socket.resetAndDestroy(),
  'wrong-length': (socket) => socket.end(`${OK}Content-Length: 1000\r\n\r\nshort`),
  late: async (socket) => {
    await pause(LATE_MS);
    socket.end(`${OK}Content-Length: 0\r\nConnection: close\r\n\r\n`);
  },
  empty: (socket) => socket.end(),
  garbage: (socket) => socket.end(randomBytes(2_000)),
};

/** Faults of a picture. */
export const BAD_IMAGES: Record<string, Misbehaviour> = {
  ...MISBEHAVIOURS,
  'html-as-png': image('<html><script>alert(1)</script></html>'),
  'no-bytes': image(''),
  bomb: image(PNG_BOMB),
  noise: image(randomBytes(20_000)),
  'wrong-type': image('plain text', 'text/plain'),
  'svg-with-script': image('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'),
};

export async function openBadServer(): Promise<BadServer> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined); // The caller has disconnected.
    socket.on('close', () => open.delete(socket));
    let head = '';
    socket.on('data', (bytes) => {
      if (head.includes('\r\n\r\n')) return;
      head += bytes.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const kind = /^\w+ \/([\w-]+)/.exec(head)?.[1] ?? '';
      void (BAD_IMAGES[kind] ?? BAD_IMAGES['reset'])?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

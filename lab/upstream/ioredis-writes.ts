// ioredis: each command is a write of its own to the socket, also when many are sent in one turn of the event loop.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { Redis } from 'ioredis';

const COMMANDS = 20;

/** Accepts the handshake and responds to every ping. */
const server = createServer((socket) =>
  socket.on('data', (bytes) => {
    const text = String(bytes);
    socket.write(text.includes('hello') ? '%0\r\n' : '+PONG\r\n'.repeat(text.split('ping').length - 1));
  }),
).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const redis = new Redis({ host: '127.0.0.1', port, enableReadyCheck: false, disableClientInfo: true });
await redis.ping();

let writes = 0;
const socket = redis.stream as unknown as Pick<Duplex, '_write' | '_writev'>;
const { _write: write, _writev: writeMany } = socket;
socket._write = (...args) => {
  writes += 1;
  return write.apply(socket, args);
};
socket._writev = (...args) => {
  writes += 1;
  return writeMany?.apply(socket, args);
};
await Promise.all(Array.from({ length: COMMANDS }, () => redis.ping()));
const verdict = writes > 1 ? 'still there' : 'repaired';
process.stdout.write(`ioredis, commands of one turn: ${verdict}: ${writes} writes for ${COMMANDS} commands\n`);
process.exit();

// ioredis: the error of a failed command carries its arguments, so a logger that prints an error's fields prints what was to be stored.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';

const SECRET = 'what the command was to store';

/** Accepts the handshake and rejects every other command. */
const server = createServer((socket) =>
  socket.on('data', (command) => socket.write(String(command).includes('hello') ? '%0\r\n' : '-ERR rejected\r\n')),
).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const redis = new Redis({ host: '127.0.0.1', port, enableReadyCheck: false, disableClientInfo: true });
const error = await redis.set('key', SECRET).catch((reason: object) => reason);
const verdict = JSON.stringify(error).includes(SECRET) ? 'still there' : 'repaired';
process.stdout.write(`ioredis, arguments in the fields of an error: ${verdict}\n`);
process.exit();

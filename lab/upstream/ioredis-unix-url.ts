// ioredis: a `unix://` URL, the form of redis-py and others, is not read as the path of a socket.
import { Redis } from 'ioredis';

const SOCKET = '/tmp/upstream.sock';

const { options } = new Redis(`unix://${SOCKET}`, { lazyConnect: true });
const verdict = options.path === SOCKET ? 'repaired' : `still there: the path is ${String(options.path)}`;
process.stdout.write(`ioredis, unix://${SOCKET}: ${verdict}\n`);

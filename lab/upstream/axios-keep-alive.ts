// axios: sets the keep-alive probe of a connection with every request, also when the connection and its agent have set another one.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Socket } from 'node:net';
import axios from 'axios';

const REQUESTS = 10;
const PROBE_AFTER_MS = 1_000;

const server = http.createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const agent = new http.Agent({ keepAlive: true, keepAliveMsecs: PROBE_AFTER_MS, maxSockets: 1 });

let others = 0;
const { setKeepAlive } = Socket.prototype;
Socket.prototype.setKeepAlive = function (this: Socket, ...args: unknown[]) {
  if (args[1] !== PROBE_AFTER_MS) others += 1;
  return setKeepAlive.apply(this, args as Parameters<typeof setKeepAlive>);
} as typeof setKeepAlive;
for (let count = 0; count < REQUESTS; count += 1) await axios.get(url, { httpAgent: agent });
agent.destroy();
server.close();
const verdict = others > 0 ? 'still there' : 'repaired';
process.stdout.write(
  `axios ${axios.VERSION}, the agent's keep-alive probe: ${verdict}: replaced ${others} times in ${REQUESTS} requests\n`,
);

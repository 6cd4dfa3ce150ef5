// A server that answers everything at once: what a neighbour's program alone takes from the victims. Started by main.ts.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setLowPriority } from './low-priority.ts';

/** Enough for programs that use the id of what they made. */
const BODY = JSON.stringify({ success: true, data: { id: '00000000-0000-7000-8000-000000000000' } });

setLowPriority();
const server = http.createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(201, { 'Content-Type': 'application/json' }).end(BODY));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());

// A caller that leaves while its request waits: the body is missing, and that is no error of the gateway.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import express from 'express';
import { jsonReader } from '../../../services/gateway/http/read-json.ts';

test('when the connection has ended before the body is read, then the request ends with 499', async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const app = express();
  app.post('/', async (request: Request, response: Response) => {
    await once(request.socket, 'close');
    resolve(await jsonReader(1024)(request, response).catch((error: unknown) => error));
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
  await once(server, 'request');
  socket.destroy();

  expect(await promise).toMatchObject({ status: 499 });
  server.close();
});

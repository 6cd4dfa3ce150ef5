// The public port while it closes: requests in flight get responses, and no idle connection keeps the process alive.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { listen } from '#libs/http/listen.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const agents: Agent[] = [];
let server: Server;

afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
  server.closeAllConnections();
});

async function open(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  server = createServer(answer);
  const close = await listen(server, '127.0.0.1', 0, testLog);
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  const { port } = server.address() as AddressInfo;
  const get = () =>
    new Promise<{ text: string; connection: string | undefined }>((resolve, reject) => {
      request({ port, agent }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => resolve({ text, connection: response.headers.connection }));
      })
        .on('error', reject)
        .end();
    });
  return { close, get };
}

test('when it closes in the middle of a request, then the response is sent, ends the connection, and nothing waits for the limit', async () => {
  let answer: ServerResponse | undefined;
  const { close, get } = await open((_request, response) => {
    answer = response;
  });
  const asked = get();
  const pending = await eventually(() => answer);
  const closed = close();
  pending.end('done');

  expect(await asked).toEqual({ text: 'done', connection: 'close' });
  await closed; // The limit of 34 s would outlast the test.
}, 10_000);

test('when a kept connection is used while it closes, then that request is answered too', async () => {
  const { close, get } = await open((_request, response) => void response.end('here'));
  expect(await get()).toEqual({ text: 'here', connection: 'keep-alive' });

  const closed = close();

  expect(await get()).toEqual({ text: 'here', connection: 'close' });
  await closed;
}, 10_000);

test('when a response had begun before it closes, then it is finished and its connection does not stay open', async () => {
  let body: ServerResponse | undefined;
  const { close, get } = await open((_request, response) => {
    response.write('first ');
    body = response;
  });
  const asked = get();
  const begun = await eventually(() => body?.headersSent && body);
  const closed = close();
  begun.end('last');

  expect(await asked).toEqual({ text: 'first last', connection: 'keep-alive' });
  await closed;
}, 10_000);

test('when a response that had begun ends while it closes, then the other kept connections are still served', async () => {
  let body: ServerResponse | undefined;
  const { close, get } = await open((_request, response) => {
    if (body) return void response.end('here');
    response.write('first ');
    body = response;
  });
  const asked = get();
  const begun = await eventually(() => body?.headersSent && body);
  const { port } = server.address() as AddressInfo;
  const kept = connect(port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  kept.on('data', (chunk) => (text += String(chunk)));
  kept.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => text.includes('here'));

  const closed = close();
  begun.end('last');
  await Promise.all([asked, once(begun, 'close')]);
  await setImmediate();
  text = '';
  kept.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');

  await once(kept, 'close');
  expect(text).toMatch(/Connection: close[\s\S]*here/);
  await closed;
}, 10_000);

test('when a connection has sent nothing, then it does not keep the server from closing', async () => {
  const { close } = await open((_request, response) => void response.end('here'));
  const { port } = server.address() as AddressInfo;
  const silent = connect(port, '127.0.0.1');
  await Promise.all([once(silent, 'connect'), once(server, 'connection')]);

  const closed = once(silent, 'close');
  await close(); // The limit of 34 s would outlast the test.
  await closed;
}, 20_000);

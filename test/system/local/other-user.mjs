// Runs as another user and prints what it can access: argument { ports, paths, sockets }, result as JSON. Needs nothing but Node.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';

const RESPONSE_LIMIT_MS = 2_000;
const HTTP_PATHS = ['/', '/deliveries', '/hook', '/metrics', '/readyz?verbose', '/api/v1/clients', '/events'];
const { ports, paths, sockets } = JSON.parse(process.argv[2]);

process.stdout.write(
  JSON.stringify({
    ports: Object.fromEntries(await Promise.all(ports.map(async (port) => [port, await askPort(port)]))),
    paths: Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, await outcomeOf(access(path, constants.R_OK))])),
    ),
    sockets: Object.fromEntries(
      await Promise.all(sockets.map(async (path) => [path, await outcomeOf(dial({ path }))])),
    ),
  }),
);

async function askPort(port) {
  const http = {};
  for (const path of HTTP_PATHS) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(RESPONSE_LIMIT_MS),
    }).catch(() => undefined);
    http[path] = { status: response?.status ?? 0, body: (await response?.text().catch(() => '')) ?? '' };
  }
  return { store: await dial({ port, host: '127.0.0.1' }, 'PING\r\n').catch(({ code }) => code), http };
}

function dial(address, text) {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    let heard = '';
    socket.setTimeout(RESPONSE_LIMIT_MS, () => socket.destroy());
    socket.on('error', reject);
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    socket.on('close', () => resolve(heard));
    socket.on('connect', () => (text ? socket.end(text) : socket.destroy()));
  });
}

async function outcomeOf(promise) {
  return await promise.then(
    () => 'open',
    ({ code }) => code,
  );
}

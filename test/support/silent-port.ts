// A port that loses every packet, as the address of a pod or node that has just gone does: attempts to connect get no answer.
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const ANSWER_LIMIT_MS = 300;

/** Listens and never accepts. The kernel drops packets of new connections once the queue of waiting ones is full. */
const LISTEN = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

export async function openSilentPort(): Promise<{ port: number; close(): Promise<unknown> }> {
  const listener = new Worker(LISTEN, { eval: true });
  const port = await new Promise<number>((resolve) => listener.once('message', resolve));
  const waiting: Socket[] = [];
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    waiting.push(socket);
    await pause(ANSWER_LIMIT_MS);
    await nextTurn(); // A process that stood still reads only now what has come meanwhile.
    isFull = socket.connecting;
  }
  return {
    port,
    close() {
      for (const socket of waiting) socket.destroy();
      return listener.terminate();
    },
  };
}

// Counts the bytes between this process and MongoDB.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** To be called before the connection is made. @param uri called once it is known. */
export function countBytes(uri: () => string) {
  /** With the largest message of each since the last look. */
  const sockets = new Map<Socket, Largest>();
  const remember = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    sockets.set(socket, largestMessage(socket));
  };
  subscribe('net.client.socket', remember);
  const ofStore = () => {
    const { port } = new URL(uri().replace(/^mongodb:/, 'http:'));
    return [...sockets].filter(([socket]) => String(socket.remotePort) === port);
  };
  const total = () => {
    const ours = ofStore().map(([socket]) => socket);
    return {
      read: ours.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      sent: ours.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    };
  };
  return {
    /** Since the first connection. */
    total,
    /** Bytes of the largest response of MongoDB since the last call. The driver decodes a response in one turn of the event loop. */
    largest() {
      const found = ofStore().map(([, largest]) => largest);
      const bytes = Math.max(0, ...found.map((one) => one.bytes));
      for (const one of found) one.bytes = 0;
      return bytes;
    },
    async during(work: () => Promise<unknown>) {
      const before = total();
      await work();
      const after = total();
      return { read: after.read - before.read, sent: after.sent - before.sent };
    },
    close: () => unsubscribe('net.client.socket', remember),
  };
}

interface Largest {
  bytes: number;
}

const LENGTH_BYTES = 4;

/** Reads the lengths at the start of the messages (MongoDB wire protocol). */
function largestMessage(socket: Socket): Largest {
  const largest = { bytes: 0 };
  let head = Buffer.alloc(0);
  let left = 0;
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        const more = chunk.subarray(at, at + LENGTH_BYTES - head.length);
        head = Buffer.concat([head, more]);
        at += more.length;
        if (head.length < LENGTH_BYTES) return;
        const length = head.readInt32LE(0);
        largest.bytes = Math.max(largest.bytes, length);
        left = Math.max(0, length - LENGTH_BYTES);
        head = Buffer.alloc(0);
      }
      const taken = Math.min(left, chunk.length - at);
      left -= taken;
      at += taken;
    }
  });
  return largest;
}

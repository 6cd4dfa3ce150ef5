// Counts the bytes between this process and MongoDB.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** To be called before the connection is made. @param uri called once it is known. */
export function countBytes(uri: () => string) {
  const sockets = new Set<Socket>();
  const remember = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
  subscribe('net.client.socket', remember);
  const total = () => {
    const { port } = new URL(uri().replace(/^mongodb:/, 'http:'));
    const ours = [...sockets].filter((socket) => String(socket.remotePort) === port);
    return {
      read: ours.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
      sent: ours.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    };
  };
  return {
    /** Since the first connection. */
    total,
    async during(work: () => Promise<unknown>) {
      const before = total();
      await work();
      const after = total();
      return { read: after.read - before.read, sent: after.sent - before.sent };
    },
    close: () => unsubscribe('net.client.socket', remember),
  };
}

// Works around a fault of the driver (mongodb 7.8 and 7.9). A command that is being written while its connection closes
// waits for a `drain` event that never comes, so neither the command nor its caller returns.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

interface Connection {
  readonly closed: boolean;
  readonly socket: Socket;
  /** Closes the connection. Commands in flight fail with `error`, except the one that is being written. */
  cleanup(error: Error): void;
}

/** The copy of the driver that mongoose loads, whatever other versions are installed. */
const driver = createRequire(createRequire(import.meta.url).resolve('mongoose'));
let isRepaired = false;

/**
 * Makes a command fail when its connection closes while it is written. Patches all connections of this process, once.
 */
export function repairConnections(): void {
  if (isRepaired) return;
  isRepaired = true;
  const { Connection } = driver('mongodb/lib/cmap/connection.js') as { Connection: { prototype: Connection } };
  const { prototype } = Connection;
  const { cleanup } = prototype;
  prototype.cleanup = function cleanupAndFailWrite(error) {
    if (this.closed) return;
    cleanup.call(this, error);
    const { socket } = this;
    // A command that is still being compressed writes after this point.
    socket.write = () => {
      throw error;
    };
    socket.emit('error', error); // The pending write listens for nothing else.
  };
}

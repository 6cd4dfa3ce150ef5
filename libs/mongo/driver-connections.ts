// What the driver (mongodb 7.8 and 7.9) lacks: a command that it begins to write on a connection that ends at this moment waits until the
// socket takes more, which it never will, and nobody tells it: the command hangs for ever, and whoever waits for it.
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

interface Connection {
  readonly closed: boolean;
  readonly socket: Socket;
  /** Ends it: commands in hand fail with `error`, except the one that is being written. */
  cleanup(error: Error): void;
}

/** The driver of mongoose, whatever other versions there are. */
const driver = createRequire(createRequire(import.meta.url).resolve('mongoose'));
let isRepaired = false;

/** From now on a command fails like all others when its connection ends while it is written. Once for all connections of this process. */
export function repairConnections(): void {
  if (isRepaired) return;
  isRepaired = true;
  const { Connection } = driver('mongodb/lib/cmap/connection.js') as { Connection: { prototype: Connection } };
  const { prototype } = Connection;
  const { cleanup } = prototype;
  prototype.cleanup = function cleanupAndTell(error) {
    if (this.closed) return;
    cleanup.call(this, error);
    const { socket } = this;
    // A command that is still being compressed comes to write only now.
    socket.write = () => {
      throw error;
    };
    socket.emit('error', error); // Who writes listens for nothing else. The connection does, too, and has just ended.
  };
}

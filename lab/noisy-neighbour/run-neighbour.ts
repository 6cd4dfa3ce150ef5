// Starts a neighbour as a process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './post-steadily.ts';

/** The task of a neighbour's process. */
export interface Order {
  name: string;
  target: Omit<Target, 'signal' | 'begin'>;
}

export interface RunningNeighbour {
  pid: number;
  /** Ends it. @returns how many requests or connections it made. */
  end(): Promise<number>;
}

/** @returns once what it needs is made and it has begun. */
export async function runNeighbour(order: Order): Promise<RunningNeighbour> {
  const child = fork(new URL('neighbour-process.ts', import.meta.url));
  // One that ends by itself has failed: a row of it would show a system without a neighbour.
  const exited = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`the neighbour ended with ${code}`);
  });
  exited.catch(() => undefined);
  await once(child, 'message'); // It is ready.
  let requests = 0;
  const begun = new Promise<void>((resolve) => {
    child.on('message', (message: 'begun' | { requests: number }) => {
      if (message === 'begun') resolve();
      else requests = message.requests;
    });
  });
  child.send(order);
  await Promise.race([begun, exited]);
  return {
    pid: child.pid as number, // It has sent a message.
    async end() {
      if (child.connected) child.send('stop');
      await exited;
      return requests;
    },
  };
}

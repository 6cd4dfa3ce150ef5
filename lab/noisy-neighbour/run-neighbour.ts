// Starts a hostile account as a process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './post-steadily.ts';

/** @returns what ends it and tells how many requests or connections it made. */
export async function runNeighbour(name: string, target: Omit<Target, 'signal'>): Promise<() => Promise<number>> {
  const child = fork(new URL('neighbour-process.ts', import.meta.url));
  const exited = once(child, 'exit');
  await once(child, 'message'); // It is ready.
  let requests = 0;
  child.on('message', (count) => {
    requests = Number(count);
  });
  child.send({ name, target });
  return async () => {
    if (child.connected) child.send('stop');
    await exited;
    return requests;
  };
}

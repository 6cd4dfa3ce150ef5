// A hostile account in a process of its own, so that its work is not mistaken for a wait of the victim. Started by run-neighbour.ts.
import { setPriority } from 'node:os';
import { NEIGHBOURS } from './neighbours.ts';
import type { Target } from './post-steadily.ts';

/** A real neighbour works on a machine of its own: here it gets what processor time the system leaves. */
const LOW_PRIORITY = 15;

setPriority(LOW_PRIORITY);
const over = new AbortController();

process.on('message', (message: { name: string; target: Omit<Target, 'signal'> } | 'stop') => {
  if (message === 'stop') return over.abort();
  const neighbour = NEIGHBOURS.find(({ name }) => name === message.name);
  if (!neighbour) throw new Error(`there is no neighbour ${message.name}`);
  void neighbour.attack({ ...message.target, signal: over.signal }).then((requests) => {
    process.send?.(requests);
    process.disconnect();
  });
});
process.send?.('ready');

// A neighbour's account in a process of its own, so that its work is not mistaken for a wait of the victim. Started by run-neighbour.ts.
import { setLowPriority } from './low-priority.ts';
import { NEIGHBOURS } from './neighbours.ts';
import type { Order } from './run-neighbour.ts';

// A real neighbour works on a machine of its own: here it gets what processor time the system leaves.
setLowPriority();
const over = new AbortController();

process.on('message', (message: Order | 'stop') => {
  if (message === 'stop') return over.abort();
  const neighbour = NEIGHBOURS.find(({ name }) => name === message.name);
  if (!neighbour) throw new Error(`there is no neighbour ${message.name}`);
  const begin = () => void process.send?.('begun');
  void neighbour.attack({ ...message.target, signal: over.signal, begin }).then((requests) => {
    process.send?.({ requests });
    process.disconnect();
  });
});
process.send?.('ready');

// Runs what a request must undo when its response is closed: one listener for all of it, because Node warns of a leak from eleven on.
import type { ServerResponse } from 'node:http';

const pending = new WeakMap<ServerResponse, (() => void)[]>();

/** @param undo runs at once when the response is closed already: the caller left, and no `close` follows. */
export function whenClosed(response: ServerResponse, undo: () => void): void {
  if (response.closed) {
    undo();
    return;
  }
  const known = pending.get(response);
  if (known) {
    known.push(undo);
    return;
  }
  const all = [undo];
  pending.set(response, all);
  response.once('close', () => {
    for (const one of all) one();
  });
}

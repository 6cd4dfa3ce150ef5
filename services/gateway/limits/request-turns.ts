// Accounts with many requests at the same time begin them in turn, so that no other request waits for all of them.
import type { Response } from 'express';
import { openFairLimit } from '#libs/fair-limit.ts';
import type { Id } from '#libs/models/tenant.ts';

/** So many at the same time begin as they come. */
const AT_ONCE = 4;

export interface RequestTurns {
  /** Waits while requests of accounts with many begin, one in each turn of the event loop. Counts until the response is closed. */
  begin(accountId: Id, response: Response): Promise<void> | undefined;
}

export function openRequestTurns(): RequestTurns {
  const limit = openFairLimit(1);
  const inFlight = new Map<Id, number>();

  return {
    begin(accountId, response) {
      if (response.closed) return undefined;
      const count = (inFlight.get(accountId) ?? 0) + 1;
      inFlight.set(accountId, count);
      response.once('close', () => {
        const left = (inFlight.get(accountId) ?? 0) - 1;
        if (left > 0) inFlight.set(accountId, left);
        else inFlight.delete(accountId);
      });
      if (count <= AT_ONCE) return undefined;
      // Not a signal of the response, which a queue would keep in memory: the wait is short.
      return limit.acquire(accountId, new AbortController().signal).then((release) => void setImmediate(release));
    },
  };
}

// Fair share of request starts: an account with more than four requests in flight starts further ones round-robin with other accounts.
import type { Response } from 'express';
import { openFairLimit } from '#libs/fair-limit.ts';
import type { Id } from '#libs/models/tenant.ts';
import { whenClosed } from './when-closed.ts';

/** Requests of an account that start at once. */
const AT_ONCE = 4;

export interface RequestFairShare {
  /** Resolves when the request may start: at most one per iteration of the event loop. The request counts until its response is closed. */
  start(accountId: Id, response: Response): Promise<void> | undefined;
}

export function openRequestFairShare(): RequestFairShare {
  const limit = openFairLimit(1);
  const inFlight = new Map<Id, number>();

  return {
    start(accountId, response) {
      if (response.closed) return undefined;
      const count = (inFlight.get(accountId) ?? 0) + 1;
      inFlight.set(accountId, count);
      whenClosed(response, () => {
        const left = (inFlight.get(accountId) ?? 0) - 1;
        if (left > 0) inFlight.set(accountId, left);
        else inFlight.delete(accountId);
      });
      if (count <= AT_ONCE) return undefined;
      return limit.acquire(accountId).then((release) => void setImmediate(release));
    },
  };
}

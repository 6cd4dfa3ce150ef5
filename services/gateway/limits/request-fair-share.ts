// Fair share of request starts: beside other accounts, one with more than four requests in flight starts further ones round-robin.
import type { Response } from 'express';
import { openFairLimit } from '#libs/fair-limit.ts';
import { whenClosed } from '#libs/http/when-closed.ts';
import type { Id } from '#libs/models/tenant.ts';

/** Requests of an account that start at once. */
const AT_ONCE = 4;
/** An account that was the only one for so long shares with no other account: queuing its requests would only slow it down. */
const ALONE_MS = 1_000;

export interface RequestFairShare {
  /** Resolves when the request may start: at most one per iteration of the event loop. The request counts until its response is closed. */
  start(accountId: Id, response: Response): Promise<void> | undefined;
  /** True while requests of several accounts come. */
  isShared(): boolean;
}

/** @param aloneMs a second unless given. */
export function openRequestFairShare(aloneMs = ALONE_MS): RequestFairShare {
  const limit = openFairLimit(1);
  const inFlight = new Map<Id, number>();
  let latest: Id | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;

  function recordArrival(accountId: Id) {
    if (accountId === latest) return;
    // Before the first arrival no other account was there, so the gateway is not shared yet.
    if (latest !== undefined) changedAt = performance.now();
    latest = accountId;
  }

  const isShared = () => performance.now() - changedAt <= aloneMs;

  return {
    isShared,
    start(accountId, response) {
      if (response.closed) return undefined;
      recordArrival(accountId);
      const count = (inFlight.get(accountId) ?? 0) + 1;
      inFlight.set(accountId, count);
      whenClosed(response, () => {
        const left = (inFlight.get(accountId) ?? 0) - 1;
        if (left > 0) inFlight.set(accountId, left);
        else inFlight.delete(accountId);
      });
      if (!isShared() || count <= AT_ONCE) return undefined;
      return limit.acquire(accountId).then((release) => void setImmediate(release));
    },
  };
}

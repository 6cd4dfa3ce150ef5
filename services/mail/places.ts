// Places for work of accounts: at most one at a time of an account, and at most so many in all.
import { Semaphore } from 'es-toolkit/promise/semaphore';
import type { Id } from '#libs/models/tenant.ts';

/** Waits for a place. The returned function, called once, gives it up. */
export type EnterPlace = (accountId: Id) => Promise<() => void>;

/** Opens places that are given in the order in which they were asked for. @param count any number unless given. */
export function openPlaces(count = Number.POSITIVE_INFINITY): EnterPlace {
  const places = new Semaphore(count);
  /** The latest work of each account that has a place or waits for one. */
  const latest = new Map<Id, Promise<void>>();
  return async (accountId) => {
    const before = latest.get(accountId);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    latest.set(accountId, over);
    await before;
    await places.acquire();
    return () => {
      places.release();
      end();
      if (latest.get(accountId) === over) latest.delete(accountId);
    };
  };
}

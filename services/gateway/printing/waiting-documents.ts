// The documents of this gateway that wait for a renderer or are printed, and the places reserved for further ones.
import type { Id } from '#libs/models/tenant.ts';

/** From the reservation until a key is looked up and a body read. Not longer: a caller must not keep others out by connecting alone. */
const RESERVED_MS = 250;
/** A document that waits longer for an image has left its page to others. */
const IMAGE_MS = 1_000;

export interface Waiter {
  accountId: Id;
  since: number;
  /** Estimated. */
  pages: number;
  isSlow: boolean;
  hasRemoteImages: boolean;
}

export function openWaitingDocuments() {
  /** The oldest first. */
  const waiting = new Set<Waiter>();
  /** By request. */
  const reserved = new Map<string, { accountId: Id; at: number }>();

  return {
    count: () => waiting.size,
    add: (waiter: Waiter) => void waiting.add(waiter),
    /** @returns false when it was removed before. */
    remove: (waiter: Waiter) => waiting.delete(waiter),
    oldest(): Waiter | undefined {
      const [oldest] = waiting;
      return oldest;
    },

    reserve(requestId: string, accountId: Id) {
      reserved.delete(requestId); // Ids are the callers' own: one that comes again stands last.
      reserved.set(requestId, { accountId, at: performance.now() });
    },
    cancelReservation: (requestId: string) => void reserved.delete(requestId),
    dropOldReservations() {
      const now = performance.now();
      for (const [id, { at }] of reserved) {
        if (now - at < RESERVED_MS) break;
        reserved.delete(id);
      }
    },

    /** Documents and reservations, without that of the request which asks. */
    present(requestId: string | undefined): number {
      return waiting.size + reserved.size - (requestId !== undefined && reserved.has(requestId) ? 1 : 0);
    },

    of(accountId: Id): { documents: number; pages: number } {
      let documents = 0;
      let pages = 0;
      for (const waiter of waiting) {
        if (waiter.accountId !== accountId) continue;
        documents += 1;
        pages += waiter.pages;
      }
      return { documents, pages };
    },

    /** Documents that a further one of this account queues behind: of each account as many as this one has, and one. */
    ahead(accountId: Id | undefined, isSlow: boolean): number {
      const now = performance.now();
      const ofAccount = new Map<Id, number>();
      const count = (id: Id) => ofAccount.set(id, (ofAccount.get(id) ?? 0) + 1);
      for (const waiter of waiting) {
        // Slow documents have slots of their own.
        if (waiter.isSlow !== isSlow) continue;
        if (waiter.hasRemoteImages && now - waiter.since > IMAGE_MS) continue;
        count(waiter.accountId);
      }
      if (!isSlow) for (const one of reserved.values()) count(one.accountId);
      const own = (accountId !== undefined && ofAccount.get(accountId)) || 0;
      let sum = 0;
      for (const documents of ofAccount.values()) sum += Math.min(documents, own + 1);
      return sum;
    },

    /** True while a document of another account waits for more than a moment, and not for an image. */
    isAnotherDelayed(accountId: Id): boolean {
      const now = performance.now();
      for (const waiter of waiting) {
        if (waiter.accountId !== accountId && !waiter.hasRemoteImages && now - waiter.since > IMAGE_MS) return true;
      }
      return false;
    },
  };
}

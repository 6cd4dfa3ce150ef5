// The documents of this gateway that wait for a renderer or are printed, and the places reserved for further ones.
import type { Id } from '../models/tenant.ts';

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

/** Waiting work of one account. It is kept as a running count, because in an overload hundreds of rejections a second read it. */
interface Load {
  pages: number;
  short: number;
  slow: number;
  reservations: number;
}

export function openWaitingDocuments() {
  /** The oldest first. */
  const waiting = new Set<Waiter>();
  const withRemoteImages = new Set<Waiter>();
  /** Reserved places by the id of the request. */
  const reserved = new Map<string, { accountId: Id; at: number }>();
  const loads = new Map<Id, Load>();

  function change(accountId: Id, by: Partial<Load>) {
    const load = loads.get(accountId) ?? { pages: 0, short: 0, slow: 0, reservations: 0 };
    for (const [name, count] of Object.entries(by)) load[name as keyof Load] += count;
    if (load.short + load.slow + load.reservations > 0) loads.set(accountId, load);
    else loads.delete(accountId);
  }

  function countDocument({ accountId, pages, isSlow }: Waiter, by: 1 | -1) {
    change(accountId, { pages: by * pages, [isSlow ? 'slow' : 'short']: by });
  }

  function cancelReservation(requestId: string) {
    const reservation = reserved.get(requestId);
    if (!reservation) return;
    reserved.delete(requestId);
    change(reservation.accountId, { reservations: -1 });
  }

  /** Documents of each account that left their page to others while they wait for an image. */
  function offTheirPage(isSlow: boolean) {
    const now = performance.now();
    const counts = new Map<Id, number>();
    for (const waiter of withRemoteImages) {
      if (waiter.isSlow !== isSlow || now - waiter.since <= IMAGE_MS) continue;
      counts.set(waiter.accountId, (counts.get(waiter.accountId) ?? 0) + 1);
    }
    return counts;
  }

  return {
    count: () => waiting.size,
    add(waiter: Waiter) {
      waiting.add(waiter);
      if (waiter.hasRemoteImages) withRemoteImages.add(waiter);
      countDocument(waiter, 1);
    },
    /** @returns false when it was removed before. */
    remove(waiter: Waiter): boolean {
      if (!waiting.delete(waiter)) return false;
      withRemoteImages.delete(waiter);
      countDocument(waiter, -1);
      return true;
    },
    oldest(): Waiter | undefined {
      const [oldest] = waiting;
      return oldest;
    },

    reserve(requestId: string, accountId: Id) {
      cancelReservation(requestId); // Ids are the callers' own: one that comes again stands last.
      reserved.set(requestId, { accountId, at: performance.now() });
      change(accountId, { reservations: 1 });
    },
    cancelReservation,
    dropOldReservations() {
      const now = performance.now();
      for (const [id, { at }] of reserved) {
        if (now - at < RESERVED_MS) break;
        cancelReservation(id);
      }
    },

    /** Documents and reservations, without that of the request which asks. */
    present(requestId: string | undefined): number {
      return waiting.size + reserved.size - (requestId !== undefined && reserved.has(requestId) ? 1 : 0);
    },

    of(accountId: Id): { documents: number; pages: number } {
      const { pages, short, slow } = loads.get(accountId) ?? { pages: 0, short: 0, slow: 0 };
      return { documents: short + slow, pages };
    },

    /** Documents that a further one of this account queues behind: of each account as many as this one has, and one. */
    ahead(accountId: Id | undefined, isSlow: boolean): number {
      const away = offTheirPage(isSlow);
      const queued = (id: Id, { short, slow, reservations }: Load) =>
        (isSlow ? slow : short + reservations) - (away.get(id) ?? 0); // Slow documents have slots of their own.
      const own = accountId === undefined ? undefined : loads.get(accountId);
      const places = (accountId !== undefined && own ? queued(accountId, own) : 0) + 1;
      let sum = 0;
      for (const [id, load] of loads) sum += Math.min(queued(id, load), places);
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

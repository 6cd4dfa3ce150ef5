// How much renderer time each account used lately.
import type { Id } from '../models/tenant.ts';

/** The time that renderers spent on an account's documents counts half after a minute. */
const HALF_LIFE_MS = 60_000;

/** Renderer time by account; older time counts less and less. */
export function openShares() {
  const shares = new Map<Id, { ms: number; at: number }>();
  const now = () => performance.now();
  const faded = ({ ms, at }: { ms: number; at: number }) => ms * 0.5 ** ((now() - at) / HALF_LIFE_MS);
  return {
    add(accountId: Id, ms: number) {
      if (ms <= 0) return;
      const share = shares.get(accountId);
      shares.delete(accountId);
      shares.set(accountId, { ms: ms + (share ? faded(share) : 0), at: now() });
      // The share that was used longest ago comes first. Shares that have faded away are forgotten.
      for (const [id, old] of shares) {
        if (faded(old) >= 1) break;
        shares.delete(id);
      }
    },
    of(accountId: Id) {
      let all = 0;
      for (const share of shares.values()) all += faded(share);
      const own = shares.get(accountId);
      return { own: own ? faded(own) : 0, all };
    },
  };
}

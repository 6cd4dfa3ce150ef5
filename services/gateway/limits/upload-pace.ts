// Reads the large bodies of an account at a limited pace: the event loop spends as much on receiving one as on parsing it.
import { setTimeout as pause } from 'node:timers/promises';
import type { Id } from '#libs/models/tenant.ts';

const MIB = 1024 * 1024;
/** More than ordinary callers send: five documents a second with the largest logo as a data URI. */
const BYTES_PER_SECOND = 16 * MIB;
/** Read without a pause after a second without large bodies. */
const BURST_BYTES = 16 * MIB;

export interface UploadPace {
  /** Resolves when the next large body of the account may be read; undefined when it may be read now. */
  ready(accountId: Id): Promise<void> | undefined;
  /** Called when a body was read: until then the size of one without a length is unknown. */
  add(accountId: Id, bytes: number): void;
}

/** @param limits of each account on this gateway. */
export function openUploadPace({ bytesPerSecond = BYTES_PER_SECOND, burstBytes = BURST_BYTES } = {}): UploadPace {
  const msOf = (bytes: number) => (bytes / bytesPerSecond) * 1_000;
  /** When an account may go on. The longest unused first. */
  const readyAt = new Map<Id, number>();

  return {
    ready(accountId) {
      const waitMs = (readyAt.get(accountId) ?? 0) - performance.now();
      return waitMs > 0 ? pause(waitMs, undefined, { ref: false }) : undefined;
    },
    add(accountId, bytes) {
      const earliest = performance.now() - msOf(burstBytes);
      for (const [id, at] of readyAt) {
        if (at > earliest) break;
        readyAt.delete(id);
      }
      const at = Math.max(readyAt.get(accountId) ?? earliest, earliest) + msOf(bytes);
      readyAt.delete(accountId);
      readyAt.set(accountId, at);
    },
  };
}

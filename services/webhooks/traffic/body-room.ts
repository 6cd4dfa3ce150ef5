// Bounds the bytes of large bodies that attempts in flight have in memory. Each is there twice, as a text and as the
// bytes that are sent.
import { SMALL_EVENT_BYTES } from '../store/events.ts';

/** The limit of one process. */
const LARGE_BODIES_MAX_BYTES = 32 * 1024 * 1024;

export interface BodyRoom {
  /**
   * Takes room.
   * @returns a function that gives it back, or undefined while there is too little. Small bodies need none: the slots
   * bound them.
   */
  take(bytes: number): (() => void) | undefined;
}

export function openBodyRoom(maxBytes: number = LARGE_BODIES_MAX_BYTES): BodyRoom {
  let taken = 0;
  return {
    take(bytes) {
      if (bytes <= SMALL_EVENT_BYTES) return () => undefined;
      // A body that is larger than the room is sent alone.
      if (taken > 0 && taken + bytes > maxBytes) return undefined;
      taken += bytes;
      return () => {
        taken -= bytes;
      };
    },
  };
}

// Works around a leak of the driver (mongodb 7.8): it tracks open sessions and cursors in a Set. Under load V8 retains entries that
// were deleted from such a Set until a full collection, and a session retains the responses it received.
import type { mongo } from 'mongoose';
import { LeakFreeSet } from '../leak-free.ts';

type Ending = 'activeSessions' | 'activeCursors';
interface Client {
  s: Record<Ending, Iterable<object>>;
}

/** Makes a client release ended sessions and cursors at once. Why: docs/adr/0021-avoid-retaining-settled-requests.md */
export function forgetEnded(client: mongo.MongoClient): void {
  const { s } = client as unknown as Client;
  s.activeSessions = new LeakFreeSet(s.activeSessions);
  s.activeCursors = new LeakFreeSet(s.activeCursors);
}

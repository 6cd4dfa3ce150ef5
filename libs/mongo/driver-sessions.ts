// The driver (mongodb 7.8) notes every session and cursor that has not ended in a Set, for the day it is closed. Under load V8 keeps what has left
// such a Set until it looks through all of its memory, and a session holds on to the answers it brought.
import type { mongo } from 'mongoose';
import { LeakFreeSet } from '../leak-free.ts';

type Ending = 'activeSessions' | 'activeCursors';
interface Client {
  s: Record<Ending, Iterable<object>>;
}

/** Makes a client forget at once what has ended. Why: docs/adr/0021-avoid-retaining-settled-requests.md */
export function forgetEnded(client: mongo.MongoClient): void {
  const { s } = client as unknown as Client;
  s.activeSessions = new LeakFreeSet(s.activeSessions);
  s.activeCursors = new LeakFreeSet(s.activeCursors);
}

// The backlog of the relay: events that were committed and have no deliveries yet.
import { agreedDate } from '../../clock.ts';
import { acrossAccounts } from '../tenant.ts';
import { AT_ONCE, Event, type EventRecord } from './event.ts';

export interface OutboxState {
  /** The number of waiting events, counted up to WAITING_COUNTED_MAX. */
  waiting: number;
  /** The age of the oldest waiting event. 0 when none waits. */
  oldestMs: number;
}

export const WAITING_COUNTED_MAX = 10_000;
/**
 * The number of due events that are read. The first one due is not always the oldest, because a failed event is due
 * again later.
 */
const SAMPLE = 100;
/**
 * Longer than the time after which a relayed event is due again. An event that is due later was set aside, see
 * round-try.ts.
 */
const RELAYED_MS = 60_000;

/** Reads the backlog over all accounts. */
export async function readOutbox(now: Date = agreedDate()): Promise<OutboxState> {
  // Every waiting event matches this condition, so that the index alone counts them.
  const soon = new Date(now.getTime() + RELAYED_MS);
  const waits = { due_at: { $gte: AT_ONCE, $lte: soon } };
  const [waiting, first, relayed] = await Promise.all([
    Event.countDocuments(waits, { limit: WAITING_COUNTED_MAX }).setOptions(acrossAccounts),
    timesOf(waits),
    // An older event may be behind any number of new ones.
    timesOf({ due_at: { $gt: AT_ONCE, $lte: soon } }),
  ]);
  const oldest = Math.min(now.getTime(), ...first, ...relayed);
  return { waiting, oldestMs: now.getTime() - oldest };
}

/** Returns the times at which the first due events happened. */
async function timesOf(waits: object): Promise<number[]> {
  const events = await Event.find(waits)
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(SAMPLE)
    .select({ created_at: 1 })
    .lean<Pick<EventRecord, 'created_at'>[]>();
  return events.map(({ created_at }) => created_at.getTime());
}

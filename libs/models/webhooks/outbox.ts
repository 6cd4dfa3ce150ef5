// How far the relay is behind: events that were committed and have no deliveries yet.
import { agreedDate } from '../../clock.ts';
import { acrossAccounts } from '../tenant.ts';
import { AT_ONCE, Event, type EventRecord } from './event.ts';

export interface OutboxState {
  /** Counted up to WAITING_COUNTED_MAX. */
  waiting: number;
  /** Age of the oldest one, 0 when none waits. */
  oldestMs: number;
}

export const WAITING_COUNTED_MAX = 10_000;
/** An event whose relay failed is due again later, so the first one due is not always the oldest. */
const SAMPLE = 100;
/** One that was relayed is due again sooner. One that is due later is set aside, and shown as that, see round-try.ts. */
const RELAYED_MS = 60_000;

/** Of all accounts together. */
export async function readOutbox(now: Date = agreedDate()): Promise<OutboxState> {
  // With this condition every waiting event matches, and the index alone counts them.
  const soon = new Date(now.getTime() + RELAYED_MS);
  const waits = { due_at: { $gte: AT_ONCE, $lte: soon } };
  const [waiting, first, relayed] = await Promise.all([
    Event.countDocuments(waits, { limit: WAITING_COUNTED_MAX }).setOptions(acrossAccounts),
    timesOf(waits),
    // An older one may be behind any number of new events.
    timesOf({ due_at: { $gt: AT_ONCE, $lte: soon } }),
  ]);
  const oldest = Math.min(now.getTime(), ...first, ...relayed);
  return { waiting, oldestMs: now.getTime() - oldest };
}

/** When the first ones due happened. */
async function timesOf(waits: object): Promise<number[]> {
  const events = await Event.find(waits)
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(SAMPLE)
    .select({ created_at: 1 })
    .lean<Pick<EventRecord, 'created_at'>[]>();
  return events.map(({ created_at }) => created_at.getTime());
}

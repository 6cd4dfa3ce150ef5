// How far the relay is behind: events that were committed and have no deliveries yet.
import { agreedDate } from '../../clock.ts';
import { acrossAccounts } from '../tenant.ts';
import { AT_ONCE, Event, type EventRecord } from './event.ts';

export interface OutboxState {
  /** Counted up to WAITING_COUNTED_MAX. */
  waiting: number;
  /** Age of the oldest that waits, 0 when none does. */
  oldestMs: number;
}

export const WAITING_COUNTED_MAX = 10_000;
/** An event that was tried in vain is due later again, so the first due is not always the oldest. */
const LOOKED_AT = 100;

/** The system's own errand: it goes over all accounts. */
export async function readOutbox(now: Date = agreedDate()): Promise<OutboxState> {
  // Every one that waits: said so, it is counted without reading an event.
  const waits = { due_at: { $gte: AT_ONCE } };
  const [waiting, first, relayed] = await Promise.all([
    Event.countDocuments(waits, { limit: WAITING_COUNTED_MAX }).setOptions(acrossAccounts),
    timesOf(waits),
    // Behind any number of new events there may be an older one.
    timesOf({ due_at: { $gt: AT_ONCE } }),
  ]);
  const oldest = Math.min(now.getTime(), ...first, ...relayed);
  return { waiting, oldestMs: now.getTime() - oldest };
}

/** When those that are due first happened. */
async function timesOf(waits: object): Promise<number[]> {
  const events = await Event.find(waits)
    .setOptions(acrossAccounts)
    .sort({ due_at: 1 })
    .limit(LOOKED_AT)
    .select({ created_at: 1 })
    .lean<Pick<EventRecord, 'created_at'>[]>();
  return events.map(({ created_at }) => created_at.getTime());
}

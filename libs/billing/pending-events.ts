// Buffers the events of a unit of work; at its end one update assigns their sequences and one insert writes them.
import { drawMany } from '../models/sequences.ts';
import type { Id } from '../models/tenant.ts';
import { type FrozenEvent, freezeEvent, insertEvents } from '../models/webhooks/event.ts';
import type { EventType } from '../models/webhooks/event-types.ts';
import type { Session } from '../mongo/connection.ts';

/** What is written before the end, so that events do not pile up: neither many of them nor long texts. */
const PENDING_MAX = { events: 200, characters: 4 * 2 ** 20 };

export interface PendingEvents {
  /** @param data the record as the API returns it. @returns the id of the event. */
  add: (type: EventType, data: unknown, endpointId?: Id) => Promise<Id>;
  /** Has to come last. @returns whether there was any event. */
  write: () => Promise<boolean>;
}

export function pendingEvents(
  session: Session,
  { accountId, requestId }: { accountId: Id; requestId?: string | undefined },
): PendingEvents {
  let pending: FrozenEvent[] = [];
  let size = 0;
  let count = 0;
  const write = async () => {
    if (pending.length > 0) {
      const first = await drawMany(session, accountId, 'event', pending.length);
      await insertEvents(session, pending, first);
    }
    count += pending.length;
    pending = [];
    size = 0;
    return count > 0;
  };
  return {
    async add(type, data, endpointId) {
      const given = { ...(requestId ? { requestId } : {}), ...(endpointId ? { endpointId } : {}) };
      const event = freezeEvent({ accountId, type, data, ...given });
      pending.push(event);
      size += event.body.length;
      if (pending.length >= PENDING_MAX.events || size > PENDING_MAX.characters) await write();
      return String(event._id);
    },
    write,
  };
}

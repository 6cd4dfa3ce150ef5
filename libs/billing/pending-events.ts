// Buffers the events of a unit of work. At its end one update assigns their sequences and one insert writes them.
import { appError } from '../errors.ts';
import { drawMany } from '../models/sequences.ts';
import type { Id } from '../models/tenant.ts';
import { type FrozenEvent, freezeEvent, insertEvents } from '../models/webhooks/event.ts';
import { type ActivityHints, type Actor, leaveOutRepeated } from '../models/webhooks/event-activity.ts';
import { type EventNoun, type EventType, nounOf } from '../models/webhooks/event-types.ts';
import type { Session } from '../mongo/connection.ts';

/**
 * The events that are buffered. More are written before the end, so that neither many of them nor long texts pile up.
 */
const PENDING_MAX = { events: 200, characters: 4 * 2 ** 20 };

const KIB = 1024;
/** The most bytes in the body of an event. A page of records, a replay and an erasure have many of them in memory. */
const BODY_BYTES_MAX = 1024 * KIB;
/**
 * Records that grow with every movement, which announces them as a whole. A new record has no more bytes than its
 * request.
 */
const GROWING: Partial<Record<EventNoun, { name: string; bytes: number }>> = {
  payment: { name: 'payment', bytes: 256 * KIB },
  credit_note: { name: 'credit_note', bytes: 256 * KIB },
};

export interface AnnounceOptions {
  /** The only endpoint that gets the event. */
  endpointId?: Id;
  activity?: ActivityHints;
}

export interface PendingEvents {
  /**
   * Adds an event.
   * @param data the record in the form of the API.
   * @returns the id of the event.
   * @throws AppError 409 when it has too many bytes.
   */
  add: (type: EventType, data: unknown, options?: AnnounceOptions) => Promise<Id>;
  /** Writes the events. It has to come last. @returns true when there was any. */
  write: () => Promise<boolean>;
}

/** Opens the buffer for the events of one attempt of a transaction. */
export function pendingEvents(
  session: Session,
  { accountId, requestId, by }: { accountId: Id; requestId?: string | undefined; by: Actor },
): PendingEvents {
  let pending: FrozenEvent[] = [];
  let size = 0;
  let count = 0;
  const told = new Set<Id>();
  const write = async () => {
    if (pending.length > 0) {
      leaveOutRepeated(pending, told);
      const first = await drawMany(session, accountId, 'event', pending.length);
      await insertEvents(session, pending, first);
    }
    count += pending.length;
    pending = [];
    size = 0;
    return count > 0;
  };
  return {
    async add(type, data, options = {}) {
      const event = freezeEvent({ accountId, type, data, by, ...(requestId ? { requestId } : {}), ...options });
      requireSmall(type, event.body);
      pending.push(event);
      size += event.body.length;
      if (pending.length >= PENDING_MAX.events || size > PENDING_MAX.characters) await write();
      return String(event._id);
    },
    write,
  };
}

function requireSmall(type: EventType, body: string): void {
  const { name, bytes } = GROWING[nounOf(type)] ?? { name: 'record', bytes: BODY_BYTES_MAX };
  if (Buffer.byteLength(body) > bytes) throw appError('record_too_large', { record: name, limit_kib: bytes / KIB });
}

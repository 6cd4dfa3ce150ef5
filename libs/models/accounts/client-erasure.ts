// Erases the data that identifies a client from its record and from stored events.
import type { mongo } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { referencesView } from '../billing/invoice-references.ts';
import { driverOf } from '../records.ts';
import { type Id, type StoredId, storedId } from '../tenant.ts';
import { Event } from '../webhooks/event.ts';
import { ERASED_FACTS } from '../webhooks/event-activity.ts';
import { type EventNoun, type EventType, nounOf } from '../webhooks/event-types.ts';
import { type ClientFields, type ClientRecord, clientFieldNames, searchOf } from './client.ts';

/** The address is of a domain that never exists (RFC 2606). */
export const ERASED_ADDRESS = 'anonymised@example.invalid';
const PLACEHOLDERS: ClientFields = { name: 'Anonymised client', email: ERASED_ADDRESS };
/** The client's fields that are absent afterwards: all that callers can set and that are not required. */
const ERASED = clientFieldNames().filter((name) => !(name in PLACEHOLDERS));
/** The most events and characters in memory and in one write. */
const BATCH = { events: 200, characters: 2 * 2 ** 20 };
/** The fields of an event besides its body that go. Without its client it is not found again. */
const ERASED_BESIDES = Object.fromEntries(
  ['client_id', ...ERASED_FACTS.map((name) => `facts.${name}`)].map((name) => [name, 1 as const]),
);
/** So few events that they can be read at once even when all are large. */
const READ_AT_ONCE = 10;

/** Returns the changes that anonymise a client's record. A value of undefined removes the field. */
export function erasedFields(now: Date): Partial<ClientRecord> {
  const removed = Object.fromEntries(ERASED.map((name) => [name, undefined]));
  return { ...PLACEHOLDERS, ...removed, search: searchOf(PLACEHOLDERS), anonymised_at: now };
}

/**
 * Erases the client's data from the bodies of the account's stored events. Erased events are no longer found, so the
 * next call continues after a crash. Without a session each batch is a write of its own.
 * @returns the number of events that were rewritten.
 */
export async function eraseFromEvents(accountId: Id, clientId: Id, session?: Session): Promise<number> {
  const events = driverOf(Event as never) as unknown as mongo.Collection<StoredEvent>;
  const options = session ? { session } : {};
  const nextBatch = async () => {
    const batch: StoredEvent[] = [];
    let characters = 0;
    const cursor = events.find(
      { account_id: storedId(accountId), client_id: storedId(clientId) },
      { ...options, projection: { account_id: 1, body: 1 }, limit: BATCH.events, batchSize: READ_AT_ONCE },
    );
    // Leaving the loop closes the cursor.
    for await (const event of cursor) {
      batch.push(event);
      characters += event.body.length;
      if (characters >= BATCH.characters) break;
    }
    return batch;
  };
  let erased = 0;
  for (;;) {
    const batch = await nextBatch();
    if (batch.length === 0) return erased;
    await events.bulkWrite(
      batch.map(({ _id, account_id, body }) => ({
        updateOne: {
          filter: { _id, account_id },
          update: { $set: { body: erasedBody(body) }, $unset: ERASED_BESIDES },
        },
      })),
      options,
    );
    erased += batch.length;
  }
}

interface StoredEvent {
  _id: StoredId;
  account_id: StoredId;
  client_id?: StoredId;
  body: string;
}

/** Returns the same body without the data that identifies the client. */
export function erasedBody(body: string): string {
  const event = JSON.parse(body) as { type: EventType; data: Record<string, unknown> }; // Billhook wrote this body, see freezeEvent.
  const data =
    nounOf(event.type) === 'client'
      ? erasedClient(event.data)
      : { ...event.data, client: erasedClient(event.data['client'] as Record<string, unknown>) };
  Object.assign(data, ERASED_OF[nounOf(event.type)]?.(event.data));
  return JSON.stringify({ ...event, data });
}

function erasedClient(client: Record<string, unknown>): Record<string, unknown> {
  const others = Object.entries(client).filter(([name]) => !(ERASED as readonly string[]).includes(name));
  return { ...Object.fromEntries(others), ...PLACEHOLDERS };
}

const NO_REFERENCES = referencesView({});

/** The fields of a record, besides its client, that may identify the client. */
const ERASED_OF: Partial<Record<EventNoun, (data: Record<string, unknown>) => object>> = {
  message: erasedMail,
  reminder: erasedMail,
  // The client wrote these in its own words.
  question: () => ({ text: '', answer: null }),
  quote: ({ decline }) => ({ order_reference: null, ...(decline ? { decline: { ...decline, reason: null } } : {}) }),
  // The client gave these. The document itself keeps them as long as the law wants it kept.
  invoice: () => NO_REFERENCES,
  credit_note: () => NO_REFERENCES,
};

/** Addresses are in the recipients, and in the replies of mail servers. */
function erasedMail(message: Record<string, unknown>): Record<string, unknown> {
  const { recipients, attempts } = message as { recipients: object[]; attempts: object[] };
  return {
    subject: '',
    recipients: recipients.map((one) => ({ ...one, address: ERASED_ADDRESS, text: null })),
    attempts: attempts.map((one) => ({ ...one, text: null })),
  };
}

// Every job in the system: name, payload and retry policy on one screen. Producers and workers share this and nothing else.
import type { PrintableDocument } from './printable-document.ts';

export interface JobDefinition<Payload> {
  /** The queue's name, and the job's. */
  readonly name: string;
  /** How often the queue itself tries; 1 means that somebody else owns the retries. */
  readonly attempts: number;
  /** Wait before the second attempt, doubled for each further one, ± half. */
  readonly backoffMs: number;
  /** A lost worker's job runs again after at most lockMs + stalledMs. */
  readonly lockMs: number;
  readonly stalledMs: number;
  /** The field that holds customers' content: kept in Redis' memory until the deadline and written to no disk, see unsaved.ts. */
  readonly unsaved?: { field: string; deadlineField: string };
  readonly payload?: Payload; // Carries the type only; never set.
}

export interface RenderDocument {
  document: PrintableDocument;
  /** The account it is for, to keep cached images of one account from another. */
  accountId: string;
  requestId: string;
  /** Milliseconds since the epoch after which nobody waits any more. */
  deadlineAt: number;
  /** Where the answer goes, see replies.ts. */
  replyTo: string;
  /** No caller waits for it: it takes a page only beside those that callers wait for. */
  isBackground?: boolean;
}

/**
 * A caller waits for it: the second attempt follows at once, and a killed renderer's job is running again inside the
 * 30 s deadline (BullMQ's defaults of 30 s + 30 s would answer after the caller has gone).
 */
export const renderDocument = defineJob<RenderDocument>({
  name: 'render-document',
  attempts: 2,
  backoffMs: 250,
  lockMs: 10_000,
  stalledMs: 5_000,
  unsaved: { field: 'document', deadlineField: 'deadlineAt' },
});

/** MongoDB holds the event; the relay puts it in again when the queue loses it, so the queue tries once. */
export const fanOutEvent = defineJob<{ eventId: string; accountId: string }>({
  name: 'fan-out-event',
  attempts: 1,
  backoffMs: 0,
  lockMs: 30_000,
  stalledMs: 10_000,
});

export interface DeliverWebhook {
  deliveryId: string;
  accountId: string;
  endpointId: string;
  requestId?: string;
  /** Only of a first attempt: whoever takes the job before `until` (milliseconds since the epoch) holds the delivery. */
  reservation?: { eventId: string; leaseId: string; until: number };
}

/** One job is one attempt: the delivery record in MongoDB is the retry clock, so the queue tries once. */
export const deliverWebhook = defineJob<DeliverWebhook>({
  name: 'deliver-webhook',
  attempts: 1,
  backoffMs: 0,
  lockMs: 45_000,
  stalledMs: 15_000,
});

/**
 * The same for late attempts and for all that the retry clock brings, in slots of its own: an endpoint that is down for hours must not
 * delay one that is well, and a backlog no new event.
 */
export const retryWebhook = defineJob<DeliverWebhook>({ ...deliverWebhook, name: 'retry-webhook' });

export const catalog: readonly JobDefinition<unknown>[] = [renderDocument, fanOutEvent, deliverWebhook, retryWebhook];

function defineJob<Payload>(definition: Omit<JobDefinition<Payload>, 'payload'>): JobDefinition<Payload> {
  return Object.freeze(definition);
}

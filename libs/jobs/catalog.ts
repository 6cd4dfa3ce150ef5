// Every job in the system: name, payload and retry policy on one screen. Producers and workers share this and nothing else.
import type { PdfDocument } from './pdf-document.ts';

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
  readonly payload?: Payload; // Carries the type only; never set.
}

export interface RenderDocument {
  document: PdfDocument;
  /** The account it is for, to keep cached images of one account from another. */
  accountId: string;
  requestId: string;
  /** Milliseconds since the epoch after which nobody waits any more. */
  deadlineAt: number;
  /** Where the answer goes, see replies.ts. */
  replyTo: string;
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
});

/** MongoDB holds the event; the sweeper of the relay repairs what the queue loses. */
export const fanOutEvent = defineJob<{ eventId: string; requestId?: string }>({
  name: 'fan-out-event',
  attempts: 3,
  backoffMs: 500,
  lockMs: 30_000,
  stalledMs: 10_000,
});

/** One job is one attempt: the delivery record in MongoDB is the retry clock, so the queue tries once. */
export const deliverWebhook = defineJob<{ deliveryId: string; attempt: number; requestId?: string }>({
  name: 'deliver-webhook',
  attempts: 1,
  backoffMs: 0,
  lockMs: 45_000,
  stalledMs: 15_000,
});

export const catalog: readonly JobDefinition<unknown>[] = [renderDocument, fanOutEvent, deliverWebhook];

function defineJob<Payload>(definition: Omit<JobDefinition<Payload>, 'payload'>): JobDefinition<Payload> {
  return Object.freeze(definition);
}

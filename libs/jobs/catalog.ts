// Every job in the system: name, payload and retry policy on one screen. Producers and workers share this and nothing else.
import type { PrintableDocument } from './printable-document.ts';

export interface JobDefinition<Payload> {
  /** The queue's name, and the job's. */
  readonly name: string;
  /** How often the queue itself tries; 1 when retries are made elsewhere. */
  readonly attempts: number;
  /** Wait before the second attempt, doubled for each further one, ± half. */
  readonly backoffMs: number;
  /** A lost worker's job runs again after at most lockMs + stalledMs. */
  readonly lockMs: number;
  readonly stalledMs: number;
  /** The field with customers' content, which Redis keeps in memory until the deadline and never writes to disk, see unsaved.ts. */
  readonly unsaved?: { field: string; deadlineField: string };
  /**
   * How many of its failed jobs stay in the queue, for the operations dashboard; none unless given. Only where each enqueue has an id of its
   * own: the queue ignores the id of a job that it keeps.
   */
  readonly failedKept?: number;
  readonly payload?: Payload; // Carries the type only; never set.
}

export interface RenderDocument {
  document: PrintableDocument;
  /** Keeps the cached images of accounts apart. */
  accountId: string;
  requestId: string;
  /** Milliseconds since the epoch after which no caller waits. */
  deadlineAt: number;
  /** Where the reply goes, see replies.ts. */
  replyTo: string;
  /** No caller waits for it, so documents with a caller go first. */
  isBackground?: boolean;
}

/**
 * A caller waits for it: the second attempt follows at once, and the job of a killed renderer runs again within the
 * 30 s deadline (with BullMQ's defaults of 30 s + 30 s the response would come too late).
 */
export const renderDocument = defineJob<RenderDocument>({
  name: 'render-document',
  attempts: 2,
  backoffMs: 250,
  lockMs: 10_000,
  stalledMs: 5_000,
  unsaved: { field: 'document', deadlineField: 'deadlineAt' },
});

/** Of a few hundred bytes each. */
const FAILED_KEPT = 200;

/** MongoDB holds the event, and the relay enqueues it again when the queue loses it, so the queue tries once. */
export const fanOutEvent = defineJob<{ eventId: string; accountId: string }>({
  name: 'fan-out-event',
  attempts: 1,
  backoffMs: 0,
  lockMs: 30_000,
  stalledMs: 10_000,
  failedKept: FAILED_KEPT,
});

export interface DeliverWebhook {
  deliveryId: string;
  accountId: string;
  endpointId: string;
  requestId?: string;
  /** The worker that had the delivery has ended without an outcome. */
  isAgain?: boolean;
  /** Only of a first attempt: a worker that takes the job before `until` (milliseconds since the epoch) has the lease of the delivery. */
  reservation?: { eventId: string; leaseId: string; until: number };
}

/** One job is one attempt: the delivery record in MongoDB plans the next one, so the queue tries once. */
export const deliverWebhook = defineJob<DeliverWebhook>({
  name: 'deliver-webhook',
  attempts: 1,
  backoffMs: 0,
  lockMs: 45_000,
  stalledMs: 15_000,
  failedKept: FAILED_KEPT,
});

/**
 * Late attempts and everything that the poller enqueues, in slots of their own: neither an endpoint that is down for hours nor a backlog
 * may delay new events.
 */
export const retryWebhook = defineJob<DeliverWebhook>({ ...deliverWebhook, name: 'retry-webhook' });

export const catalog: readonly JobDefinition<unknown>[] = [renderDocument, fanOutEvent, deliverWebhook, retryWebhook];

function defineJob<Payload>(definition: Omit<JobDefinition<Payload>, 'payload'>): JobDefinition<Payload> {
  return Object.freeze(definition);
}

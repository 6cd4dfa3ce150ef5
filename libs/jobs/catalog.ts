// Every job in the system: name, payload and retry policy on one screen. Producers and workers share this and nothing else.
import type { PrintableDocument } from './printable-document.ts';

export interface JobDefinition<Payload> {
  /** The name of the queue and of its jobs. */
  readonly name: string;
  /** The number of attempts that the queue makes. 1 when another part plans the retries. */
  readonly attempts: number;
  /** The wait before the second attempt. It doubles for each further one, ± half. */
  readonly backoffMs: number;
  /** The time after which a job counts as lost: it runs again after at most lockMs + stalledMs. */
  readonly lockMs: number;
  readonly stalledMs: number;
  /**
   * The field with customers' content. Redis keeps it in memory until the deadline and never writes it to disk, see
   * unsaved.ts.
   */
  readonly unsaved?: { field: string; deadlineField: string };
  /**
   * The number of failed jobs that stay in the queue, for the operations dashboard. None unless given. It needs an id
   * of its own for each enqueue, because the queue ignores the id of a job that it keeps.
   */
  readonly failedKept?: number;
  readonly payload?: Payload; // A carrier of the type. It is never set.
}

export interface RenderDocument {
  document: PrintableDocument;
  /** The account, which keeps the cached images of accounts apart. */
  accountId: string;
  requestId: string;
  /** The time in milliseconds since the epoch after which no caller waits. */
  deadlineAt: number;
  /** The address for the reply, see replies.ts. */
  replyTo: string;
  /** True when no caller waits for the document. Documents with a caller go first. */
  isBackground?: boolean;
}

/**
 * A caller waits for this job. So the second attempt follows at once, and the job of a killed renderer runs again
 * within the deadline of 30 s. BullMQ's defaults of 30 s + 30 s would make the response late.
 */
export const renderDocument = defineJob<RenderDocument>({
  name: 'render-document',
  attempts: 2,
  backoffMs: 250,
  lockMs: 10_000,
  stalledMs: 5_000,
  unsaved: { field: 'document', deadlineField: 'deadlineAt' },
});

export interface LoadLogo {
  /** The http(s) address of the logo, as the account or the document has it. */
  url: string;
  accountId: string;
  /** The time in milliseconds since the epoch after which no page waits. */
  deadlineAt: number;
  /** The address for the reply, which has a PNG, or no bytes when there is no logo to show. */
  replyTo: string;
}

/**
 * Fetches the logo that a page of the portal shows. It has a queue of its own, so that visitors of pages take no slot
 * of a document. The queue tries once: a page without its logo shows the name of its issuer.
 */
export const loadLogo = defineJob<LoadLogo>({
  name: 'load-logo',
  attempts: 1,
  backoffMs: 0,
  lockMs: 10_000,
  stalledMs: 30_000,
  unsaved: { field: 'url', deadlineField: 'deadlineAt' },
});

/** The number of failed jobs that are kept, of a few hundred bytes each. */
const FAILED_KEPT = 200;

/** The queue tries once: MongoDB holds the event, and the relay enqueues it again when the queue loses it. */
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
  /** True when the worker that had the delivery ended without an outcome. */
  isAgain?: boolean;
  /**
   * The lease of a first attempt. A worker that takes the job before `until` (milliseconds since the epoch) holds it
   * already.
   */
  reservation?: { eventId: string; leaseId: string; until: number };
}

/** One job is one attempt. The queue tries once, because a record in MongoDB plans the next attempt. */
const ONE_ATTEMPT = { attempts: 1, backoffMs: 0, lockMs: 45_000, stalledMs: 15_000 } as const;

export const deliverWebhook = defineJob<DeliverWebhook>({
  name: 'deliver-webhook',
  ...ONE_ATTEMPT,
  failedKept: FAILED_KEPT,
});

/**
 * Late attempts, and all jobs that the poller enqueues. They have slots of their own, so that neither an endpoint that
 * is down for hours nor a backlog delays new events. The queue keeps no failed job: the poller enqueues an attempt
 * again under the same id.
 */
export const retryWebhook = defineJob<DeliverWebhook>({ name: 'retry-webhook', ...ONE_ATTEMPT });

export interface SendMail {
  messageId: string;
  accountId: string;
}

/**
 * One job is one attempt to hand a mail to the SMTP server. The queue keeps no failed job: the poller enqueues an attempt
 * again under the same id.
 */
export const sendMail = defineJob<SendMail>({ name: 'send-mail', ...ONE_ATTEMPT });

/**
 * Mails that leave by servers of accounts. They have slots of their own, so that a server that does not answer keeps no
 * mail of the installation's server waiting.
 */
export const sendOwnMail = defineJob<SendMail>({ ...sendMail, name: 'send-own-mail' });

export const catalog: readonly JobDefinition<unknown>[] = [
  renderDocument,
  loadLogo,
  fanOutEvent,
  deliverWebhook,
  retryWebhook,
  sendMail,
  sendOwnMail,
];

function defineJob<Payload>(definition: Omit<JobDefinition<Payload>, 'payload'>): JobDefinition<Payload> {
  return Object.freeze(definition);
}

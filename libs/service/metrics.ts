// The metrics that more than one place must know by name: dashboards and alert rules are written against them.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { catalog } from '../jobs/catalog.ts';
import type { QueueCounts, Queues } from '../jobs/queue.ts';
import type { Overdue } from '../models/overdue.ts';
import type { ErrorClass } from '../models/webhooks/delivery.ts';
import type { DeliveryProblems } from '../models/webhooks/delivery-problems.ts';
import { resultWithin } from '../with-timeout.ts';
import type { Logger } from './logger.ts';
import { release } from './release.ts';

/** Buckets from a small invoice on a warm page (20 ms) to the deadline of a document (30 s). */
const RENDER_BUCKETS = [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 30];
const RENDER_OUTCOMES = ['done', 'failed', 'cancelled', 'expired'] as const;
const ATTEMPT_OUTCOMES: readonly (ErrorClass | 'delivered')[] = [
  'delivered',
  'unreachable',
  'timeout',
  'redirect',
  'status',
  'gone',
  'secret_unreadable',
];
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/**
 * The former names of metrics, by their new ones. They are reported beside the new ones for one release, so that
 * dashboards and rules can be changed after the services.
 */
export const FORMER_NAMES = {
  billhook_http_request_duration_seconds: 'http_request_duration_seconds',
  billhook_queue_jobs_ready: 'bullmq_jobs_ready',
  billhook_queue_jobs_active: 'bullmq_jobs_active',
  billhook_queue_jobs_delayed: 'bullmq_jobs_delayed',
  billhook_queue_jobs_failed: 'bullmq_jobs_failed',
  billhook_queue_oldest_job_age_seconds: 'bullmq_jobs_oldest_age_seconds',
  billhook_queue_paused: 'bullmq_queue_paused',
  billhook_browser_memory_bytes: 'billhook_browser_memory_megabytes',
} as const;

/** Makes the registry of one service, with its version and the metrics of its process (CPU, memory, event-loop delay). */
export function makeMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: 'billhook_build_info',
    help: 'The version of Billhook that the process runs, as a label; the value is 1',
    labelNames: ['version'],
    registers: [registry],
  });
  build.set({ version: release() }, 1);
  return registry;
}

/** Returns the help text of a metric that is reported under its former name. */
export function formerHelp(name: keyof typeof FORMER_NAMES): string {
  return `Former name of ${name}, which ends with the next release`;
}

/**
 * Measures the seconds of requests by method, route and status. The route is the pattern: paths hold ids, and each
 * would be a series.
 */
export function requestMetrics(registry: Registry) {
  const NAME = 'billhook_http_request_duration_seconds';
  const make = (name: string, help: string) =>
    new Histogram({
      name,
      help,
      labelNames: ['method', 'route', 'status'] as const,
      buckets: REQUEST_BUCKETS,
      registers: [registry],
    });
  const current = make(NAME, 'Time from the request to the end of its answer');
  const former = make(FORMER_NAMES[NAME], formerHelp(NAME));
  return {
    observe(labels: { method: string; route: string; status: number }, seconds: number) {
      current.observe(labels, seconds);
      former.observe(labels, seconds);
    },
  };
}

export type RequestSeconds = ReturnType<typeof requestMetrics>;

/**
 * Makes the metrics of the renderer. `outcome`: done, failed, cancelled or expired. `reason`: the reason for replacing
 * a browser.
 */
export function renderMetrics(registry: Registry) {
  const registers = [registry];
  const seconds = new Histogram({
    name: 'billhook_render_seconds',
    help: 'Time a renderer spent on one document',
    labelNames: ['outcome'] as const,
    buckets: RENDER_BUCKETS,
    registers,
  });
  // Each series starts at 0. Prometheus sees no increase in a series that begins at 1, and nothing in one that is
  // absent.
  for (const outcome of RENDER_OUTCOMES) seconds.zero({ outcome });
  return {
    seconds,
    recycles: new Counter({
      name: 'billhook_browser_recycles_total',
      help: 'Browsers replaced, by reason',
      labelNames: ['reason'] as const,
      registers,
    }),
  };
}

const ATTEMPT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * Makes the metrics of the webhook service, by attempt. `outcome`: delivered, or the class of its failure as in a
 * delivery.
 */
export function deliveryMetrics(registry: Registry) {
  const registers = [registry];
  const total = new Counter({
    name: 'billhook_deliveries_total',
    help: 'Attempts to deliver an event to an endpoint, by how they ended',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of ATTEMPT_OUTCOMES) total.inc({ outcome }, 0);
  return {
    total,
    seconds: new Histogram({
      name: 'billhook_delivery_seconds',
      help: 'Time from the start of an attempt to the head of the answer',
      buckets: ATTEMPT_BUCKETS,
      registers,
    }),
  };
}

const MAIL_OUTCOMES = [
  'taken',
  'refused',
  'unreachable',
  'unknown',
  'stopped',
  'impossible',
  'withdrawn',
  'not made',
] as const;
const MAIL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Makes the metrics of the mail service, by attempt. `outcome`: the server took the mail, refused it, was unreachable or
 * did not say; or the mail was not sent.
 */
export function mailMetrics(registry: Registry) {
  const registers = [registry];
  const total = new Counter({
    name: 'billhook_mail_attempts_total',
    help: 'Attempts to hand a mail to an SMTP server, that of the installation or of an account, by how they ended',
    labelNames: ['outcome', 'server'] as const,
    registers,
  });
  for (const server of ['installation', 'account'])
    for (const outcome of MAIL_OUTCOMES) total.inc({ outcome, server }, 0);
  return {
    total,
    seconds: new Histogram({
      name: 'billhook_mail_seconds',
      help: 'Time from the start of an attempt to the last reply of the SMTP server',
      labelNames: ['server'] as const,
      buckets: MAIL_BUCKETS,
      registers,
    }),
  };
}

const REMINDER_OUTCOMES = [
  'planned',
  'not_due',
  'mail_not_set_up',
  'client_without_address',
  'recipient_suppressed',
] as const;

/**
 * Makes the metrics of reminders: a look at each invoice that has come to a step. `outcome`: the reminder was planned, the
 * step went out or rests, or the error code for which no mail can be planned.
 */
export function reminderMetrics(registry: Registry) {
  const looks = new Counter({
    name: 'billhook_reminder_looks_total',
    help: 'Looks at invoices that have come to a step of reminders, by their outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of REMINDER_OUTCOMES) looks.inc({ outcome }, 0);
  return looks;
}

/** The life of a reading. A scrape asks for all gauges at once, and they share one. */
const READING_LIFE_MS = 500;

/**
 * Registers gauges of every queue, which are read when they are scraped. Each process that reads the same Redis reports
 * the same numbers, so take their maximum. While Redis is unavailable the gauges are absent, because an empty queue and
 * an unknown one must not look alike.
 */
export function watchQueues(registry: Registry, queues: Queues, log: Logger, watched = catalog): void {
  const read = sharedReading(() => readQueues(queues, log, watched));
  const register = (name: string, help: string, pick: (queue: QueueReading) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers: [registry],
      async collect() {
        const readings = await read();
        this.reset();
        for (const reading of readings) this.set({ queue: reading.queue }, pick(reading));
      },
    });
  const gauge = (name: keyof typeof FORMER_NAMES, help: string, pick: (queue: QueueReading) => number) => {
    register(name, help, pick);
    register(FORMER_NAMES[name], formerHelp(name), pick);
  };
  gauge('billhook_queue_jobs_ready', 'Jobs a worker could take now: waiting and prioritized', ({ ready }) => ready);
  gauge('billhook_queue_jobs_active', 'Jobs that a worker runs now', ({ active }) => active);
  gauge('billhook_queue_jobs_delayed', 'Jobs that wait for their time', ({ delayed }) => delayed);
  gauge('billhook_queue_jobs_failed', 'Jobs that failed and were kept', ({ failed }) => failed);
  gauge(
    'billhook_queue_oldest_job_age_seconds',
    'How long the oldest ready job has waited',
    ({ ageMs }) => ageMs / 1000,
  );
  gauge('billhook_queue_paused', '1 while an operator has paused the queue', ({ isPaused }) => (isPaused ? 1 : 0));
}

type QueueReading = QueueCounts & { queue: string; ageMs: number; isPaused: boolean };

async function readQueues(queues: Queues, log: Logger, watched: typeof catalog): Promise<QueueReading[]> {
  try {
    return await Promise.all(
      watched.map(async (definition) => {
        const [counts, ageMs, isPaused] = await Promise.all([
          queues.counts(definition),
          queues.oldestAgeMs(definition),
          queues.raw(definition).isPaused(),
        ]);
        return { queue: definition.name, ...counts, ageMs, isPaused };
      }),
    );
  } catch (error) {
    log.debug({ err: error }, 'cannot read the queues for the metrics; their gauges are absent');
    return [];
  }
}

function sharedReading<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | undefined;
  let readAt = 0;
  return () => {
    const now = performance.now();
    if (!current || now - readAt > READING_LIFE_MS) {
      readAt = now;
      current = read();
    }
    return current;
  };
}

/**
 * Registers the lag of the outbox.
 * @param lagMs age of the oldest event that is due and not fanned out yet, 0 when there is none.
 */
export function watchOutbox(registry: Registry, lagMs: () => Promise<number>): void {
  watchStored(registry, lagMs, [
    'billhook_outbox_lag_seconds',
    'Age of the oldest event that is due and has no deliveries yet',
    (of) => of / 1000,
  ]);
}

/**
 * Registers the lag of the scheduler.
 * @param lagMs age of the oldest expiry event or recurring invoice that is due and does not exist yet, 0 when there is
 * none.
 */
export function watchScheduler(registry: Registry, lagMs: () => Promise<number>): void {
  watchStored(registry, lagMs, [
    'billhook_scheduler_lag_seconds',
    'Age of the oldest date that is due and has no event or no invoice yet',
    (of) => of / 1000,
  ]);
}

/** Registers the number of records that rounds and workers have set aside, see round-try.ts. */
export function watchSetAside(registry: Registry, count: () => Promise<number>): void {
  watchStored(registry, count, [
    'billhook_set_aside_records',
    'Records that a round or a worker has set aside, because they failed three times or ended its process',
    (records) => records,
  ]);
}

/**
 * Registers the age of the last backup.
 * @param ageMs time since then, or since the first account when no backup was recorded.
 */
export function watchBackup(registry: Registry, ageMs: () => Promise<number>): void {
  watchStored(registry, ageMs, [
    'billhook_backup_age_seconds',
    'Time since the last recorded backup, or since the first account when there was none',
    (of) => of / 1000,
  ]);
}

/** Registers the problems of deliveries: endpoints that fail or are disabled, and deliveries that wait for long. */
export function watchDeliveryProblems(registry: Registry, read: () => Promise<DeliveryProblems>): void {
  watchStored(
    registry,
    read,
    [
      'billhook_endpoints_failing',
      'Enabled endpoints with at least three failures in a row, counted up to 100',
      ({ failing }) => failing.count,
    ],
    [
      'billhook_endpoints_suspended',
      'Disabled endpoints with suspended deliveries, counted up to 100',
      ({ suspended }) => suspended.count,
    ],
    [
      'billhook_deliveries_pending_oldest_age_seconds',
      'Age of the oldest pending delivery, 0 when none is older than an hour',
      ({ old }) => old.oldestMs / 1000,
    ],
    [
      'billhook_deliveries_overdue_seconds',
      'How long the oldest due delivery has waited for a webhook service, 0 below five minutes',
      ({ overdue }) => overdue.oldestMs / 1000,
    ],
  );
}

/** Registers the mail that is due and that no mail service takes. */
export function watchOverdueMail(registry: Registry, read: () => Promise<Overdue>): void {
  watchStored(
    registry,
    read,
    [
      'billhook_mail_overdue_messages',
      'Messages that have been due for over five minutes and that no mail service has taken, counted up to 1,000',
      ({ count }) => count,
    ],
    [
      'billhook_mail_overdue_seconds',
      'How long the oldest due message has waited for a mail service, 0 below five minutes',
      ({ oldestMs }) => oldestMs / 1000,
    ],
  );
}

/** Registers the number of open circuit breakers. Each process has its own. */
export function watchCircuits(registry: Registry, open: () => number): void {
  new Gauge({
    name: 'billhook_endpoint_circuits_open',
    help: 'Endpoints whose circuit breaker is open in this process',
    registers: [registry],
    collect() {
      this.set(open());
    },
  });
}

/**
 * Registers the backlog of batches.
 * @param read the number of unfinished batches, and the time that the first has waited for a gateway.
 */
export function watchBatches(registry: Registry, read: () => Promise<{ unfinished: number; lagMs: number }>): void {
  watchStored(
    registry,
    read,
    ['billhook_document_batches_unfinished', 'Batches of documents that are not finished', (of) => of.unfinished],
    [
      'billhook_document_batches_lag_seconds',
      'How long the batch that is due for longest has waited for a gateway',
      (of) => of.lagMs / 1000,
    ],
  );
}

/**
 * The limit of a reading. Scrapers do not wait longer, so a value that is late is absent, and all others are reported.
 */
const READING_LIMIT_MS = 1_000;

/** Registers gauges with values from MongoDB. */
function watchStored<Reading>(
  registry: Registry,
  read: () => Promise<Reading>,
  ...gauges: [name: string, help: string, pick: (reading: Reading) => number][]
): void {
  const reading = sharedReading(() =>
    // Other metrics and /readyz show that MongoDB is unavailable.
    resultWithin(
      READING_LIMIT_MS,
      read().catch(() => undefined),
    ),
  );
  for (const [name, help, pick] of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const known = await reading();
        if (known === undefined) this.remove();
        else this.set(pick(known));
      },
    });
  }
}

// Starts the webhook service, which turns events into signed calls.
import { agreedDate } from '#libs/clock.ts';
import { deliverWebhook, fanOutEvent, retryWebhook } from '#libs/jobs/catalog.ts';
import { removeFailedJobs } from '#libs/jobs/control.ts';
import { listenForNudges } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { forgetTriesInWork } from '#libs/models/operations/round-try.ts';
import { reconcilePending } from '#libs/models/webhooks/endpoint-reconcile.ts';
import { readOutbox } from '#libs/models/webhooks/outbox.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { whenAvailable } from '#libs/redis/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { deliveryMetrics, makeMetrics, watchCircuits, watchOutbox, watchQueues } from '#libs/service/metrics.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { release } from '#libs/service/release.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { readConfig } from './config.ts';
import { makeDeliverWebhook } from './deliver-webhook.ts';
import { enqueueDueDeliveries } from './enqueue-due-deliveries.ts';
import { makeFanOutEvent } from './fan-out-event.ts';
import { openEventLoader } from './loading/event-loader.ts';
import { makePostSigned } from './post-signed.ts';
import { openRelay } from './relay-events.ts';
import { openEventLoopDelay } from './traffic/event-loop-delay.ts';
import { openTraffic } from './traffic/traffic.ts';

/** The number of events fanned out at a time. They share their round trips to the database. */
const FAN_OUT_CONCURRENCY = 50;
const RELAY_EVERY_MS = 500;
const POLL_EVERY_MS = 1_000;
/** The time until a process finds out that another one shares the work. */
const COUNT_PROCESSES_EVERY_MS = 5_000;
/** The time until another process finds the reconcile requests of one that died. */
const RECONCILE_EVERY_MS = 30_000;
/**
 * The length of a lease in timeouts. A slow or paused worker must not count as dead, or another one would make its
 * attempt a second time.
 */
const LEASE_TIMEOUTS = 3;
/** The time for the database work around the attempt, which the timeout of the call leaves out. */
const LEASE_MARGIN_MS = 5_000;
const CLOSE_MARGIN_MS = 1_000;

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('webhooks', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('webhooks', config.OTEL_EXPORTER_OTLP_ENDPOINT));
  const box = openSecretBox(config.SECRET_KEY);
  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW, keepAlive: true });
  onClose(() => outbound.close());

  // This may be the first process of a new version. Existing indexes stay as they are.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  onClose(({ isOrderly }) => (isOrderly ? forgetTriesInWork() : undefined));
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, service: 'webhooks' });
  onClose(() => queues.close());
  const metrics = makeMetrics();
  // The Redis user of this service may read no other queue.
  watchQueues(metrics, queues, log, [fanOutEvent, deliverWebhook, retryWebhook]);
  watchOutbox(metrics, async () => (await readOutbox()).oldestMs);
  const deliveries = deliveryMetrics(metrics);
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'webhooks',
    checks: { mongodb: pingMongo, redis: () => queues.redis.ping() },
    metrics,
    log,
  });
  onClose(() => health.close());
  await Promise.all([mongo.ready, whenAvailable(queues.redis)]);
  // An earlier version kept failed jobs here, and the queue ignores the id of a job that it keeps.
  await removeFailedJobs(queues, retryWebhook).catch((error) =>
    log.warn({ err: error }, 'failed jobs of an earlier version were not removed'),
  );

  let processes = 1;
  const eventLoopDelay = openEventLoopDelay();
  onClose(() => eventLoopDelay.close());
  const traffic = openTraffic({
    scale: config.WEBHOOK_RETRY_SCALE,
    processes: () => processes,
    eventLoopDelayMs: eventLoopDelay.ms,
    slots: config.DELIVERY_CONCURRENCY,
  });
  watchCircuits(metrics, () => traffic.openCircuits());
  const events = openEventLoader();
  const outbox = openRelay(queues);
  const deliver = makeDeliverWebhook({
    queues,
    box,
    traffic,
    events,
    postSigned: makePostSigned({
      outbound,
      timeoutMs: config.WEBHOOK_TIMEOUT_MS,
      userAgent: `Billhook/${release()}`,
    }),
    leaseMs: LEASE_TIMEOUTS * config.WEBHOOK_TIMEOUT_MS + LEASE_MARGIN_MS,
    retryScale: config.WEBHOOK_RETRY_SCALE,
    onOutcome({ isWell, errorClass = 'status', durationMs }) {
      deliveries.total.inc({ outcome: isWell ? 'delivered' : errorClass });
      deliveries.seconds.observe(durationMs / 1_000);
    },
  });
  const worker = { redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log };
  const lateConcurrency = Math.ceil(config.DELIVERY_CONCURRENCY / 2);
  const workers = [
    startWorker(fanOutEvent, makeFanOutEvent({ queues, traffic, events, onFannedOut: outbox.fannedOut }), {
      ...worker,
      concurrency: FAN_OUT_CONCURRENCY,
    }),
    startWorker(deliverWebhook, deliver, { ...worker, concurrency: config.DELIVERY_CONCURRENCY }),
    startWorker(retryWebhook, deliver, { ...worker, concurrency: lateConcurrency }),
  ];

  const relay = startPollingLoop(outbox.relay, { name: 'the relay', everyMs: RELAY_EVERY_MS, log });
  const poller = startPollingLoop(() => enqueueDueDeliveries(queues, traffic), {
    name: 'the delivery poller',
    everyMs: POLL_EVERY_MS,
    log,
  });
  const processCount = startPollingLoop(
    async () => {
      // While Redis is unavailable no process delivers.
      processes = await queues.workerCount(deliverWebhook).catch(() => processes);
      return false;
    },
    { name: 'the count of webhook processes', everyMs: COUNT_PROCESSES_EVERY_MS, log },
  );
  const reconciler = startPollingLoop(
    async (signal) => {
      if ((await reconcilePending(agreedDate(), signal)) > 0) poller.wake();
      return false;
    },
    { name: 'the reconciler of endpoints', everyMs: RECONCILE_EVERY_MS, log },
  );
  // These close at once: while one ends its work in flight, no other begins anything.
  onClose(() =>
    Promise.all([
      ...workers.map((one) => one.close(config.WEBHOOK_TIMEOUT_MS + CLOSE_MARGIN_MS)),
      ...[relay, poller, processCount, reconciler].map((one) => one.stop()),
    ]),
  );
  const stopListening = listenForNudges(config.REDIS_URL, config.REDIS_PREFIX, log, () => {
    relay.wake();
    poller.wake();
  });
  onClose(stopListening);
  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port, allowed: config.OUTBOUND_ALLOW }, 'ready');
});

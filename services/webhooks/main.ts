// Starts the webhook service: events in, signed calls out.
import { agreedDate } from '#libs/clock.ts';
import { deliverWebhook, fanOutEvent, retryWebhook } from '#libs/jobs/catalog.ts';
import { listenForNudges } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
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
import { deliveryMetrics, makeMetrics, watchOutbox, watchQueues } from '#libs/service/metrics.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { release } from '#libs/service/release.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { readConfig } from './config.ts';
import { makeDeliverWebhook } from './deliver-webhook.ts';
import { putDueDeliveries } from './enqueue-due-deliveries.ts';
import { openLoopLag } from './event-loop-delay.ts';
import { openEventReader } from './event-reader.ts';
import { makeFanOutEvent } from './fan-out-event.ts';
import { makePostSigned } from './post-signed.ts';
import { openRelay } from './relay-events.ts';
import { openTraffic } from './traffic.ts';

/** Events that are fanned out at the same time share their round trips to the database. */
const FAN_OUT_CONCURRENCY = 50;
const RELAY_EVERY_MS = 500;
const CLOCK_EVERY_MS = 1_000;
/** How soon a process learns that another one shares the work. */
const HEAD_COUNT_EVERY_MS = 5_000;
/** How soon after its end a process's unfinished errands are found. */
const ERRANDS_EVERY_MS = 30_000;
/** A worker that was slow or paused must not be taken for dead: its attempt would be made twice. */
const LEASE_TIMEOUTS = 3;
/** For our own database work around the attempt, which has no timeout of the receiver's. */
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

  // Of a new version it may be the first process. Harmless when all are there.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log });
  onClose(() => queues.close());
  const metrics = makeMetrics();
  watchQueues(metrics, queues, log);
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

  let sharers = 1;
  const lag = openLoopLag();
  onClose(() => lag.close());
  const traffic = openTraffic({
    scale: config.WEBHOOK_RETRY_SCALE,
    sharers: () => sharers,
    lagMs: lag.ms,
    slots: config.DELIVERY_CONCURRENCY,
  });
  const events = openEventReader();
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
  const clock = startPollingLoop(() => putDueDeliveries(queues, traffic), {
    name: 'the retry clock',
    everyMs: CLOCK_EVERY_MS,
    log,
  });
  const headCount = startPollingLoop(
    async () => {
      // While Redis is away nobody delivers.
      sharers = await queues.workerCount(deliverWebhook).catch(() => sharers);
      return false;
    },
    { name: 'the head count', everyMs: HEAD_COUNT_EVERY_MS, log },
  );
  const errands = startPollingLoop(
    async (signal) => {
      if ((await reconcilePending(agreedDate(), signal)) > 0) clock.wake();
      return false;
    },
    { name: 'the look for errands of endpoints', everyMs: ERRANDS_EVERY_MS, log },
  );
  // All at once: while one of them ends what it has in hand, no other takes on anything more.
  onClose(() =>
    Promise.all([
      ...workers.map((one) => one.close(config.WEBHOOK_TIMEOUT_MS + CLOSE_MARGIN_MS)),
      ...[relay, clock, headCount, errands].map((one) => one.stop()),
    ]),
  );
  const stopListening = listenForNudges(config.REDIS_URL, config.REDIS_PREFIX, log, () => {
    relay.wake();
    clock.wake();
  });
  onClose(stopListening);
  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port, allowed: config.OUTBOUND_ALLOW }, 'ready');
});

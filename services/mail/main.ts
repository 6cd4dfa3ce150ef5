// Starts the mail service, which hands mail to an SMTP server.
import { agreedDate } from '#libs/clock.ts';
import { sendMail } from '#libs/jobs/catalog.ts';
import { listenForNudges, nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { registerMailService, unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { openPrinting } from '#libs/printing/print-document.ts';
import { whenAvailable } from '#libs/redis/connection.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { mailMetrics, makeMetrics, watchQueues } from '#libs/service/metrics.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { readConfig } from './config.ts';
import { enqueueDueMessages } from './enqueue-due-messages.ts';
import { makeMailOf } from './make-mail.ts';
import { makeSendMessage } from './send-message.ts';
import { readSender } from './sender.ts';
import { openConnections } from './smtp/connections.ts';
import { serverOf } from './smtp/smtp-url.ts';

const POLL_EVERY_MS = 1_000;
/** The time for mails on their way when the service stops. */
const CLOSE_LIMIT_MS = 30_000;
/** The longest time that a message waits for a worker that has died. Running workers extend their lease. */
const LEASE_MAX_MS = 60_000;
/** The time for the database work of an attempt. */
const LEASE_MARGIN_MS = 5_000;

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('mail', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('mail', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  // This may be the first process of a new version. Existing indexes stay as they are.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log });
  onClose(() => queues.close());
  const metrics = makeMetrics();
  // The Redis user of this service may read no other queue.
  watchQueues(metrics, queues, log, [sendMail]);
  const mails = mailMetrics(metrics);
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'mail',
    checks: { mongodb: pingMongo, redis: () => queues.redis.ping() },
    metrics,
    log,
  });
  onClose(() => health.close());
  await Promise.all([mongo.ready, whenAvailable(queues.redis)]);

  const worker = {
    redisUrl: config.REDIS_URL,
    prefix: config.REDIS_PREFIX,
    concurrency: config.MAIL_CONCURRENCY,
    log,
  };
  const onEvents = () => nudgeRelay(queues.redis, config.REDIS_PREFIX);
  const server = config.SMTP_URL === undefined ? undefined : serverOf(config.SMTP_URL);
  const sender = readSender(config.MAIL_FROM ?? '');
  if (server && sender) {
    const bounceDomain = config.MAIL_BOUNCE_DOMAIN;
    const domain = bounceDomain ?? sender.domain;
    const connections = openConnections(server, { name: domain, timeoutMs: config.MAIL_TIMEOUT_MS });
    onClose(() => connections.close());
    const replies = openReplies({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, redis: queues.redis, log });
    onClose(() => replies.close());
    const print = openPrinting({ queues, replies, prefix: config.REDIS_PREFIX, log });
    const send = makeSendMessage({
      connections,
      sender,
      bounceDomain,
      mailOf: makeMailOf({ from: sender.address, print }),
      leaseMs: Math.min(LEASE_MAX_MS, config.MAIL_TIMEOUT_MS) + LEASE_MARGIN_MS,
      retryScale: config.MAIL_RETRY_SCALE,
      onEvents,
      onOutcome(outcome, durationMs) {
        mails.total.inc({ outcome });
        mails.seconds.observe(durationMs / 1_000);
      },
    });
    const sending = startWorker(sendMail, send, worker);
    const poller = startPollingLoop(
      () => enqueueDueMessages({ queues, retryScale: config.MAIL_RETRY_SCALE, onEvents }),
      { name: 'the mail poller', everyMs: POLL_EVERY_MS, log },
    );
    onClose(() => Promise.all([sending.close(CLOSE_LIMIT_MS), poller.stop()]));
    onClose(listenForNudges(config.REDIS_URL, config.REDIS_PREFIX, log, () => poller.wake()));
    await registerMailService({ from: sender.address, domain }, agreedDate());
    log.info({ host: server.host, port: server.port, tls: server.tls }, 'mail is handed to this server');
  } else {
    log.info('SMTP_URL is not set, so no mail is sent');
    await unregisterMailService();
    // Nothing is enqueued, but the dashboard sees that a service waits for the queue.
    const waiting = startWorker(sendMail, async () => undefined, worker);
    onClose(() => waiting.close(CLOSE_LIMIT_MS));
  }
  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port }, 'ready');
});

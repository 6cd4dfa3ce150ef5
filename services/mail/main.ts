// Starts the mail service, which hands mail to an SMTP server.
import { agreedDate } from '#libs/clock.ts';
import { type SendMail, sendMail } from '#libs/jobs/catalog.ts';
import { listenForNudges, nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { type JobHandler, startWorker } from '#libs/jobs/worker.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
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
import { type MailConfig, readConfig } from './config.ts';
import { enqueueDueMessages } from './enqueue-due-messages.ts';
import { makeMailOf } from './make-mail.ts';
import { removeOldMails } from './remove-old-mails.ts';
import { makeSendMessage } from './send-message.ts';
import { readSender, type Sender } from './sender.ts';
import { openConnections } from './smtp/connections.ts';
import { type SmtpServer, serverOf } from './smtp/smtp-url.ts';

const POLL_EVERY_MS = 1_000;
const REMOVE_EVERY_MS = 3_600_000;
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
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, service: 'mail' });
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

  const onEvents = () => nudgeRelay(queues.redis, config.REDIS_PREFIX);
  const way = wayOut(config);
  const worker = startWorker(sendMail, way ? sendingBy(way) : async () => undefined, {
    redisUrl: config.REDIS_URL,
    prefix: config.REDIS_PREFIX,
    concurrency: config.MAIL_CONCURRENCY,
    log,
  });
  onClose(() => worker.close(CLOSE_LIMIT_MS));
  if (way) {
    const poller = startPollingLoop(
      () => enqueueDueMessages({ queues, retryScale: config.MAIL_RETRY_SCALE, onEvents }),
      { name: 'the mail poller', everyMs: POLL_EVERY_MS, log },
    );
    onClose(() => poller.stop());
    onClose(listenForNudges(config.REDIS_URL, config.REDIS_PREFIX, log, () => poller.wake()));
    await registerMailService({ from: way.sender.address, domain: way.domain }, agreedDate());
    const { host, port, tls } = way.server;
    log.info({ host, port, tls }, 'mail is handed to this server');
  } else {
    // The worker gets no job, but the dashboard sees that a service waits for the queue.
    log.info('SMTP_URL is not set, so no mail is sent');
    await unregisterMailService();
  }
  const remover = startPollingLoop(() => removeOldMails(), {
    name: 'the remover of old mails',
    everyMs: REMOVE_EVERY_MS,
    log,
  });
  onClose(() => remover.stop());
  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port }, 'ready');

  function sendingBy({ server, sender, domain }: WayOut): JobHandler<SendMail> {
    const connections = openConnections(server, { name: domain, timeoutMs: config.MAIL_TIMEOUT_MS });
    onClose(() => connections.close());
    const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
    const replies = openReplies({ redisUrl, prefix, redis: queues.redis, log });
    onClose(() => replies.close());
    const markdown = openMarkdown();
    onClose(() => markdown.close());
    return makeSendMessage({
      connections,
      sender,
      bounceDomain: config.MAIL_BOUNCE_DOMAIN,
      mailOf: makeMailOf({ from: sender.address, print: openPrinting({ queues, replies, prefix, log }), markdown }),
      leaseMs: Math.min(LEASE_MAX_MS, config.MAIL_TIMEOUT_MS) + LEASE_MARGIN_MS,
      retryScale: config.MAIL_RETRY_SCALE,
      onEvents,
      onOutcome(outcome, durationMs) {
        mails.total.inc({ outcome });
        mails.seconds.observe(durationMs / 1_000);
      },
    });
  }
});

interface WayOut {
  server: SmtpServer;
  sender: Sender;
  /** The domain of return paths and of `Message-ID`. */
  domain: string;
}

/** Returns undefined when no mail is to be sent. */
function wayOut({ SMTP_URL, MAIL_FROM, MAIL_BOUNCE_DOMAIN }: MailConfig): WayOut | undefined {
  const sender = readSender(MAIL_FROM ?? '');
  if (SMTP_URL === undefined || !sender) return undefined;
  return { server: serverOf(SMTP_URL), sender, domain: MAIL_BOUNCE_DOMAIN ?? sender.domain };
}

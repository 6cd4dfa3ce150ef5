// Starts the mail service, which hands mail to an SMTP server.
import { agreedDate } from '#libs/clock.ts';
import { type SendMail, sendMail, sendOwnMail } from '#libs/jobs/catalog.ts';
import { listenForNudges, nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { type JobHandler, startWorker } from '#libs/jobs/worker.ts';
import { asciiDomain } from '#libs/mail/ascii-address.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { registerMailService, unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { forgetTriesInWork } from '#libs/models/operations/round-try.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { openMailDialler } from '#libs/outbound/dial-mail-server.ts';
import { openPrinting } from '#libs/printing/print-document.ts';
import { whenAvailable } from '#libs/redis/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { bytesOf } from '#libs/service/env.ts';
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
import { openOwnConnections } from './smtp/own-connections.ts';
import { type SmtpServer, serverOf } from './smtp/smtp-url.ts';
import { takeTurns } from './take-turns.ts';
import { testMailServers } from './test-mail-servers.ts';
import { makeWayOf } from './way-out.ts';

const POLL_EVERY_MS = 1_000;
/** A server that does not answer costs a connection and no more, so that many may be waited for. */
const OWN_FACTOR = 4;
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
  onClose(({ isOrderly }) => (isOrderly ? forgetTriesInWork() : undefined));
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, service: 'mail' });
  onClose(() => queues.close());
  const metrics = makeMetrics();
  // The Redis user of this service may read no other queue.
  watchQueues(metrics, queues, log, [sendMail, sendOwnMail]);
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
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const installation = installationOf(config);
  const own = openOwnConnections({
    dial: openMailDialler({ allow: config.OUTBOUND_ALLOW }),
    box: openSecretBox(config.SECRET_KEY),
    timeoutMs: config.MAIL_TIMEOUT_MS,
  });
  onClose(() => own.close());
  const send = makeSender();
  const workers = [
    startWorker(sendMail, send, { redisUrl, prefix, concurrency: config.MAIL_CONCURRENCY, log }),
    startWorker(sendOwnMail, takeTurns(send), {
      redisUrl,
      prefix,
      concurrency: OWN_FACTOR * config.MAIL_CONCURRENCY,
      log,
    }),
  ];
  onClose(async () => void (await Promise.all(workers.map((worker) => worker.close(CLOSE_LIMIT_MS)))));
  const loops = [
    startPollingLoop(() => enqueueDueMessages({ queues, retryScale: config.MAIL_RETRY_SCALE, onEvents }), {
      name: 'the mail poller',
      everyMs: POLL_EVERY_MS,
      log,
    }),
    startPollingLoop(() => testMailServers(own), { name: 'the tester of mail servers', everyMs: POLL_EVERY_MS, log }),
  ];
  for (const loop of loops) onClose(() => loop.stop());
  const wake = () => {
    for (const loop of loops) loop.wake();
  };
  onClose(listenForNudges(redisUrl, prefix, log, wake));
  if (installation) {
    await registerMailService({ from: installation.sender.address, domain: installation.domain }, agreedDate());
    const { host, port, tls } = installation.server;
    log.info({ host, port, tls }, 'mail is handed to this server');
  } else {
    log.info('SMTP_URL is not set, so only accounts with a mail server of their own send mail');
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

  function makeSender(): JobHandler<SendMail> {
    const connections =
      installation &&
      openConnections(installation.server, { name: installation.domain, timeoutMs: config.MAIL_TIMEOUT_MS });
    onClose(() => connections?.close());
    const replies = openReplies({ redisUrl, prefix, redis: queues.redis, log });
    onClose(() => replies.close());
    const markdown = openMarkdown();
    onClose(() => markdown.close());
    const from = installation?.sender.address;
    const bounceDomain = config.MAIL_BOUNCE_DOMAIN;
    const quotaBytes = bytesOf(config.ACCOUNT_STORAGE_MEGABYTES);
    const print = openPrinting({ queues, replies, prefix, log });
    return makeSendMessage({
      wayOf: makeWayOf(installation && connections && { connections, sender: installation.sender, bounceDomain }, own),
      mailOf: makeMailOf({ from, print, markdown, quotaBytes, portalUrl: config.PORTAL_URL }),
      leaseMs: Math.min(LEASE_MAX_MS, config.MAIL_TIMEOUT_MS) + LEASE_MARGIN_MS,
      retryScale: config.MAIL_RETRY_SCALE,
      onEvents,
      onOutcome(outcome, durationMs, isOwn) {
        const server = isOwn ? 'account' : 'installation';
        mails.total.inc({ outcome, server });
        mails.seconds.observe({ server }, durationMs / 1_000);
      },
    });
  }
});

interface Installation {
  server: SmtpServer;
  sender: Sender;
  /** The domain of return paths and of `Message-ID`. */
  domain: string;
}

/** Returns undefined when the installation has no mail server. */
function installationOf({ SMTP_URL, MAIL_FROM, MAIL_BOUNCE_DOMAIN }: MailConfig): Installation | undefined {
  const sender = readSender(MAIL_FROM ?? '');
  if (SMTP_URL === undefined || !sender) return undefined;
  return { server: serverOf(SMTP_URL), sender, domain: asciiDomain(MAIL_BOUNCE_DOMAIN ?? sender.domain) };
}

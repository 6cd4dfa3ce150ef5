// Starts the mail service, which hands mail to an SMTP server.
import { sendMail } from '#libs/jobs/catalog.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { whenAvailable } from '#libs/redis/connection.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { makeMetrics, watchQueues } from '#libs/service/metrics.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { readConfig } from './config.ts';

/** The time for mails on their way when the service stops. */
const CLOSE_LIMIT_MS = 30_000;

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
  if (config.SMTP_URL === undefined) log.info('SMTP_URL is not set, so no mail is sent');

  // Without an SMTP server nothing is enqueued, but the dashboard sees that a service waits for the queue.
  const worker = startWorker(sendMail, async () => undefined, {
    redisUrl: config.REDIS_URL,
    prefix: config.REDIS_PREFIX,
    concurrency: config.MAIL_CONCURRENCY,
    log,
  });
  onClose(() => worker.close(CLOSE_LIMIT_MS));

  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port }, 'ready');
});

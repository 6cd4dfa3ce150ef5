// Starts the portal, the public port of the pages that people open by a link, without an account or a key.
import { createServer } from 'node:http';
import { oneAtATime } from '#libs/http/connections.ts';
import { listen, serverOptions } from '#libs/http/listen.ts';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openPrinting } from '#libs/printing/print-document.ts';
import { whenTried } from '#libs/redis/connection.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { bytesOf } from '#libs/service/env.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { makeMetrics } from '#libs/service/metrics.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { makeApp } from './app.ts';
import { openLogos } from './client/load-logo.ts';
import { readConfig } from './config.ts';
import { makeOpenStripe } from './stripe/open-stripe.ts';

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('portal', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('portal', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  // This may be the first process of a new version. Existing indexes stay as they are.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, service: 'portal' });
  onClose(() => queues.close());
  const { redis } = queues;
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'portal',
    checks: { mongodb: pingMongo },
    informational: { redis: () => redis.ping() },
    metrics: makeMetrics(),
    log,
  });
  onClose(() => health.close());
  await Promise.all([mongo.ready, whenTried(redis)]);

  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW });
  onClose(() => outbound.close());
  const developer = {
    outbound,
    box: openSecretBox(config.SECRET_KEY),
    nudge: () => nudgeRelay(redis, config.REDIS_PREFIX),
    quotaBytes: bytesOf(config.ACCOUNT_STORAGE_MEGABYTES),
    isPublicSecure: config.PORTAL_URL?.startsWith('https:') ?? false,
  };
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const replies = openReplies({ redisUrl, prefix, redis, log });
  onClose(() => replies.close());
  const print = openPrinting({ queues, replies, prefix, log });
  const { PORTAL_URL } = config;
  const stripe = PORTAL_URL ? { open: makeOpenStripe(outbound), origin: new URL(PORTAL_URL).origin } : undefined;
  const loadLogo = openLogos({ queues, replies, log });
  const client = {
    print,
    loadLogo,
    box: developer.box,
    nudge: developer.nudge,
    quotaBytes: developer.quotaBytes,
    stripe,
  };
  const app = makeApp({ trustProxy: config.PORTAL_TRUST_PROXY, developer, client, log });
  const close = await listen(createServer(serverOptions, oneAtATime(app)), config.PORTAL_HOST, config.PORTAL_PORT, log);
  health.started();
  log.info({ healthPort: health.port }, 'ready');
  onClose(async () => {
    health.drain();
    await close();
  });
});

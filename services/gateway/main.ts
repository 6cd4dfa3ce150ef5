// Starts the gateway: HTTP in; records, events and jobs out.
import { createServer } from 'node:http';
import { oneAtATime } from '#libs/http/connections.ts';
import { listen, serverOptions } from '#libs/http/listen.ts';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { readBatchBacklog } from '#libs/models/documents/batch-clock.ts';
import { flushRenderRecords } from '#libs/models/documents/render-record.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { openRequestCounter } from '#libs/models/operations/request-figures.ts';
import { forgetTriesInWork } from '#libs/models/operations/round-try.ts';
import { readOutbox } from '#libs/models/webhooks/outbox.ts';
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
import { makeMetrics, watchBatches, watchOutbox, watchQueues } from '#libs/service/metrics.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { makeApp } from './app.ts';
import { readConfig } from './config.ts';
import { openBatchPrinting } from './documents/print-batches.ts';
import { readOrigins } from './http/cross-origin.ts';
import { openRates } from './limits/rate-limit.ts';

/** The delay of the figures of requests on the dashboard. */
const FIGURES_EVERY_MS = 10_000;

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('gateway', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('gateway', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  // Every list names its index, so a database without them would fail every list. Harmless when all are there.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  onClose(({ isOrderly }) => (isOrderly ? forgetTriesInWork() : undefined));
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const queues = openQueues({ redisUrl, prefix, log, service: 'gateway' });
  onClose(() => queues.close());
  const replies = openReplies({ redis: queues.redis, redisUrl, prefix, log });
  onClose(() => replies.close());
  onClose(() => flushRenderRecords());
  const markdown = openMarkdown();
  onClose(() => markdown.close());
  const print = openPrinting({ queues, replies, prefix, log });

  const nudge = () => nudgeRelay(queues.redis, prefix);
  const figures = openRequestCounter();
  // The last figures are written when no request is left.
  onClose(() => figures.flush());
  const metrics = makeMetrics();
  watchQueues(metrics, queues, log);
  watchOutbox(metrics, async () => (await readOutbox()).oldestMs);
  watchBatches(metrics, readBatchBacklog);
  const rates = openRates({
    redis: queues.redis,
    prefix,
    limits: {
      requests: config.RATE_LIMIT_REQUESTS,
      documents: config.RATE_LIMIT_DOCUMENTS,
      refusals: config.RATE_LIMIT_REFUSALS,
    },
    log,
  });
  const box = openSecretBox(config.SECRET_KEY);
  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW });
  onClose(() => outbound.close());
  let isStarting = true;
  const quotas = {
    records: bytesOf(config.ACCOUNT_STORAGE_MEGABYTES),
    files: bytesOf(config.ACCOUNT_FILES_MEGABYTES),
  };
  const parts = {
    log,
    box,
    outbound,
    nudge,
    rates,
    metrics,
    figures,
    print,
    markdown,
    quotas,
    portalUrl: config.PORTAL_URL,
    isStarting: () => isStarting,
  };
  const { origins: corsOrigins } = readOrigins(config.CORS_ORIGINS);
  const app = makeApp({ ...parts, corsOrigins, trustProxy: config.TRUST_PROXY });
  // Requests before MongoDB is connected get 503 with Retry-After.
  const close = await listen(createServer(serverOptions, oneAtATime(app)), config.HOST, config.PORT, log);

  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'gateway',
    checks: { mongodb: pingMongo },
    // Redis does not decide readiness: without it all but documents works, and those answer with an error of their own.
    informational: { redis: () => queues.redis.ping() },
    metrics,
    log,
  });
  onClose(() => health.close());

  await Promise.all([mongo.ready, whenTried(queues.redis)]);
  const batches = openBatchPrinting({
    print,
    nudge,
    log,
    filesMaxBytes: quotas.files,
    recordsMaxBytes: quotas.records,
  });
  onClose(() => batches.close());
  const writeFigures = async () => {
    await figures.flush();
    return false;
  };
  const figuresLoop = startPollingLoop(writeFigures, {
    name: 'the figures of requests',
    everyMs: FIGURES_EVERY_MS,
    log,
  });
  onClose(() => figuresLoop.stop());
  isStarting = false;
  health.started();
  onClose(async () => {
    health.drain();
    await close();
  });
});

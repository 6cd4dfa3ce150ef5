// Starts the gateway: HTTP in; records, events and jobs out.
import { createServer } from 'node:http';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { openReplies } from '#libs/jobs/replies.ts';
import { run } from '#libs/lifecycle.ts';
import { makeLogger } from '#libs/logger.ts';
import { makeMetrics, watchBatches, watchOutbox, watchQueues } from '#libs/metrics.ts';
import { readBatchBacklog } from '#libs/models/batch-clock.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { readOutbox } from '#libs/models/outbox.ts';
import { flushRenderRecords } from '#libs/models/render-record.ts';
import { connectMongo, pingMongo } from '#libs/mongo.ts';
import { startOperations } from '#libs/operations.ts';
import { openOutbound } from '#libs/outbound.ts';
import { saveMemoryWhileQuiet } from '#libs/quiet-memory.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { startTracing } from '#libs/tracing.ts';
import { makeApp } from './app.ts';
import { readConfig } from './config.ts';
import { openBatchPrinting } from './documents/print-batches.ts';
import type { CrashPoint } from './http/crash-points.ts';
import { listen, serverOptions } from './http/listen.ts';
import { openPrinting } from './http/print-document.ts';
import { openRates } from './http/rate-limit.ts';
import { openDashboard } from './operations/dashboard.ts';

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('gateway', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('gateway', config.OTEL_EXPORTER_OTLP_ENDPOINT));
  onClose(saveMemoryWhileQuiet());

  onClose(await connectMongo(config.MONGODB_URI, { log }));
  // Every list names its index, so a database without them would answer nothing. Harmless when all are there.
  await ensureIndexes();
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log });
  onClose(() => queues.close());
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const replies = openReplies({ redis: queues.redis, redisUrl, prefix, log });
  onClose(() => replies.close());
  onClose(() => flushRenderRecords());
  const print = openPrinting({ queues, replies, prefix, log });

  const nudge = () => nudgeRelay(queues.redis, prefix);
  const batches = openBatchPrinting({ print, nudge, log });
  onClose(() => batches.close());
  const metrics = makeMetrics();
  watchQueues(metrics, queues, log);
  watchOutbox(metrics, async () => (await readOutbox()).oldestMs);
  watchBatches(metrics, readBatchBacklog);
  const rates = openRates({
    redis: queues.redis,
    prefix: config.REDIS_PREFIX,
    limits: {
      requests: config.RATE_LIMIT_REQUESTS,
      documents: config.RATE_LIMIT_DOCUMENTS,
      refusals: config.RATE_LIMIT_REFUSALS,
    },
    log,
  });
  const passing = config.CRASH_AT
    ? (point: CrashPoint) => point === config.CRASH_AT && process.kill(process.pid, 'SIGKILL')
    : undefined;
  const box = openSecretBox(config.SECRET_KEY);
  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW });
  onClose(() => outbound.close());
  const parts = { log, box, outbound, nudge, rates, metrics, print, passing };
  const app = makeApp({ ...parts, trustProxy: config.TRUST_PROXY, isReferenceMadeNow: true });
  const close = await listen(createServer(serverOptions, app), config.HOST, config.PORT, log);

  const dashboard = openDashboard({ queues, nudge, trustProxy: config.OPERATIONS_TRUST_PROXY, log });
  onClose(() => dashboard.close());
  const operations = await startOperations({
    host: config.OPERATIONS_HOST,
    port: config.OPERATIONS_PORT,
    service: 'gateway',
    checks: { mongodb: pingMongo },
    // Without Redis everything but documents works, and they say so themselves.
    informational: { redis: () => queues.redis.ping() },
    metrics,
    log,
    fallback: dashboard.app,
  });
  onClose(() => operations.close());
  onClose(async () => {
    operations.drain();
    await close();
  });
});

// Starts the operations dashboard, the web app in which the operator sees the state of the system and acts on it.
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { openQueues } from '#libs/jobs/queue.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { whenTried } from '#libs/redis/connection.ts';
import { ACCOUNT_RATE_FACTOR, bytesOf } from '#libs/service/env.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { makeMetrics } from '#libs/service/metrics.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { readConfig } from './config.ts';
import { openDashboard } from './dashboard.ts';
import { listen } from './listen.ts';

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('operations', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('operations', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  // This may be the first process of a new version. Existing indexes stay as they are.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  const queues = openQueues({ redisUrl: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, service: 'operations' });
  onClose(() => queues.close());
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'operations',
    checks: { mongodb: pingMongo },
    informational: { redis: () => queues.redis.ping() },
    metrics: makeMetrics(),
    log,
  });
  onClose(() => health.close());
  await Promise.all([mongo.ready, whenTried(queues.redis)]);

  const nudge = () => nudgeRelay(queues.redis, config.REDIS_PREFIX);
  const limits = {
    documentsPerMinute: config.RATE_LIMIT_DOCUMENTS * ACCOUNT_RATE_FACTOR || undefined,
    recordBytes: bytesOf(config.ACCOUNT_STORAGE_MEGABYTES),
    fileBytes: bytesOf(config.ACCOUNT_FILES_MEGABYTES),
  };
  const dashboard = openDashboard({ queues, nudge, limits, trustProxy: config.OPERATIONS_TRUST_PROXY, log });
  onClose(() => dashboard.close());
  const close = await listen(dashboard.app, {
    host: config.OPERATIONS_HOST,
    port: config.OPERATIONS_PORT,
    names: config.OPERATIONS_ALLOWED_HOSTS,
    log,
  });
  health.started();
  onClose(async () => {
    health.drain();
    await close();
  });
});

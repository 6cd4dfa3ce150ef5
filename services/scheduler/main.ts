// Starts the scheduler, which turns dates into expiry events, recurring invoices and reminders.
import { agreedDate } from '#libs/clock.ts';
import { nudgeRelay } from '#libs/jobs/nudge.ts';
import { readSchedulerBacklog } from '#libs/models/billing/scheduler-backlog.ts';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { readOverdueMail } from '#libs/models/messages/mail-problems.ts';
import { readBackupState } from '#libs/models/operations/backup-record.ts';
import { countSetAside, forgetTriesInWork } from '#libs/models/operations/round-try.ts';
import { readDeliveryProblems } from '#libs/models/webhooks/delivery-problems.ts';
import { pingMongo } from '#libs/mongo/connection.ts';
import { startMongo } from '#libs/mongo/start.ts';
import { connectFailFast, whenTried } from '#libs/redis/connection.ts';
import { processName } from '#libs/redis/processes.ts';
import { bytesOf } from '#libs/service/env.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import {
  makeMetrics,
  reminderMetrics,
  watchBackup,
  watchDeliveryProblems,
  watchOverdueMail,
  watchScheduler,
  watchSetAside,
} from '#libs/service/metrics.ts';
import { startPollingLoop } from '#libs/service/polling-loop.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { announceAllFollowUps } from './announce-all-follow-ups.ts';
import { readConfig } from './config.ts';
import { emitExpirations, LOOKED_AT } from './emit-expirations.ts';
import { planReminders } from './plan-reminders.ts';
import { runRecurringInvoices } from './run-recurring-invoices.ts';

/** The longest delay after midnight until an overdue invoice is announced. */
const EXPIRATIONS_EVERY_MS = 30_000;
/** The longest delay after midnight until a recurring invoice is made. */
const RECURRING_EVERY_MS = 30_000;
/** The longest delay after midnight of a Monday until the follow-ups of the first account are announced. */
const FOLLOW_UPS_EVERY_MS = 60_000;
/** The longest delay after the time of the day until a reminder is planned. */
const REMINDERS_EVERY_MS = 30_000;

await run(async ({ onClose, useLogger }) => {
  const config = readConfig(process.env);
  const log = makeLogger('scheduler', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('scheduler', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  // This may be the first process of a new version. Existing indexes stay as they are.
  const mongo = startMongo(config.MONGODB_URI, { log, prepare: ensureIndexes });
  onClose(() => mongo.close());
  onClose(({ isOrderly }) => (isOrderly ? forgetTriesInWork() : undefined));
  const redis = connectFailFast(config.REDIS_URL, log, processName('scheduler', config.REDIS_PREFIX));
  onClose(() => redis.disconnect());
  const metrics = makeMetrics();
  watchScheduler(metrics, async () => (await readSchedulerBacklog()).oldestMs);
  const looks = reminderMetrics(metrics);
  watchSetAside(metrics, countSetAside);
  watchBackup(metrics, async () => (await readBackupState()).ageMs);
  // These are here, so that they are known when no webhook service or no mail service runs.
  watchDeliveryProblems(metrics, () => readDeliveryProblems());
  watchOverdueMail(metrics, () => readOverdueMail());
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'scheduler',
    checks: { mongodb: pingMongo },
    // Redis only carries nudges. If it is unavailable, the relay finds new events half a second later.
    informational: { redis: () => redis.ping() },
    metrics,
    log,
  });
  onClose(() => health.close());
  await Promise.all([mongo.ready, whenTried(redis)]);

  const expirations = startPollingLoop(
    async (signal) => {
      const written = await emitExpirations(agreedDate(), signal);
      if (written > 0) nudgeRelay(redis, config.REDIS_PREFIX);
      return written >= LOOKED_AT;
    },
    { name: 'the expiry poller', everyMs: EXPIRATIONS_EVERY_MS, log },
  );
  onClose(() => expirations.stop());
  const quotaBytes = bytesOf(config.ACCOUNT_STORAGE_MEGABYTES);
  const recurring = startPollingLoop(
    async (signal) => {
      const { made, hasMore } = await runRecurringInvoices(agreedDate(), { quotaBytes, signal });
      if (made > 0) nudgeRelay(redis, config.REDIS_PREFIX);
      return hasMore;
    },
    { name: 'the poller of recurring invoices', everyMs: RECURRING_EVERY_MS, log },
  );
  onClose(() => recurring.stop());
  const reminders = startPollingLoop(
    (signal) =>
      planReminders(agreedDate(), {
        signal,
        onLook: (outcome) => looks.inc({ outcome: outcome.replaceAll(' ', '_') }),
      }),
    { name: 'the poller of reminders', everyMs: REMINDERS_EVERY_MS, log },
  );
  onClose(() => reminders.stop());
  const followUps = startPollingLoop(
    async (signal) => {
      const { written, hasMore } = await announceAllFollowUps(agreedDate(), signal);
      if (written > 0) nudgeRelay(redis, config.REDIS_PREFIX);
      return hasMore;
    },
    { name: 'the poller of follow-ups', everyMs: FOLLOW_UPS_EVERY_MS, log },
  );
  onClose(() => followUps.stop());
  onClose(() => health.drain());
  health.started();
  log.info({ healthPort: health.port }, 'ready');
});

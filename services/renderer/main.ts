// Starts the renderer, which turns documents into PDF files.
import { openFairLimit } from '#libs/fair-limit.ts';
import { loadLogo, renderDocument } from '#libs/jobs/catalog.ts';
import { listenForCancels } from '#libs/jobs/replies.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { connectFailFast, whenAvailable } from '#libs/redis/connection.ts';
import { processName } from '#libs/redis/processes.ts';
import { openHealthPort } from '#libs/service/health-port.ts';
import { run } from '#libs/service/lifecycle.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { makeMetrics } from '#libs/service/metrics.ts';
import { startTracing } from '#libs/service/tracing.ts';
import { openBrowser, type PrintingBrowser } from './browser/browser.ts';
import { lowerOwnPriority, lowerSessionPriority } from './browser/give-way.ts';
import { findIsolation, type Isolation } from './browser/isolation.ts';
import { selfTest } from './browser/self-test.ts';
import { readConfig } from './config.ts';
import { compileTemplate } from './document/template.ts';
import { followClock } from './follow-clock.ts';
import { prepareFonts } from './fonts/fonts.ts';
import { openImages } from './images/fetch-image.ts';
import { openImageDecoder } from './images/image-decoder.ts';
import { loadLogoWith } from './load-logo.ts';
import { observeRenderer, watchBrowser } from './metrics.ts';
import { renderDocumentWith } from './render-document.ts';
import { openTempDir } from './temp-dir.ts';

/**
 * The time for documents in flight, which may take until their deadline. Another renderer takes over those that are not
 * finished then.
 */
const CLOSE_LIMIT_MS = 32_000;

/**
 * The most documents that wait for images and not for a page: as many as one account may have in flight, each with at
 * most ten megabytes of images.
 */
const OFF_SLOT_MAX = 32;

/** The most logos of pages that are fetched at once, each of at most five megabytes. */
const LOGOS_AT_ONCE = 8;

await run(async ({ onClose, useLogger }) => {
  lowerOwnPriority();
  const config = readConfig(process.env);
  const log = makeLogger('renderer', config.LOG_LEVEL);
  useLogger(log);
  onClose(await startTracing('renderer', config.OTEL_EXPORTER_OTLP_ENDPOINT));

  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW });
  onClose(() => outbound.close());
  const redis = connectFailFast(config.REDIS_URL, log, processName('renderer', config.REDIS_PREFIX));
  onClose(() => redis.disconnect());
  onClose(followClock(redis));

  const metrics = makeMetrics();
  const { onEnd, onReplaced } = observeRenderer(metrics);
  let browser: PrintingBrowser | undefined;
  let isolation: Isolation | undefined;
  const health = await openHealthPort({
    host: config.HEALTH_HOST,
    names: config.HEALTH_ALLOWED_HOSTS,
    port: config.HEALTH_PORT,
    service: 'renderer',
    checks: { redis: () => redis.ping(), browser: async () => await (browser ?? notYet()).check() },
    // The sandbox is only informational, because Chromium also prints without one.
    informational: { sandbox: async () => (isolation ?? notYet()).hasSandbox || withoutSandbox() },
    metrics,
    log,
  });
  onClose(() => health.close());

  const tempDir = await openTempDir();
  onClose(tempDir.remove);
  isolation = await findIsolation(config.CHROMIUM_PATH, log);
  const fontsFile = await prepareFonts(tempDir.folder, isolation);
  const decoder = await openImageDecoder(isolation, fontsFile);
  onClose(() => decoder.close());
  const markdown = openMarkdown();
  onClose(() => markdown.close());
  const render = compileTemplate();

  // One document is always on its way to or from Redis. A page for it would only take processor time from those that
  // print.
  const pages = Math.max(1, config.RENDER_CONCURRENCY - 1);
  browser = await openBrowser({
    path: config.CHROMIUM_PATH,
    isolation,
    folder: tempDir.folder,
    fontsFile,
    pages,
    pageMegabytes: config.PAGE_MEGABYTES,
    verifyPage: (page) => selfTest(page, render),
    recycle: {
      prints: config.RECYCLE_PRINTS,
      ageMs: config.RECYCLE_MINUTES * 60_000,
      memoryMegabytes: config.RECYCLE_MEGABYTES,
    },
    log,
    onLaunched: lowerSessionPriority,
    onReplaced,
    onBroken(error) {
      log.fatal({ err: error }, 'chromium cannot be started any more; the process ends');
      process.exit(1);
    },
  });
  onClose(() => browser?.close());
  watchBrowser(metrics, browser);

  await whenAvailable(redis);
  const images = openImages({ outbound, decoder });
  const { REDIS_URL: redisUrl, REDIS_PREFIX: prefix } = config;
  const slowDocuments = openFairLimit(Math.max(1, Math.floor(pages / 2)));
  const work = renderDocumentWith({
    browser,
    images,
    markdown,
    render,
    slowDocuments,
    redis,
    prefix,
    onEnd,
  });
  const places = { concurrency: config.RENDER_CONCURRENCY, offSlotMax: OFF_SLOT_MAX };
  const worker = startWorker(renderDocument, work, { redisUrl, prefix, ...places, log });
  const pageLogos = startWorker(loadLogo, loadLogoWith({ images, redis, prefix }), {
    ...{ redisUrl, prefix, log },
    concurrency: LOGOS_AT_ONCE,
  });
  onClose(() => Promise.all([worker, pageLogos].map((one) => one.close(CLOSE_LIMIT_MS))));
  onClose(listenForCancels(redisUrl, prefix, log, (jobId) => worker.cancel(jobId)));
  onClose(() => health.drain());
  health.started();
  log.info('ready to print');
});

function withoutSandbox(): never {
  throw new Error('chromium runs without its sandbox: this kernel or this user may not have one');
}

function notYet(): never {
  throw new Error('chromium is being started');
}

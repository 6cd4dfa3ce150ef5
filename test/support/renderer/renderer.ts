// A renderer, in this process or as the process it is in production, and a caller that puts documents into its queue.
import { randomUUID } from 'node:crypto';
import { retry } from 'es-toolkit/function/retry';
import { openFairLimit } from '#libs/fair-limit.ts';
import { loadLogo, renderDocument } from '#libs/jobs/catalog.ts';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { openReplies, type Reply } from '#libs/jobs/replies.ts';
import { startWorker } from '#libs/jobs/worker.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { compileTemplate } from '../../../services/renderer/document/template.ts';
import { openImages } from '../../../services/renderer/images/fetch-image.ts';
import { openImageDecoder } from '../../../services/renderer/images/image-decoder.ts';
import { loadLogoWith } from '../../../services/renderer/load-logo.ts';
import { renderDocumentWith } from '../../../services/renderer/render-document.ts';
import { type SpawnedService, spawnService } from '../spawn-service.ts';
import { testLog, type Workspace } from '../workspace.ts';
import { openTestBrowser } from './browser.ts';
import { type ReadPdf, readPdf } from './read-pdf.ts';

/** A renderer has two pages by default, and one document more on its way to or from Redis. */
const PAGES = 2;
const CLOSE_LIMIT_MS = 30_000;

interface PrintOptions {
  accountId?: string;
  deadlineMs?: number;
  id?: string;
  signal?: AbortSignal;
}

export interface TestRenderer {
  workspace: Workspace;
  queues: Queues;
  /** Rejects with what the renderer answered. */
  print(document: PdfDocument, options?: PrintOptions): Promise<Reply>;
  /** Prints and reads. */
  read(document: PdfDocument, options?: PrintOptions): Promise<ReadPdf & { warnings: string[]; bytes: Buffer }>;
  close(): Promise<void>;
}

export interface SpawnedRenderer extends TestRenderer {
  service: SpawnedService;
}

/**
 * Starts a renderer in this process, with the queue, the browser and the parts of `services/renderer/main.ts`.
 * @param options.allow the addresses of `OUTBOUND_ALLOW`.
 */
export async function startRenderer({ allow = '' }: { allow?: string } = {}): Promise<TestRenderer> {
  const workspace = aWorkspace();
  const { redisUrl, redisPrefix: prefix } = workspace;
  const outbound = openOutbound({ allow });
  const browser = await openTestBrowser({ pages: PAGES });
  const decoder = await openImageDecoder(browser.isolation, browser.fontsFile);
  const markdown = openMarkdown();
  const caller = await openCaller(workspace);
  const parts = { images: openImages({ outbound, decoder }), redis: caller.queues.redis, prefix };
  const work = renderDocumentWith({
    ...parts,
    browser,
    markdown,
    render: compileTemplate(),
    slowDocuments: openFairLimit(1),
    onEnd: () => undefined,
  });
  const options = { redisUrl, prefix, concurrency: PAGES + 1, log: testLog };
  const workers = [startWorker(renderDocument, work, options), startWorker(loadLogo, loadLogoWith(parts), options)];
  return {
    ...caller,
    workspace,
    async close() {
      await Promise.all(workers.map((worker) => worker.close(CLOSE_LIMIT_MS)));
      await caller.close();
      await browser.close();
      decoder.close();
      await markdown.close();
      outbound.close();
    },
  };
}

/** Starts a renderer as a process, for tests of what a process does. */
export async function spawnRenderer(env: Record<string, string> = {}): Promise<SpawnedRenderer> {
  const workspace = aWorkspace();
  const caller = await openCaller(workspace);
  const service = await spawnService('renderer', workspace, env).catch(async (error: unknown) => {
    await caller.close();
    throw error;
  });
  return {
    ...caller,
    workspace,
    service,
    async close() {
      await caller.close();
      await service.stop();
    },
  };
}

/** Returns what puts documents into the queue of a workspace and awaits them, as a gateway does. */
async function openCaller({ redisUrl, redisPrefix: prefix }: Workspace) {
  const parts = { redisUrl, prefix, log: testLog };
  const queues = openQueues(parts);
  const replies = openReplies({ ...parts, redis: queues.redis });
  await whenReady(queues.redis, 60_000);

  async function print(document: PdfDocument, options: PrintOptions = {}): Promise<Reply> {
    const { accountId = 'account', deadlineMs = 30_000, id = randomUUID() } = options;
    await whenReady(queues.redis, 60_000);
    const deadlineAt = Date.now() + deadlineMs;
    const signal = options.signal ?? new AbortController().signal;
    const payload = { document, accountId, requestId: id, deadlineAt, replyTo: replies.address };
    // A connection that got no answer on a crowded machine is replaced, also while a command waits. A job that is there is not
    // added again.
    const enqueue = async () => {
      await whenReady(queues.redis, 60_000);
      await queues.enqueue(renderDocument, { id, payload });
    };
    // Together: what a failed enqueue leaves waiting must not fail the next file.
    const [reply] = await Promise.all([
      replies.expect(id, { deadlineAt: Math.max(deadlineAt, Date.now() + 20_000), signal }),
      retry(enqueue, 2),
    ]);
    return reply;
  }

  return {
    queues,
    print,
    async read(document: PdfDocument, options?: PrintOptions) {
      const reply = await print(document, options);
      return { ...reply, ...(await readPdf(reply.bytes)) };
    },
    async close() {
      replies.close();
      await queues.close();
    },
  };
}

/** A renderer has no database, so neither has its workspace. */
function aWorkspace(): Workspace {
  return {
    redisUrl: process.env['TEST_REDIS_URL'] ?? '',
    redisPrefix: `test_${randomUUID().slice(0, 8)}`,
    chromiumPath: process.env['TEST_CHROMIUM_PATH'] ?? '',
  } as Workspace; // The rest is for services with records, of which spawnService starts none here.
}

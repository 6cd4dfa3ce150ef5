// A renderer as the process it is in production, and a caller that puts documents into its queue.
import { randomUUID } from 'node:crypto';
import { retry } from 'es-toolkit/function/retry';
import { renderDocument } from '#libs/jobs/catalog.ts';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { openReplies, type Reply } from '#libs/jobs/replies.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { type SpawnedService, spawnService } from '../spawn-service.ts';
import { testLog, type Workspace } from '../workspace.ts';
import { type ReadPdf, readPdf } from './read-pdf.ts';

interface PrintOptions {
  accountId?: string;
  deadlineMs?: number;
  id?: string;
  signal?: AbortSignal;
}

export interface TestRenderer {
  service: SpawnedService;
  workspace: Workspace;
  queues: Queues;
  /** Rejects with what the renderer answered. */
  print(document: PdfDocument, options?: PrintOptions): Promise<Reply>;
  /** Prints and reads. */
  read(document: PdfDocument, options?: PrintOptions): Promise<ReadPdf & { warnings: string[]; bytes: Buffer }>;
  close(): Promise<void>;
}

export async function startRenderer(env: Record<string, string> = {}): Promise<TestRenderer> {
  const workspace = aWorkspace();
  const parts = { redisUrl: workspace.redisUrl, prefix: workspace.redisPrefix, log: testLog };
  const queues = openQueues(parts);
  const replies = openReplies({ ...parts, redis: queues.redis });
  await whenReady(queues.redis, 5_000);
  const service = await spawnService('renderer', workspace, env).catch(async (error: unknown) => {
    replies.close();
    await queues.close();
    throw error;
  });

  async function print(document: PdfDocument, options: PrintOptions = {}): Promise<Reply> {
    const { accountId = 'account', deadlineMs = 30_000, id = randomUUID() } = options;
    await whenReady(queues.redis, 10_000);
    const deadlineAt = Date.now() + deadlineMs;
    const signal = options.signal ?? new AbortController().signal;
    const payload = { document, accountId, requestId: id, deadlineAt, replyTo: replies.address };
    // A connection that got no answer on a crowded machine is replaced, also while a command waits. A job that is there is not
    // added again.
    const enqueue = async () => {
      await whenReady(queues.redis, 10_000);
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
    service,
    workspace,
    queues,
    print,
    async read(document, options) {
      const reply = await print(document, options);
      return { ...reply, ...(await readPdf(reply.bytes)) };
    },
    async close() {
      replies.close();
      await queues.close();
      await service.stop();
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

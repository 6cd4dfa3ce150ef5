// The render-document job, which turns a document into a PDF. The waiting gateway gets a reply in any case.

import { agreedTime } from '#libs/clock.ts';
import { AppError, appError, isBug } from '#libs/errors.ts';
import type { FairLimit } from '#libs/fair-limit.ts';
import type { RenderDocument } from '#libs/jobs/catalog.ts';
import { shapeOf } from '#libs/jobs/printable-document.ts';
import { deadlinePassed, type Reply, type ReplyFailure, rendererEnded, sendReply } from '#libs/jobs/replies.ts';
import type { JobContext, JobHandler } from '#libs/jobs/worker.ts';
import type { Markdown } from '#libs/markdown/markdown.ts';
import type { Redis } from '#libs/redis/connection.ts';
import { isSlow, requireBoundedWork } from '#libs/rules/documents/layout-work.ts';
import { withDeadline } from '#libs/with-timeout.ts';
import type { PrintingBrowser } from './browser/browser.ts';
import type { Render } from './document/template.ts';
import type { ImageUse } from './images/decode-image.ts';
import type { Images } from './images/fetch-image.ts';
import { finished, printed } from './make-pdf.ts';

/**
 * The least time for a print to begin. With less, the reply would come too late, and other documents need the
 * processor.
 */
const LEAST_MS = 250;
/** The pause between two tries to send a finished document while Redis is unavailable. They end at its deadline. */
const RETRY_REPLY_MS = 200;

type Outcome = 'done' | 'failed' | 'cancelled' | 'expired';

export interface RendererParts {
  browser: Pick<PrintingBrowser, 'print'>;
  images: Images;
  markdown: Pick<Markdown, 'toHtml'>;
  render: Render;
  /** Slots for documents that are slow or that no caller waits for. The other pages stay free for short ones. */
  slowDocuments: FairLimit;
  /** The connection for replies. */
  redis: Redis;
  prefix: string;
  onEnd: (end: { outcome: Outcome; seconds: number; warnings: number }) => void;
}

export function renderDocumentWith(parts: RendererParts): JobHandler<RenderDocument> {
  return async (payload, context) => {
    const startedAt = performance.now();
    const end = (outcome: Outcome, warnings = 0) =>
      parts.onEnd({ outcome, seconds: (performance.now() - startedAt) / 1_000, warnings });
    if (payload.deadlineAt - agreedTime() < LEAST_MS) return end('expired');
    try {
      // Its caller counts how many renderers it ends. A caller that waits is better served by another run.
      if (payload.isBackground && context.hasLostRun) throw rendererEnded();
      const reply = await printDocument(payload, context, parts);
      await send(reply, payload, context, parts);
      end('done', reply.warnings.length);
    } catch (error) {
      if (context.signal.aborted) return end('cancelled');
      const failure = failureOf(error, context);
      end(failure?.status === 504 ? 'expired' : 'failed');
      // The queue tries a transient failure once more. The caller gets a reply only when that fails as well.
      if (!failure) throw error;
      await send(failure, payload, context, parts);
      const level = failure.status === 500 ? 'error' : 'warn';
      context.log[level]({ err: error, requestId: payload.requestId }, 'document not printed');
    }
  };
}

async function printDocument(payload: RenderDocument, context: JobContext, parts: RendererParts): Promise<Reply> {
  const { signal, log } = context;
  const { accountId, deadlineAt, requestId } = payload;
  let offSlotMs = 0;
  const { error, value: document } = shapeOf(payload.document).validate(payload.document, { convert: false });
  if (error) throw appError('document_not_printable', undefined, { cause: error });
  const pages = requireBoundedWork(document);
  const [logo, banner, signature, bodyHtml] = await Promise.all([
    imageOf('logoUrl', document.logoUrl, 'logo'),
    imageOf('bannerUrl', document.showBanner ? document.bannerUrl : undefined, `banner-${document.layoutType}`),
    imageOf('acceptance.drawn', document.acceptance?.drawn, 'logo'),
    document.bodyMarkdown === undefined
      ? undefined
      : parts.markdown.toHtml(document.bodyMarkdown, { deadlineAt, signal }),
  ]);
  signal.throwIfAborted();
  // The slot comes before the rest of the work, which loads this process as well as a page.
  const release = payload.isBackground || isSlow(pages) ? await slot() : undefined;
  const images = { logo: logo.image, banner: banner.image, signature: signature.image };
  const loaded = { document, bodyHtml, ...images };
  const print = (html: string, isTagged: boolean) => parts.browser.print(html, { deadlineAt, signal, isTagged });
  const onPage = await printed(loaded, { render: parts.render, print }).finally(release);
  const { warnings, printMs } = onPage;
  const bytes = await finished(onPage, document);
  return {
    bytes,
    warnings: [...logo.warnings, ...banner.warnings, ...signature.warnings, ...warnings],
    offSlotMs,
    printMs,
  };

  // A document without its image is better than no document. The warning gives the reason.
  async function imageOf(field: string, source: string | undefined, use: ImageUse) {
    if (source === undefined) return { image: undefined, warnings: [] };
    const known = parts.images.get({ source, use, accountId, log, requestId }, signal);
    const result = known instanceof Promise ? await awaited(known) : known;
    return 'problem' in result
      ? { image: undefined, warnings: [`${field}: ${result.problem}`] }
      : { image: result, warnings: [] };
  }

  async function slot(): Promise<() => void> {
    const since = performance.now();
    const over = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, deadlineAt - agreedTime()))]);
    try {
      return await context.yieldSlot(parts.slowDocuments.acquire(accountId, over));
    } catch (error) {
      throw signal.aborted ? error : deadlinePassed();
    } finally {
      offSlotMs += performance.now() - since;
    }
  }

  // A host that is slow to send an image must not keep other documents from the pages.
  async function awaited<Image>(image: Promise<Image>): Promise<Image> {
    const since = performance.now();
    const result = await context.yieldSlot(withDeadline(deadlineAt, image, { signal, error: deadlinePassed }));
    // The images are awaited together.
    offSlotMs = Math.max(offSlotMs, performance.now() - since);
    return result;
  }
}

/** Returns the failure for the caller, or undefined when another attempt may help. */
function failureOf(error: unknown, { isLastAttempt }: JobContext): ReplyFailure | undefined {
  if (error instanceof AppError) return failureFrom(error);
  if (isBug(error)) return failureFrom(appError('internal_error'));
  return isLastAttempt ? failureFrom(appError('printing_failed')) : undefined;
}

function failureFrom({ status, message, code, params }: AppError): ReplyFailure {
  return { status, message, code, params };
}

async function send(
  reply: Reply | ReplyFailure,
  { deadlineAt, replyTo }: RenderDocument,
  { jobId, signal }: JobContext,
  { redis, prefix }: RendererParts,
): Promise<void> {
  for (;;) {
    try {
      return await sendReply(redis, { prefix, replyTo, id: jobId }, reply);
    } catch (error) {
      if (signal.aborted || agreedTime() + RETRY_REPLY_MS > deadlineAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_REPLY_MS));
    }
  }
}

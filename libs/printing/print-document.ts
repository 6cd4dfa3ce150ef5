// Sends a document to the renderers and returns its PDF: admission, enqueue, wait, and cancel when the caller disconnects.
import { randomUUID } from 'node:crypto';
import { addAbortListener } from 'node:events';
import { agreedTime } from '../clock.ts';
import { AppError, appError, retryAfter } from '../errors.ts';
import { renderDocument } from '../jobs/catalog.ts';
import type { PrintableDocument } from '../jobs/printable-document.ts';
import type { Queues } from '../jobs/queue.ts';
import { announceCancel, type Replies, type Reply, rendererEnded } from '../jobs/replies.ts';
import type { Id } from '../models/tenant.ts';
import { isSlow, requireBoundedWork } from '../rules/documents/layout-work.ts';
import type { Logger } from '../service/logger.ts';
import { type AdmissionLimits, openAdmission, type PrintAdmission } from './admission.ts';
import { boundedWarnings } from './bounded-warnings.ts';
import { recorded } from './recorded-print.ts';

const DEADLINE_MS = 30_000;
/** A job younger than this is on its way; an older one that the queue does not know was lost with Redis. */
const LOST_AFTER_MS = 3_000;
/** Time that a retry needs. With less left, an enqueued job would not be done before its deadline. */
const WORTH_A_RETRY_MS = 5_000;

interface PrintRequest {
  document: PrintableDocument;
  accountId: Id;
  requestId: string;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
  /** True when no caller waits: the document is printed after all documents that callers wait for, and needs no place among them. */
  isBackground?: boolean;
}

/**
 * @throws AppError 503 with Retry-After when Redis is unavailable or too many wait, 429 when the account has too many in flight,
 * 422 when the document is too much work, 504 after 30 s, and the renderer's own errors. A 503 or 504 with a cause says nothing about the document: no renderer has seen it.
 * In the background also `rendererEnded`, instead of another run that may end the next renderer.
 */
export interface PrintDocument {
  (request: PrintRequest): Promise<Reply>;
  /** Absent where every document is admitted. */
  admission?: Pick<PrintAdmission, 'reserve' | 'cancelReservation' | 'rejection'>;
}

export interface PrintingParts {
  queues: Queues;
  replies: Replies;
  prefix: string;
  log: Logger;
  limits?: Partial<AdmissionLimits>;
  /** From the request to its PDF, 30 s by default. */
  deadlineMs?: number;
}

export function openPrinting({
  queues,
  replies,
  prefix,
  log,
  limits,
  deadlineMs = DEADLINE_MS,
}: PrintingParts): PrintDocument {
  const admission = openAdmission(limits);

  async function print(request: PrintRequest): Promise<Reply> {
    const { document, accountId, requestId, isBackground } = request;
    const pages = requireBoundedWork(document);
    const permit = isBackground
      ? undefined
      : admission.admit({
          accountId,
          requestId,
          pages,
          isSlow: isSlow(pages),
          hasRemoteImages: hasRemoteImages(document),
        });
    const id = randomUUID();
    const startedAt = agreedTime();
    const deadlineAt = startedAt + deadlineMs;
    const payload = {
      document,
      accountId,
      requestId,
      deadlineAt,
      replyTo: replies.address,
      ...(isBackground ? { isBackground } : {}),
    };
    const enqueue = () => queues.enqueue(renderDocument, { id, payload, isBackground, behind: permit?.position });
    // Not AbortSignal.any: only a full garbage collection frees its signals and their listeners.
    const over = new AbortController();
    const { signal } = over;
    const listening = addAbortListener(request.signal, () => over.abort(request.signal.reason));
    let isEnqueuedAgain = false;
    let lookAt = startedAt + LOST_AFTER_MS;

    // Registered before the job is in the queue: the reply may be faster than the next line.
    const reply = replies.expect(id, { deadlineAt, signal, recover });
    enqueue().catch((error: unknown) => {
      over.abort(appError('printing_unavailable', undefined, { headers: retryAfter(2), cause: error }));
    });
    try {
      const printed = await reply;
      permit?.release('done', { offSlotMs: printed.offSlotMs, printMs: printed.printMs });
      return { ...printed, warnings: boundedWarnings(printed.warnings) };
    } catch (error) {
      permit?.release('failed');
      // The job is given up even after a failed enqueue, whose reply may have been lost. No caller waits for it any more.
      // A job that no renderer has taken by its deadline must not stay in the queue.
      if (signal.aborted || (!isBackground && isLate(error))) void giveUp(id);
      if (!isBackground || !isLate(error)) throw error;
      const fate = await fateOf(id);
      void giveUp(id);
      if (fate === 'lost') throw rendererEnded();
      // Work that can wait is tried for hours.
      throw fate === 'untaken' ? untaken(error) : error;
    } finally {
      listening[Symbol.dispose]();
    }

    // Redis may be flushed at any moment, so a lost job is enqueued again, once.
    async function recover() {
      const now = agreedTime();
      if (isEnqueuedAgain || now < lookAt || deadlineAt - now < WORTH_A_RETRY_MS) return;
      lookAt = now + LOST_AFTER_MS;
      if ((await queues.stateOf(renderDocument, id)) !== 'unknown') return;
      log.warn({ jobId: id, requestId }, 'a document was lost by the queue, enqueuing it again');
      // The flag is set after the call. While Redis is unavailable the call fails, and the next poll tries again.
      await enqueue();
      isEnqueuedAgain = true;
    }
  }

  async function fateOf(id: string) {
    try {
      return await queues.fateOf(renderDocument, id);
    } catch (error) {
      log.debug({ err: error, jobId: id }, 'reading the state of a document failed; it counts as not started');
      return 'untaken'; // Redis is unavailable, which says nothing about the document.
    }
  }

  async function giveUp(id: string) {
    try {
      if (!(await queues.remove(renderDocument, id))) await announceCancel(queues.redis, prefix, id);
    } catch (error) {
      // Redis is unavailable: the job ends at its deadline.
      log.debug({ err: error, jobId: id }, 'cancelling a document failed; it ends at its deadline');
    }
  }

  return Object.assign((request: PrintRequest) => recorded(request, print(request)), { admission });
}

function hasRemoteImages({ logoUrl, bannerUrl, showBanner }: PrintableDocument): boolean {
  return [logoUrl, showBanner ? bannerUrl : undefined].some((url) => url !== undefined && /^https?:/i.test(url));
}

const isLate = (error: unknown): error is AppError => error instanceof AppError && error.status === 504;

function untaken({ code, message }: AppError) {
  return new AppError(code, message, { cause: new Error('No renderer has taken it') });
}

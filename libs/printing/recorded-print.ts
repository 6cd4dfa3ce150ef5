// Records the outcome of every document for the operations dashboard.
import { AppError } from '../errors.ts';
import type { Reply } from '../jobs/replies.ts';
import { recordRender } from '../models/documents/render-record.ts';
import type { Id } from '../models/tenant.ts';

interface Printing {
  document: { title: string };
  accountId: Id;
  requestId: string;
  signal: AbortSignal;
}

export async function recorded({ document, accountId, requestId, signal }: Printing, printing: Promise<Reply>) {
  const startedAt = performance.now();
  const record = { accountId, requestId, title: document.title };
  const durationMs = () => performance.now() - startedAt;
  try {
    const reply = await printing;
    const { warnings } = reply;
    recordRender({ ...record, status: 'done', durationMs: durationMs(), sizeBytes: reply.bytes.length, warnings });
    return reply;
  } catch (error) {
    const status = signal.aborted ? 'cancelled' : statusOf(error);
    const errorClass = error instanceof Error ? error.message : undefined;
    recordRender({ ...record, status, durationMs: durationMs(), errorClass });
    throw error;
  }
}

function statusOf(error: unknown) {
  if (!(error instanceof AppError) || error.status === 503) return 'failed';
  return error.status === 504 ? 'expired' : 'refused';
}

// A batch of documents in the form of the API, over HTTP and in its event.
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import type { BatchRecord } from '#libs/models/documents/document-batch.ts';
import { batchesPath } from '#libs/responses/document-batch.ts';

/** The batch without its documents, for lists. */
export function batchSummary(batch: BatchRecord) {
  const { _id, status, total, done, failed, looks, format, created_at, updated_at, completed_at, expires_at } = batch;
  return {
    id: String(_id),
    status,
    total,
    done,
    failed,
    looks,
    archive_url: completed_at && done > 0 ? `${batchesPath}/${String(_id)}/archive` : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
    expires_at: completed_at ? expires_at.toISOString() : null,
    format: format ?? 'pdf',
  };
}

export function batchView(batch: BatchRecord) {
  const documents = batch.documents.map((document, index) => ({
    position: index + 1,
    type: document.kind,
    id: String(document.document_id),
    number: printedNumber(document.kind, document),
    status: document.status,
    error: document.error ?? null,
    size_bytes: document.size_bytes ?? null,
    warnings: document.warnings ?? [],
    url: document.status === 'done' ? `${batchesPath}/${String(batch._id)}/files/${index + 1}` : null,
    error_code: document.error_code ?? null,
    error_params: document.error_params ?? null,
  }));
  return { ...batchSummary(batch), documents };
}

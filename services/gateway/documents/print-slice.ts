// Prints the next few documents of a batch and records the outcome of each.
import { partition } from 'es-toolkit/array/partition';
import pLimit from 'p-limit';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { findInvoiceDocument, findIssuedDocument, findQuoteDocument } from '#libs/documents/find-document.ts';
import { eInvoiceOf, findInvoiceSource } from '#libs/documents/find-e-invoice.ts';
import { isStandardLook } from '#libs/documents/looks.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import type { FormatName } from '#libs/e-invoice/formats.ts';
import { AppError, appError, notFound, problemBody, problemText } from '#libs/errors.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { isRendererEnded } from '#libs/jobs/replies.ts';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { type ClaimedBatch, type DocumentOutcome, settleDocument } from '#libs/models/documents/batch-clock.ts';
import { FILE_BYTES_MAX, keepFile } from '#libs/models/documents/batch-file.ts';
import { BATCH_KEPT_MS, type BatchedDocument } from '#libs/models/documents/document-batch.ts';
import type { MadeFile } from '#libs/models/documents/original.ts';
import { openTries } from '#libs/models/operations/round-try.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { BatchLooks } from './input.ts';

/** Documents of one slice. Another batch continues after it, so that a large batch does not keep a small one waiting. */
const SLICE = 8;
/** Documents in flight: enough to keep a page of a renderer busy, too few to fill all of them. */
const IN_FLIGHT = 2;
/** Tries of one document. With the waits between them they take about half an hour. */
const TRIES_MAX = 12;
const MIB = 1024 * 1024;
const WAIT_MIN_MS = 2_000;
const WAIT_MAX_MS = 5 * 60_000;
const notPrinted = () => appError('document_not_printed');
/** Prints one suspect document at a time, over all batches of this gateway. */
const suspectsAtOnce = pLimit(1);

export interface SliceParts {
  print: PrintDocument;
  /** Aborted when this process loses the lease or ends: unfinished documents stay queued. */
  signal: AbortSignal;
  /** Bytes of files that an account may keep. */
  filesMaxBytes?: number | undefined;
  /** Bytes of records, events and originals that an account may keep. */
  recordsMaxBytes?: number | undefined;
}

export async function printSlice(
  batch: ClaimedBatch,
  { print, signal, filesMaxBytes, recordsMaxBytes }: SliceParts,
): Promise<void> {
  const account = await readAfterElection(() => Account.findById(batch.account_id).lean<AccountRecord>());
  const isLate = agreedTime() > batch.expires_at.getTime() - BATCH_KEPT_MS;
  const due = batch.documents
    .map((document, index) => ({ document, index }))
    .filter(isDue)
    .toSorted(byTriesThenTime);
  const slice = isLate ? due : due.slice(0, SLICE);
  const ids = slice.map(({ document }) => document.document_id);
  const tries = await openTries('documents of batches', agreedDate(), isLate ? [] : ids);
  // Suspects come last and one at a time: the one that ends the process is then known, and no other document waits for it.
  const [suspects, others] = partition(slice, ({ document }) => tries.isSuspect(document.document_id));
  await settleAll(others, IN_FLIGHT);
  await suspectsAtOnce(() => settleAll(suspects, 1));

  async function settleAll(found: typeof slice, most: number): Promise<void> {
    const next = found.values();
    const workers = Array.from({ length: most }, async () => {
      // They share the iterator: each document is taken by one of them.
      for (const { document, index } of next) {
        if (signal.aborted) return;
        const outcome = isLate ? failed(appError('batch_document_late')) : await triedOutcomeOf(document, index);
        if (!outcome) return;
        if (!(await settleDocument(batch, index, outcome))) return;
        batch.documents[index] = { ...document, ...outcome };
      }
    });
    const results = await Promise.allSettled(workers);
    const problem = results.find(({ status }) => status === 'rejected');
    if (problem) throw (problem as PromiseRejectedResult).reason;
  }

  /** Returns the outcome of a counted try. A document that ended three gateways or renderers has failed. */
  async function triedOutcomeOf(document: BatchedDocument, index: number): Promise<DocumentOutcome | undefined> {
    let outcome: DocumentOutcome | undefined;
    const record = { id: document.document_id, accountId: String(batch.account_id) };
    const tried = await tries.run(record, async () => {
      outcome = await outcomeOf(document, index);
    });
    if (tried.isDone) return outcome;
    if (tried.retryAt) return failed(notPrinted());
    if (tried.error) return afterFailure(tried.error, document);
    // Another gateway may be printing it.
    return later(WAIT_MIN_MS);
  }

  /** Returns the e-invoice of an issued invoice. Undefined when it is gone. */
  async function eInvoice(document: BatchedDocument, format: FormatName, account: AccountRecord) {
    const accountId = String(batch.account_id);
    const source = await readAfterElection(() => findInvoiceSource(accountId, document.document_id));
    const pdf = async () => {
      const original = await originalPdf(document, account);
      return original === 'draft' ? undefined : original;
    };
    return source && eInvoiceOf(source, format, { accountId, quotaBytes: recordsMaxBytes, pdf });
  }

  async function printed(document: PrintableDocument | undefined): Promise<MadeFile | undefined> {
    const { account_id, request_id: requestId } = batch;
    const accountId = String(account_id);
    const pdf = document && (await print({ document, accountId, requestId, signal, isBackground: true }));
    if (pdf) requireWholePdf(pdf.bytes);
    return pdf;
  }

  /** Returns the original of an issued document. Undefined when it or its client is gone. */
  async function originalPdf({ kind, document_id }: BatchedDocument, account: AccountRecord) {
    const accountId = String(batch.account_id);
    const issued = await readAfterElection(() => findIssuedDocument(kind, accountId, document_id));
    if (issued === undefined || issued === 'draft') return issued;
    const make = async () => printed(await readAfterElection(() => issued.document(account)));
    return originalOf(issued, { accountId, make, quotaBytes: recordsMaxBytes });
  }

  /** Returns the original of an issued document in the standard look, and prints any other. Undefined when it is gone. */
  async function pdfOf(document: BatchedDocument, account: AccountRecord): Promise<MadeFile | undefined> {
    const looks = batch.looks as BatchLooks;
    if (isStandardLook(looks)) {
      const original = await originalPdf(document, account);
      if (original !== 'draft') return original;
    }
    const { kind, document_id } = document;
    const accountId = String(batch.account_id);
    const find = kind === 'invoice' ? findInvoiceDocument : findQuoteDocument;
    return printed(await readAfterElection(() => find({ accountId, account }, document_id, looks)));
  }

  async function outcomeOf(document: BatchedDocument, index: number): Promise<DocumentOutcome | undefined> {
    try {
      const file =
        account && (await (batch.format ? eInvoice(document, batch.format, account) : pdfOf(document, account)));
      if (!file) return failed(notFound(document.kind === 'invoice' ? 'Invoice not found' : 'Quote not found'));
      const { bytes, warnings } = file;
      if (bytes.length > FILE_BYTES_MAX)
        return failed(appError('batch_document_too_large', { limit_mib: FILE_BYTES_MAX / MIB }));
      // The file first: a document that is done can be fetched.
      await keepFile(batch, index, bytes, { maxBytes: filesMaxBytes });
      return { status: 'done', size_bytes: bytes.length, warnings };
    } catch (error) {
      // MongoDB is unavailable: nothing can be recorded, and the next holder of the lease tries again.
      if (isUnavailable(error)) throw error;
      // The error is thrown, so that the try counts as one that ended a process.
      if (isRendererEnded(error)) throw error;
      return signal.aborted ? undefined : afterFailure(error, document);
    }
  }
}

/** Returns when the next document may be tried, or undefined when all are settled. */
export function nextDueAt({ documents }: ClaimedBatch): Date | undefined {
  const times = documents
    .filter(({ status }) => status === 'queued')
    .map(({ next_at }) => next_at?.getTime() ?? agreedTime());
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
}

function isDue({ document: { status, next_at } }: { document: BatchedDocument }): boolean {
  return status === 'queued' && (!next_at || next_at.getTime() <= agreedTime());
}

/** Sorts by fewest tries, then by longest wait. A document that fails again and again must not delay the first try of others. */
function byTriesThenTime(
  { document: one }: { document: BatchedDocument },
  { document: other }: { document: BatchedDocument },
) {
  return (one.tries ?? 0) - (other.tries ?? 0) || (one.next_at?.getTime() ?? 0) - (other.next_at?.getTime() ?? 0);
}

/** Problems that are named in the text of a failure. A document of 500 lines can have one for each. */
const PROBLEMS_NAMED = 20;

function failed({ message, code, params, problems }: AppError): DocumentOutcome {
  const named = problems.slice(0, PROBLEMS_NAMED).map((problem) => problemText(problemBody(problem)));
  const rest = problems.length > named.length ? [`${problems.length - named.length} more`] : [];
  const error = problems.length > 0 ? `${message}: ${[...named, ...rest].join('; ')}` : message;
  return { status: 'failed', error, error_code: code, error_params: params };
}

const later = (waitMs: number) =>
  ({ status: 'queued', next_at: new Date(agreedTime() + waitMs) }) satisfies DocumentOutcome;

function afterFailure(error: unknown, { tries = 0 }: BatchedDocument): DocumentOutcome {
  const known = error instanceof AppError ? error : undefined;
  // The queue could not be reached, or no renderer had time, which says nothing about the document. A renderer's own error has no cause.
  if (known?.cause && (known.status === 503 || known.status === 504)) return later(WAIT_MIN_MS);
  if (known && known.status < 500) return failed(known);
  if (tries + 1 >= TRIES_MAX) return failed(known ?? notPrinted());
  return { ...later(Math.min(WAIT_MIN_MS * 2 ** tries, WAIT_MAX_MS)), tries: tries + 1 };
}

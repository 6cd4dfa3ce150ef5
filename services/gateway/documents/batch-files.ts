// Hands out what a batch has printed: one PDF, or all of them in a ZIP.
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Zip, ZipPassThrough } from 'fflate';
import { dayIn } from '#libs/day.ts';
import { eInvoiceFile } from '#libs/documents/find-e-invoice.ts';
import { appError, retryAfter } from '#libs/errors.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { findFile } from '#libs/models/documents/batch-file.ts';
import type { BatchRecord } from '#libs/models/documents/document-batch.ts';
import { fileName } from '#libs/printing/pdf-file.ts';
import type { Context } from '../http/route.ts';
import { isAnsweredUnchanged, REVALIDATED, sendFile as sendEInvoice, sendPdf } from '../printing/send-pdf.ts';

const again = { headers: retryAfter(1) };

export async function sendFile(context: Context, batch: BatchRecord): Promise<undefined> {
  const { parameters, missing } = context;
  const index = (parameters['position'] as number) - 1;
  const document = batch.documents[index];
  if (!document) throw missing();
  if (document.status === 'queued') throw appError('batch_document_queued', undefined, again);
  if (document.status === 'failed') {
    const { error: reason = '', error_code = 'document_not_printed' } = document;
    throw appError('batch_document_failed', { reason, reason_code: error_code });
  }
  const bytes = await findFile(context.caller.accountId, batch._id, index);
  // The batch has expired since it was read.
  if (!bytes) throw missing();
  const tag = `"${hash('sha1', bytes, 'base64url')}"`;
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
  if (isAnsweredUnchanged(context, tag, headers)) return undefined;
  const name = printedNumber(document.kind, document);
  const made = { bytes, warnings: document.warnings ?? [] };
  if (batch.format) sendEInvoice(context, { name, ...eInvoiceFile(batch.format) }, made, headers);
  else sendPdf(context, name, made, headers);
  return undefined;
}

/** At most two files are in memory while the caller does not read: one being sent, one read ahead. */
const FILES_IN_MEMORY = 2;

export async function sendArchive(context: Context, batch: BatchRecord): Promise<undefined> {
  const { request, response, log, caller, reserve } = context;
  if (!batch.completed_at) throw appError('batch_running', undefined, again);
  if (batch.done === 0) throw appError('batch_empty');
  if (request.method !== 'HEAD') {
    reserve(FILES_IN_MEMORY * Math.max(...batch.documents.map(({ size_bytes }) => size_bytes ?? 0)));
  }
  const timeZone = caller.account.time_zone;
  const parts = zipped(batch, clockTime(timeZone, batch.completed_at));
  // Until the first bytes are there, a failure still has a response.
  const first = request.method === 'HEAD' ? undefined : await parts.next();
  if (first?.done) throw context.missing();
  response.attachment(`documents-${dayIn(timeZone, batch.completed_at)}.zip`);
  response.status(200).set({
    'Content-Type': 'application/zip',
    'Cache-Control': REVALIDATED,
    'X-Content-Type-Options': 'nosniff',
  });
  if (!first) {
    response.end();
    return undefined;
  }
  const whole = async function* () {
    yield first.value;
    yield* parts;
  };
  try {
    await pipeline(Readable.from(whole(), { objectMode: false }), response);
  } catch (error) {
    // The connection is cut, so that what has arrived is not taken for the whole; most often the caller has gone.
    log.info({ err: error }, 'an archive was not read to its end');
  }
  return undefined;
}

/** Returns a date that shows, in the zone of this process, the wall time of `timeZone`. A ZIP has no zones, and the package writes the process's wall time. */
function clockTime(timeZone: string, instant: Date): Date {
  return new Date(instant.toLocaleString('sv-SE', { timeZone }).replace(' ', 'T'));
}

/**
 * Yields the bytes of the ZIP. PDFs are compressed already, so they are only stored. Yields nothing when the batch has
 * expired since it was read.
 */
async function* zipped(batch: BatchRecord, completedAt: Date): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const taken = new Set<string>();
  const zip = new Zip((error, bytes) => {
    if (error) throw error;
    ready.push(bytes);
  });
  for (const [index, document] of batch.documents.entries()) {
    if (document.status !== 'done') continue;
    const bytes = await findFile(String(batch.account_id), batch._id, index);
    if (!bytes && taken.size === 0) return;
    if (!bytes) throw new Error('The batch expired while it was read');
    const end = batch.format ? eInvoiceFile(batch.format).end : '.pdf';
    const file = new ZipPassThrough(`${freeName(printedNumber(document.kind, document), taken)}${end}`);
    file.mtime = completedAt;
    zip.add(file);
    file.push(bytes, true);
    yield* ready.splice(0);
  }
  zip.end();
  yield* ready.splice(0);
}

/**
 * The name that a document has when it is fetched alone: a number such as `2026/0001` would be a folder, and `../1` outside of it. Where two
 * numbers give one name, the second would replace the first when the ZIP is unpacked: it gets a counter.
 */
function freeName(number: string, taken: Set<string>): string {
  const name = fileName(number);
  let free = name;
  // Many file systems take `inv-1` and `INV-1` for one name.
  for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${name} (${count})`;
  taken.add(free.toLowerCase());
  return free;
}

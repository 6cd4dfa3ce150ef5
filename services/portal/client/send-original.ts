// Sends the original of a document: the very file that mails carried.
import type { Response } from 'express';
import { findIssuedDocument, type IssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { AppError } from '#libs/errors.ts';
import { findOriginalSize, ORIGINAL_BYTES_MAX } from '#libs/models/documents/original.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import { reserveBytes } from '../http/unread-responses.ts';
import { type DocumentVisit, noSuchLink } from './visit.ts';

/** The time for which an acceptance waits for an original that was never printed. */
const PRINTED_WITHIN_MS = 15_000;

/**
 * Sends the original, or its headers, for which nothing is printed.
 * @throws AppError 503, 504 and 429 when it was never printed and cannot be now.
 */
export async function sendOriginal(visit: DocumentVisit, response: Response): Promise<void> {
  const issued = await issuedOf(visit);
  if (visit.request.method === 'HEAD') return void setHeaders(response, issued).end();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const original = await printedOnce(issued, visit, gone.signal);
  if (!original) throw noSuchLink();
  setHeaders(response, issued).send(original.bytes);
}

function setHeaders(response: Response, issued: IssuedDocument): Response {
  const name = `${fileName(issued.number)}.pdf`;
  response.attachment(name);
  const disposition = String(response.get('Content-Disposition')).replace(/^attachment/, 'inline');
  return response.set({
    'Content-Disposition': disposition,
    'Content-Type': 'application/pdf',
    // The viewers of some browsers show nothing under the policy of pages.
    'Content-Security-Policy': "frame-ancestors 'none'; base-uri 'none'",
  });
}

/**
 * Returns the SHA-256 of the original, which is printed now if it never was. Undefined when none can be kept: an act of
 * the reader does not wait for a renderer that is away.
 */
export async function keptOriginal(visit: DocumentVisit): Promise<string | undefined> {
  try {
    return (await printedOnce(await issuedOf(visit), visit, AbortSignal.timeout(PRINTED_WITHIN_MS)))?.sha256;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function issuedOf({ accountId, subject }: DocumentVisit): Promise<IssuedDocument> {
  const issued = await findIssuedDocument(subject.type, accountId, subject.record._id);
  if (issued === undefined || issued === 'draft') throw noSuchLink();
  return issued;
}

async function printedOnce(
  issued: IssuedDocument,
  { accountId, account, link, parts, request }: DocumentVisit,
  signal: AbortSignal,
) {
  reserveBytes(request.res, (await findOriginalSize(accountId, issued)) ?? ORIGINAL_BYTES_MAX);
  return originalOf(issued, {
    accountId,
    quotaBytes: parts.quotaBytes,
    async make() {
      const document = await issued.document(account);
      if (!document) return undefined;
      const printed = await parts.print({ document, accountId, requestId: String(link._id), signal });
      requireWholePdf(printed.bytes);
      return printed;
    },
  });
}

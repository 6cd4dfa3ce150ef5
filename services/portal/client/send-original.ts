// Sends the original of a document: the very file that mails carried.
import type { Response } from 'express';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { AppError } from '#libs/errors.ts';
import { findOriginalSize, ORIGINAL_BYTES_MAX } from '#libs/models/documents/original.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import { reserveBytes } from '../http/unread-responses.ts';
import { type DocumentVisit, noSuchLink } from './visit.ts';

/** The time for which an acceptance waits for an original that was never printed. */
const PRINTED_WITHIN_MS = 15_000;

/** Sends the original. @throws AppError 503, 504 and 429 when it was never printed and cannot be now. */
export async function sendOriginal(visit: DocumentVisit, response: Response): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { issued, original } = await issuedOriginal(visit, gone.signal);
  if (!original) throw noSuchLink();
  const name = `${fileName(issued.number)}.pdf`;
  response.attachment(name);
  const disposition = String(response.get('Content-Disposition')).replace(/^attachment/, 'inline');
  response.set({
    'Content-Disposition': disposition,
    'Content-Type': 'application/pdf',
    // The viewers of some browsers show nothing under the policy of pages.
    'Content-Security-Policy': "frame-ancestors 'none'; base-uri 'none'",
  });
  response.send(original.bytes);
}

/**
 * Returns the SHA-256 of the original, which is printed now if it never was. Undefined when none can be kept: an act of
 * the reader does not wait for a renderer that is away.
 */
export async function keptOriginal(visit: DocumentVisit): Promise<string | undefined> {
  try {
    return (await issuedOriginal(visit, AbortSignal.timeout(PRINTED_WITHIN_MS))).original?.sha256;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function issuedOriginal(
  { accountId, account, subject, link, parts, request }: DocumentVisit,
  signal: AbortSignal,
) {
  const issued = await findIssuedDocument(subject.type, accountId, subject.record._id);
  if (issued === undefined || issued === 'draft') throw noSuchLink();
  reserveBytes(request.res, (await findOriginalSize(accountId, issued)) ?? ORIGINAL_BYTES_MAX);
  const original = await originalOf(issued, {
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
  return { issued, original };
}
